"""The embedded store: a Valkey server for one data directory, which runs while any Perch process is attached to it.

Three lock files in the data directory show which processes are alive. The kernel releases a flock when the last
descriptor of the open file is closed. So the locks are right however a process ends. The files are never removed:
flocks exclude each other only on the same file.

- `holders.lock`: every attached process holds it shared. The supervisor holds it exclusively from the moment when no
  other holder is left until the server has stopped.
- `supervisor.lock`: held exclusively by the process that starts the supervisor, then by the supervisor. The file has
  the supervisor's process id.
- `store.lock`: held exclusively by the same two and by the server. So no second server can start on the data, even if
  the supervisor is killed.

Each attached process has a thread that waits in the kernel for `supervisor.lock`. When the supervisor ends in any way,
the kernel gives the lock to one of these threads. It stops a server that was left behind, then starts supervisor and
server again.

The data directory must be on a local disk: a network file system may not let child processes inherit locks.
"""

import asyncio
import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import quote

import structlog

from store.embedded.launch import (
    HOLDERS_LOCK,
    LOCKS,
    SUPERVISOR_LOCK,
    USUAL,
    EmbeddedStoreError,
    Launch,
    StartOptions,
    StoreLocation,
    Waits,
    launch,
    nobody_waits,
    open_lock,
    opened,
    progress,
)

if sys.platform != "win32":  # on Windows this module can be imported, and attach() raises EmbeddedStoreError
    import fcntl

    from store.embedded import supervisor

_SOCKET = "store.sock"
_SOCKET_PATH_BYTES = 100  # Linux allows 107, macOS 103.
_DISK_IS_FULL = "-MISCONF"  # Reply to a PING after an append to the log failed. Reads are answered.
_POLL_SECONDS = 0.02  # Time between two tries of a lock or the socket. A wait in the kernel could not be cancelled.
_STEADY_SECONDS = 10.0  # A supervisor that runs this long does not count as a failed start.
_RESTART_SECONDS = (1.0, 30.0)  # First and longest pause between two failed starts.

log = structlog.get_logger()


@dataclass
class Attachment:
    """A hold on the store of a data directory. The store runs as long as there is any hold."""

    place: StoreLocation
    started: bool  # Whether this attachment started the server, and so set its `appendfsync`.
    _holder: int | None = field(repr=False)
    _options: StartOptions = field(repr=False)
    _released: threading.Event = field(default_factory=threading.Event, init=False, repr=False)

    def __post_init__(self) -> None:
        # A daemon thread, since its wait in the kernel cannot be cancelled. It ends when the store stops, or earlier.
        threading.Thread(target=self._start_again, name="waits for the store's end", daemon=True).start()

    @property
    def socket(self) -> Path:
        """Return the server's Unix socket."""
        return self.place.socket

    @property
    def url(self) -> str:
        """Return the URL of the store for redis-py."""
        password = supervisor.password_in(str(self.place.passwords)) if self.place.passwords else ""
        return f"unix://{f':{password}@' if password else ''}{quote(str(self.place.socket))}"

    def release(self) -> None:
        """Give up the hold without waiting; if it was the last one, the server stops soon after."""
        # Closed, not unlocked: a forked child with a copy of the descriptor continues to hold the store.
        self._released.set()
        if self._holder is not None:
            os.close(self._holder)
            self._holder = None

    async def close(self) -> None:
        """Give up the hold and, if it was the last one, wait until the server has stopped, about 60 s at most."""
        self.release()
        # Race: if several close at once, one may mistake another's test of the lock for a holder, and not wait.
        # The kernel releases the locks of an ending process one after another, so all three must be free.
        locks = [self.place.data_dir / name for name in LOCKS]
        while not (all(map(_is_free, locks)) or _is_shared(locks[0])):  # noqa: ASYNC110  a lock's release sets no event
            await asyncio.sleep(_POLL_SECONDS)

    def _start_again(self) -> None:
        """Start the store again whenever its supervisor has ended, until the hold is given up."""
        shortest, longest = _RESTART_SECONDS
        pause, launched = 0.0, None
        while not self._released.wait(pause):
            began = time.monotonic()
            try:
                launched = self._start_after(launched)
            except (OSError, EmbeddedStoreError) as error:
                launched = None
                with contextlib.suppress(OSError):  # the log may be on the same full disk
                    log.error("store_cannot_start", reason=str(error))  # noqa: TRY400  the message is enough
            is_steady = time.monotonic() - began > _STEADY_SECONDS
            pause = 0.0 if is_steady else min(max(2 * pause, shortest), longest)

    def _start_after(self, launched: Launch | None) -> Launch | None:
        """Wait until no supervisor is alive, then start one; `launched` is the one that this process started before."""
        with opened(self.place.data_dir / SUPERVISOR_LOCK) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._released.is_set():
                return None
            with contextlib.suppress(OSError):
                if launched is not None and launched.has_failed():
                    log.error("store_cannot_start", reason=launched.failure())
                log.warning("store_starts_again", data_dir=str(self.place.data_dir))
            return launch(self.place, self._options, lock)


