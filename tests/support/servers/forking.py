"""Starts commands of Perch as copies of a process that has imported it: importing takes longer than most commands run.

Each copy is a process of its own, with its own environment, output and exit status.
"""

import asyncio
import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

SERVER = Path(__file__).parents[3] / "server.py"
IMPORTED = ("server", "schema", "serving.endpoint", "serving.tables", "serving.metrics.recorder")
_COPIED = 3  # descriptors of a request: its connection, standard output and standard error


# ---- the process that is copied


def main(program: str) -> None:
    """Start what is asked for on standard input, until whoever asks has ended."""
    sys.path[0] = str(Path(program).parent)
    modules = [importlib.import_module(name) for name in IMPORTED]
    gc.freeze()  # collections in the copies would touch, and so duplicate, every page
    with socket.socket(fileno=os.dup(0)) as asked:
        while descriptors := socket.recv_fds(asked, 1, _COPIED)[1]:
            if not os.fork():
                asked.close()
                _keep(modules[0].main, *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:  # those that have ended since the last request
                    pass


def _keep(command: Callable[[], int], connection: int, *outputs: int) -> None:
    """Start one command and report its process id, then its exit status. Only the command's process returns."""
    with socket.socket(fileno=connection) as asker:
        request = json.loads(asker.makefile().readline())
        if not (process := os.fork()):
            asker.close()
            _run(command, request, *outputs)
        for output in outputs:
            os.close(output)
        with contextlib.suppress(OSError):  # whoever asked may have ended
            asker.sendall(f"{process}\n".encode())
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            asker.sendall(f"{status}\n".encode())
    os._exit(0)


def _run(command: Callable[[], int], request: dict[str, Any], *outputs: int) -> None:
    """Be a command of Perch to its end."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((nothing, *outputs)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under `nohup`
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [sys.argv[1], *request["arguments"]]
    sys.exit(command())


# ---- the process that asks


class Forked:
    """A started command, with the interface of `asyncio.subprocess.Process`."""

    def __init__(self, pid: int, stdout: StreamReader, stderr: StreamReader, ending: Coroutine[Any, Any, int]) -> None:
        self.pid, self.stdout, self.stderr = pid, stdout, stderr
        self._ending = asyncio.create_task(ending)

    @property
    def returncode(self) -> int | None:
        """The exit status, if it has ended."""
        return self._ending.result() if self._ending.done() else None

    async def wait(self) -> int:
        """Wait for its end, and return the exit status."""
        return await asyncio.shield(self._ending)

    def send_signal(self, number: int) -> None:
        if self.returncode is not None:
            raise ProcessLookupError
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


async def start(arguments: Sequence[str], environment: Mapping[str, str], limit: int) -> Forked:
    """Start a command; the limit is that of a line of its output, in bytes."""
    ours, theirs = socket.socketpair()
    readers, writers = zip(os.pipe(), os.pipe(), strict=True)
    with theirs:
        socket.send_fds(_forker(), [b"\0"], [theirs.fileno(), *writers])
    for writer in writers:
        os.close(writer)
    outputs = await _reader(readers[0], limit), await _reader(readers[1], limit)
    status, asking = await asyncio.open_connection(sock=ours)
    asking.write(json.dumps({"arguments": arguments, "environment": dict(environment)}).encode() + b"\n")
    return Forked(int(await status.readline()), *outputs, _end(status, asking))


async def _end(status: StreamReader, asking: StreamWriter) -> int:
    """Return the exit status, once the command has ended."""
    try:
        return int(await status.readline())
    finally:
        asking.close()


async def _reader(descriptor: int, limit: int) -> StreamReader:
    loop = asyncio.get_running_loop()
    reader = StreamReader(limit=limit)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb"))
    return reader


@functools.cache
def _forker() -> socket.socket:
    """Return the connection to this process's copied one, which is started when the first command is."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen([sys.executable, __file__, SERVER], stdin=theirs.fileno(), stdout=subprocess.PIPE)  # noqa: S603  this file

    def end() -> None:
        ours.close()
        process.communicate()

    atexit.register(end)
    return ours


if __name__ == "__main__":
    main(sys.argv[1])
