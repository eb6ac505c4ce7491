"""Supervisor of the embedded store: a process of its own that keeps the server running while anyone holds the store.

Run as a script with the standard library alone, so that it starts in a few hundredths of a second:

    python -I -S supervisor.py HOLDERS_LOCK SUPERVISOR_LOCK_FD STORE_LOCK_FD SOCKET SERVER [ARGUMENT...]

It ends with status 0 when the last holder has gone and the server is stopped, with 1 when the server cannot be started.
Its messages go to standard error, which is the server's log file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time

STOP_SECONDS = 60.0  # for a clean shutdown; a server that takes longer is killed, which loses nothing it answered

_ANSWER_SECONDS = 1.0  # for one reply
_REPLY_BYTES = 512  # more than any first line that is looked at
_POLL_SECONDS = 0.02  # between two looks at a server that is starting
_FIRST_PAUSE_SECONDS = 0.1  # before the first restart; doubles with each further one
_LONGEST_PAUSE_SECONDS = 5.0
_STEADY_SECONDS = 10.0  # a run of this length sets the pause back
_STARTS = 3  # failures in a row after which a store that never worked is given up: someone waits for the error
_RESTARTS = 10  # failures in a row after which a store that did work is given up, about 20 s: a full disk may pass


def try_lock(descriptor: int, mode: int) -> bool:
    """Take a flock, LOCK_SH or LOCK_EX, unless another open file has one in the way; return whether it was taken."""
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def ask(path: str, command: str) -> str:
    """Return the first line that the server on a Unix socket replies to a command, "" if there is none within 1 s."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_SECONDS)
        connection.connect(path)
        connection.sendall(f"{command}\r\n".encode())
        return connection.recv(_REPLY_BYTES).decode(errors="replace").partition("\r\n")[0]
    return ""


def is_loading(reply: str) -> bool:
    """Return whether a reply says that the server still reads its data."""
    return reply.startswith("-LOADING")


class _Supervisor:
    def __init__(self, holders_lock: str, store_lock: int, socket_path: str, command: list[str]) -> None:
        self._holders_lock = holders_lock
        self._store_lock = store_lock
        self._socket_path = socket_path
        self._command = command
        self._stopping = threading.Event()
        self._guard = threading.Lock()  # no server is started once _stopping is set
        self._server: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        threading.Thread(target=self._stop_after_last_holder, daemon=True).start()
        failures, allowed, pause = 0, _STARTS, _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            began = time.monotonic()
            if self._run_server():
                failures, allowed = 0, _RESTARTS
            else:
                failures += 1
            if self._stopping.is_set():
                break
            if failures >= allowed:
                _report(f"the server failed to start {failures} times, giving up")
                return 1
            if time.monotonic() - began > _STEADY_SECONDS:
                pause = _FIRST_PAUSE_SECONDS
            _report(f"starting the server again in {pause:.1f} s")
            self._stopping.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        return 0

    def _run_server(self) -> bool:
        """Run the server until it ends; return whether it had finished loading before that."""
        with self._guard:
            if self._stopping.is_set():
                return False
            try:
                # The server inherits the lock: it is held until the last server is gone, even if the supervisor dies.
                server = subprocess.Popen(self._command, pass_fds=(self._store_lock,))  # noqa: S603  own command
            except OSError as error:
                _report(f"{self._command[0]}: {error.strerror}")
                return False
            self._server = server
        ready = False
        while not ready and server.poll() is None:
            reply = ask(self._socket_path, "PING")
            ready = reply != "" and not is_loading(reply)
            if not ready:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.wait(_POLL_SECONDS)
        _report(f"the server ended with status {server.wait()}")
        return ready

    def _stop_after_last_holder(self) -> None:
        # Opened here, not inherited: the exclusive lock is granted when no holder is left, and keeps new ones waiting
        # until this process ends.
        fcntl.flock(os.open(self._holders_lock, os.O_RDWR), fcntl.LOCK_EX)
        with self._guard:
            self._stopping.set()
            server = self._server
        if server is None:
            return
        # Race: the main thread may reap the server just before the signal goes out. Its number would have to be given
        # to a new process within microseconds for that to hit anyone.
        server.terminate()
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            _report(f"the server did not stop within {STOP_SECONDS:.0f} s, killing it")
            server.kill()


def _report(message: str) -> None:
    with contextlib.suppress(OSError):  # a full disk must not end the supervision
        os.write(sys.stderr.fileno(), f"supervisor {os.getpid()}: {message}\n".encode())


def main(arguments: list[str]) -> int:
    """Supervise the server that the arguments describe; return the exit status."""
    holders_lock, supervisor_lock, store_lock, socket_path, *command = arguments
    # Only the last holder's end stops the store: a service manager signals all processes at once, and Perch may still
    # have requests to finish. A handler, unlike SIG_IGN, is not inherited by the server.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    os.umask(0o077)  # all that the server writes is its owner's alone
    with contextlib.suppress(OSError):  # the number is for operators only, the lock does not need it
        os.ftruncate(int(supervisor_lock), 0)
        os.pwrite(int(supervisor_lock), f"{os.getpid()}\n".encode(), 0)
    return _Supervisor(holders_lock, int(store_lock), socket_path, command).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