async def attach(
    data_dir: Path,
    options: StartOptions = USUAL,
    *,
    timeout: float = 60.0,  # noqa: ASYNC109  it limits silence, not the call: loading may take any time
    passwords: Path | None = None,
    waits: Waits = nobody_waits,
) -> Attachment:
    """Attach to the server of a data directory, starting it if it does not run, and hold it.

    The options take effect only if this attachment starts the server, now or later. `timeout` is how long the server
    may be silent, in s. A node of a cluster has `passwords`, the file with its password. While the server loads its
    data, `waits` is told how far it is.
    Raises EmbeddedStoreError when the directory cannot be used, or the server does not start or answer.
    """
    if sys.platform == "win32":
        raise EmbeddedStoreError("the embedded store needs Linux or macOS; here REDIS_URL must name a server")
    try:
        data_dir = prepared(data_dir)
        place = StoreLocation(data_dir, _socket_path(data_dir), passwords)
        holder, started = await _hold(place, options, timeout, waits)
    except OSError as error:
        raise EmbeddedStoreError(
            f"{data_dir}: cannot keep the embedded store here: {error.strerror or error}"
        ) from error
    return Attachment(place, started, holder, options)


async def _hold(
    at: StoreLocation,
    options: StartOptions,
    timeout: float,  # noqa: ASYNC109  the same as in `attach`
    waits: Waits,
) -> tuple[int, bool]:
    holder = open_lock(at.data_dir / HOLDERS_LOCK)
    try:
        await _share(holder, at.data_dir, timeout)
        return holder, await _until_ready(at, options, timeout, waits)
    except BaseException:  # also when cancelled: then a supervisor that has started sees no holder, and stops
        os.close(holder)
        raise


def prepared(data_dir: Path) -> Path:
    """Return the absolute path of a data directory, made if it is missing. Raises EmbeddedStoreError, OSError."""
    data_dir = data_dir.resolve()
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise EmbeddedStoreError(f"{data_dir}: the data directory is a file") from None
    return data_dir


def _socket_path(data_dir: Path) -> Path:
    # All processes must compute the same path. So if the temporary directory is used, they must share TMPDIR.
    path = data_dir / _SOCKET
    if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES:
        return path
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"perch-{os.geteuid()}-{digest}"
    if len(os.fsencode(folder / _SOCKET)) > _SOCKET_PATH_BYTES:
        raise EmbeddedStoreError(f"{data_dir}: no path for a socket is short enough; shorten this one or TMPDIR")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    # Another user may have created it first, to listen in place of the server.
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise EmbeddedStoreError(f"{data_dir}: {folder}, meant for the socket, must be a directory private to its user")
    return folder / _SOCKET


def _is_free(lock: Path) -> bool:
    with opened(lock) as descriptor:
        return supervisor.try_lock(descriptor, fcntl.LOCK_SH)


def _is_shared(lock: Path) -> bool:
    with opened(lock) as descriptor:
        return supervisor.try_lock(descriptor, fcntl.LOCK_SH) and not supervisor.try_lock(descriptor, fcntl.LOCK_EX)


async def _share(holder: int, data_dir: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not supervisor.try_lock(holder, fcntl.LOCK_SH):
        if time.monotonic() > deadline:
            raise EmbeddedStoreError(f"{data_dir}: the store is still shutting down after {seconds:g} s")
        await asyncio.sleep(_POLL_SECONDS)


async def _until_ready(place: StoreLocation, options: StartOptions, silence: float, waits: Waits) -> bool:
    """Wait until the server answers; returns whether this process started it. `silence` is in s."""
    data_dir = place.data_dir
    launched: Launch | None = None
    deadline = time.monotonic() + silence
    while True:
        if launched is None:  # tried again each time: the process that was starting the server may have failed
            launched = await asyncio.to_thread(_launch_unless_running, place, options)
        elif launched.process.poll() is not None:
            raise EmbeddedStoreError(await asyncio.to_thread(launched.failure))
        reply = await asyncio.to_thread(place.ask, "PING")
        if reply == "+PONG" or reply.startswith(_DISK_IS_FULL):
            return launched is not None
        if supervisor.is_loading(reply) or supervisor.CHECKING in (data_dir / SUPERVISOR_LOCK).read_text():
            deadline = time.monotonic() + silence
            waits(partial(progress, place))
        elif time.monotonic() > deadline:
            said = reply or "no answer"
            raise EmbeddedStoreError(
                f"{data_dir}: the embedded store is not ready after {silence:g} s; {place.socket}: {said}"
            )
        await asyncio.sleep(_POLL_SECONDS)


def _launch_unless_running(place: StoreLocation, options: StartOptions) -> Launch | None:
    # This process closes its copies of both locks. The supervisor's copies keep them held.
    with opened(place.data_dir / SUPERVISOR_LOCK) as lock:
        return launch(place, options, lock) if supervisor.try_lock(lock, fcntl.LOCK_EX) else None
