"""Supervisor of the embedded store: a process of its own that keeps the server running while any process holds it.

It runs as a script with the standard library alone, so that it starts in a few hundredths of a second:

    python -I -S supervisor.py HOLDERS_LOCK SUPERVISOR_LOCK_FD STORE_LOCK_FD SOCKET PASSWORDS LARGEST_CUT \
        LEAST_FREE SERVER [ARGUMENT...]

PASSWORDS is "" or a file of settings with the server's password. The server reads it from its standard input, because
every user of the machine can see the arguments of a process.

It exits with status 0 when the last holder is gone and the server has stopped, with 1 when the server cannot start.
If the server cannot load its data, `append_only_file.py` checks the files. Once it has cut off a damaged end, the
server is started again.
With less than LEAST_FREE bytes of free disk space, but at least 64 KiB, the server refuses writes. It would answer a
write whose append to the log fails, and lose it if it is killed then. With `appendfsync always` it would end, also
when a key expires. So the policy is `everysec` while writes are refused, from the start on a full disk.
Messages go to standard error, which is the server's log file. It begins anew above a size, and the one before is kept.
Each check's outcome goes to standard output, and so does
a change between too little disk space and enough.
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

# Added to `min-replicas-to-write` while there is too little disk space: more replicas than any server has. `move` adds
# another number to it, so both can refuse writes at the same time.
DISK_IS_LOW = 1 << 20
CHECKING = "checks the append-only file"  # Text in `supervisor.lock` during a check, while no server answers.

STOP_SECONDS = 60.0  # Time for a clean shutdown. A slower server is killed, which loses no answered write.

_ANSWER_SECONDS = 1.0  # Time limit for one reply.
_REPLY_BYTES = 512  # Longer than any first line that is read.
_POLL_SECONDS = 0.02  # Time between two PINGs to a server that is starting.
_FIRST_PAUSE_SECONDS = 0.1  # Pause before the first restart. It doubles with each further one.
_LONGEST_PAUSE_SECONDS = 5.0
_STEADY_SECONDS = 10.0  # A run of this length resets the pause.
_STARTS = 3  # Failures in a row before giving up, if the store has never started. A caller waits for the error.
_DISK_SECONDS = 0.1  # Time between two looks at the free disk space. It must not be filled within it.
LOG = "store.log"  # The server's log, in the working directory.
LOG_BYTES = 10 << 20  # A larger log becomes the one before, under the second name.
_LOG_BEFORE = f"{LOG}.1"
_LOG_SECONDS = 1.0  # Time between two looks at its size.
_LEAST_FREE_BYTES = 64 << 10  # With less free disk space, writes are refused whatever the settings.
_REPLICAS = "min-replicas-to-write"
_FSYNC = "appendfsync"
_CHECK = "append_only_file.py"  # In this file's folder.
_CUT, _REFUSED = 3, 4  # Exit statuses of the check.
_ENDED_BY_OTHERS = (-signal.SIGKILL, -signal.SIGTERM)  # Exit statuses that do not suggest damaged data.
# Failures in a row before giving up, if the store has started before. They take some 20 s: a full disk may pass.
_RESTARTS = 10


def try_lock(descriptor: int, mode: int) -> bool:
    """Take a flock, LOCK_SH or LOCK_EX, without waiting; return whether it was taken."""
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def ask(path: str, command: str, passwords: str = "", line: int = 1) -> str:
    """Return the first or another line of the reply to a command on a Unix socket, "" without a reply within 1 s.

    `passwords` is "" or the file with the server's password.
    """
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_SECONDS)
        connection.connect(path)
        commands = [f"AUTH {password_in(passwords)}", command] if passwords else [command]
        connection.sendall("".join(f"{line}\r\n" for line in commands).encode())
        with connection.makefile("rb") as replies:
            lines = [replies.readline(_REPLY_BYTES) for _ in range(len(commands) - 1 + line)]
        return lines[-1].decode(errors="replace").removesuffix("\r\n")
    return ""


def password_in(passwords: str) -> str:
    """Return the password in a file of settings. Raises OSError."""
    with open(passwords, encoding="ascii") as file:  # noqa: PTH123  without pathlib
        return next(line.split()[1] for line in file if line.startswith("requirepass "))


def begin_log(folder: str) -> bool:
    """Keep a log that is too large as the one before; return whether it was. Raises OSError."""
    log = f"{folder}/{LOG}"
    is_large = os.path.exists(log) and os.path.getsize(log) > LOG_BYTES  # noqa: PTH110, PTH202  without pathlib
    if is_large:
        os.replace(log, f"{folder}/{_LOG_BEFORE}")  # noqa: PTH105  without pathlib
    return is_large


def is_loading(reply: str) -> bool:
    """Return whether a reply says that the server is still loading its data."""
    return reply.startswith("-LOADING")


class _Supervisor:
    def __init__(
        self,
        holders_lock: str,
        locks: tuple[int, int],
        socket_path: str,
        passwords: str,
        least_free: int,
        check: list[str],
        server: list[str],
    ) -> None:
        self._holders_lock = holders_lock
        self._supervisor_lock, self._store_lock = locks
        self._socket_path = socket_path
        self._passwords = passwords
        self._least_free = max(least_free, _LEAST_FREE_BYTES)
        self._refusing: subprocess.Popen[bytes] | None = None  # The server that has been told to refuse writes.
        self._check_command = check
        self._server_command = server
        self._fsync = server[server.index(f"--{_FSYNC}") + 1]
        self._stopping = threading.Event()
        self._guard = threading.Lock()  # No process is started once _stopping is set.
        self._child: subprocess.Popen[bytes] | None = None  # The server or the check.

    def run(self) -> int:
        threading.Thread(target=self._stop_after_last_holder, daemon=True).start()
        threading.Thread(target=self._watch_log, daemon=True).start()
        threading.Thread(target=self._watch_disk, daemon=True).start()
        failures, allowed, pause = 0, _STARTS, _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            began = time.monotonic()
            is_loaded, status = self._run_server()
            if is_loaded:
                failures, allowed = 0, _RESTARTS
            else:
                failures += 1
            if self._stopping.is_set():
                break
            if not is_loaded and status not in _ENDED_BY_OTHERS and (outcome := self._check()) in (_CUT, _REFUSED):
                if outcome == _CUT:
                    continue
                return 1
            if failures >= allowed:
                _report(f"the server failed to start {failures} times, giving up")
                return 1
            if time.monotonic() - began > _STEADY_SECONDS:
                pause = _FIRST_PAUSE_SECONDS
            _report(f"starting the server again in {pause:.1f} s")
            self._stopping.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        return 0

    def _run_server(self) -> tuple[bool, int]:
        """Run the server until it ends; return whether it finished loading, and its exit status."""
        # The server inherits the lock. So it is held until the last server has ended, even if the supervisor dies.
        refusing = [f"--{_REPLICAS}", str(DISK_IS_LOW), f"--{_FSYNC}", "everysec"] if self._is_low() else []
        server = self._start([*self._server_command, *refusing], sys.stderr.fileno(), self._store_lock)
        if server is None:
            return False, 0
        if refusing:
            self._refusing = server
        ready = False
        while not ready and server.poll() is None:
            reply = ask(self._socket_path, "PING", self._passwords)
            ready = reply != "" and not is_loading(reply)
            if not ready:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.wait(_POLL_SECONDS)
        _report(f"the server ended with status {server.wait()}")
        return ready, server.returncode

    def _watch_log(self) -> None:
        """Begin a new log whenever the present one is too large. The server opens it by its name for each line."""
        while not self._stopping.wait(_LOG_SECONDS):
            with contextlib.suppress(OSError):
                if begin_log("."):
                    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                    os.dup2(log, sys.stderr.fileno())
                    os.close(log)

    def _is_low(self) -> bool:
        return _free_bytes() < self._least_free

    def _watch_disk(self) -> None:
        """Make the server refuse writes while there is too little disk space, and report each change."""
        was_low = False
        while not self._stopping.wait(_DISK_SECONDS):
            server, is_low = self._child, self._is_low()
            if server and is_low != (server is self._refusing) and self._refuse(is_low):
                self._refusing = server if is_low else None
            if is_low != was_low:
                was_low = is_low
                _report(f"writes are {'refused: there is too little' if is_low else 'accepted: there is'} disk space")
                _tell("disk", {"is_low": is_low, "free_bytes": _free_bytes(), "least_bytes": self._least_free})

    def _refuse(self, is_low: bool) -> bool:
        """Make the server refuse or accept writes; return whether it answered."""
        replicas = ask(self._socket_path, f"CONFIG GET {_REPLICAS}", self._passwords, line=5)
        if not replicas.isdigit():
            return False
        wanted = int(replicas) % DISK_IS_LOW + DISK_IS_LOW * is_low
        command = f"CONFIG SET {_REPLICAS} {wanted} {_FSYNC} {'everysec' if is_low else self._fsync}"
        return ask(self._socket_path, command, self._passwords) == "+OK"

    def _check(self) -> int:
        """Run the check, which may cut off a damaged end of the append-only file; return its exit status."""
        _note(self._supervisor_lock, CHECKING)
        check = self._start(self._check_command)
        status = check.wait() if check else 0
        _note(self._supervisor_lock)
        return status

    def _start(self, command: list[str], output: int | None = None, *passed: int) -> subprocess.Popen[bytes] | None:
        """Start a process, unless the supervisor is stopping.

        `output` becomes its standard output; it inherits the descriptors `passed`. The check reads no input.
        """
        with self._guard:
            if self._stopping.is_set():
                return None
            try:
                with open(self._passwords or os.devnull, "rb") as settings:  # noqa: PTH123  without pathlib
                    self._child = subprocess.Popen(command, stdin=settings, stdout=output, pass_fds=passed)  # noqa: S603  own command
            except OSError as error:
                _report(f"{command[0]}: {error.strerror}")
                return None
            return self._child

    def _stop_after_last_holder(self) -> None:
        # A descriptor of its own, not inherited. The kernel grants the exclusive lock when no holder is left. Then new
        # holders wait until this process ends.
        fcntl.flock(os.open(self._holders_lock, os.O_RDWR), fcntl.LOCK_EX)
        with self._guard:
            self._stopping.set()
            child = self._child
        if child is None:
            return
        # Race: the main thread may reap the server just before the signal is sent. That hits another process only if
        # it gets the server's process id within microseconds.
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            _report(f"the server did not stop within {STOP_SECONDS:.0f} s, killing it")
            child.kill()


def _report(message: str) -> None:
    with contextlib.suppress(OSError):  # a full disk must not end the supervision
        os.write(sys.stderr.fileno(), f"supervisor {os.getpid()}: {message}\n".encode())


def _tell(what: str, facts: dict[str, object]) -> None:
    with contextlib.suppress(OSError):  # the process that started the supervisor may be gone
        os.write(sys.stdout.fileno(), f"{json.dumps({what: facts})}\n".encode())


def _free_bytes() -> int:
    """Return the free disk space of the working directory, which is the data directory."""
    disk = os.statvfs(".")
    return disk.f_bavail * disk.f_frsize


def _note(supervisor_lock: int, doing: str = "") -> None:
    with contextlib.suppress(OSError):  # the disk may be full; the lock works without the text
        os.ftruncate(supervisor_lock, 0)
        os.pwrite(supervisor_lock, f"{os.getpid()}\n{doing}".encode(), 0)


def main(arguments: list[str]) -> int:
    """Supervise the server that the arguments describe; return the exit status."""
    holders_lock, supervisor_lock, store_lock, socket_path, passwords, largest_cut, least_free, *server = arguments
    # Signals are ignored, since only the end of the last holder may stop the store. A service manager signals all
    # processes at once, and Perch may still have requests to finish. The server does not inherit a handler, as it would
    # inherit SIG_IGN.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    os.umask(0o077)  # only the owner may read the server's files
    locks = int(supervisor_lock), int(store_lock)
    _note(locks[0])  # the process id, for operators only
    # Without pathlib, whose import takes as long as everything else together.
    check = [__file__.removesuffix(os.path.basename(__file__)) + _CHECK, os.path.dirname(holders_lock), largest_cut]  # noqa: PTH119, PTH120
    check = [sys.executable, "-I", "-S", *check]
    return _Supervisor(holders_lock, locks, socket_path, passwords, int(least_free), check, server).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
