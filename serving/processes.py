"""Several server processes on one port, and the parent that keeps them running.

The parent opens the store and the listening sockets, and serves nobody. Each child inherits a socket of its own, with a
queue of connections, and the kernel distributes connections among the queues (SO_REUSEPORT). The parent holds the
sockets too. So connections that wait in a queue outlive the child, and its successor accepts them.

Where the kernel does not distribute connections, as on macOS, all children inherit the same socket. Elsewhere they do
not: the first child that wakes would accept most connections of a burst, and keep them.

A child reports on its standard output that it serves. It stops on SIGTERM, and when its standard input ends, so it also
stops when the parent is gone for any reason. A child that dies is replaced. A child that ends before it has served ends
all processes, since its successor would fail in the same way.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from itertools import chain

import structlog

from serving import endpoint
from serving.endpoint import Sockets, StartError, until_stopped
from store.settings import Settings

END_SECONDS = 5  # for a process to end after its last request, before it is killed
_SERVES = "serves"  # the line by which a process reports that it serves

log = structlog.get_logger()


def wanted(settings: Settings) -> int:
    """Return the number of processes: the setting, or else the number of processors."""
    return settings.processes or _processors()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


async def serve_as_one(settings: Settings, descriptors: Sequence[int]) -> None:
    """Serve on sockets inherited from the parent, until the parent stops this process or is gone."""
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    async with endpoint.opened(settings) as services:
        await endpoint.serve(services, sockets, lambda: print(_SERVES, flush=True), sys.stdin.fileno())


async def supervise(
    settings: Settings, sockets: Sequence[Sockets], command: Sequence[str], ready: Callable[[list[int]], None]
) -> None:
    """Keep a process running on each group of sockets until SIGINT or SIGTERM, then end the processes.

    The command starts a process; the descriptors are added to it. `ready` is called with the process ids once all
    serve. Raises StartError when a process ends before it has served.
    """
    places = [_Place(command, its, settings.shutdown_seconds + END_SECONDS) for its in sockets]

    async def report() -> None:
        ready([await place.served for place in places])

    stopped = asyncio.create_task(until_stopped())
    keeping = [asyncio.create_task(place.keep()) for place in places]
    reporting = asyncio.create_task(report())
    try:
        await asyncio.wait([stopped, *keeping], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in chain.from_iterable(sockets):
            each.close()  # otherwise connections would still be queued here
        tasks = [stopped, reporting, *keeping]
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome


class _Place:
    """One of the processes, which is replaced after its end."""

    def __init__(self, command: Sequence[str], sockets: Sockets, patience: float) -> None:
        self._descriptors = [each.fileno() for each in sockets]
        self._command = [*command, ",".join(map(str, self._descriptors))]
        self._patience = patience  # s
        self.served: asyncio.Future[int] = asyncio.get_running_loop().create_future()  # the id of the first process

    async def keep(self) -> None:
        """Run one process after another. When this is cancelled, it ends the last one."""
        while True:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                pass_fds=self._descriptors,
                start_new_session=True,  # Ctrl-C in a terminal reaches the parent alone
            )
            try:
                await self._watch(process)
            finally:
                await self._end(process)

    async def _watch(self, process: Process) -> None:
        assert process.stdout
        if not await process.stdout.readline():
            status = await process.wait()
            raise StartError(f"process {process.pid} ended before it served, with status {status}")
        log.info("process_serves", number=process.pid)
        if not self.served.done():
            self.served.set_result(process.pid)
        log.warning("process_ended", number=process.pid, status=await process.wait())

    async def _end(self, process: Process) -> None:
        if process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(self._patience):
                await process.wait()
        except TimeoutError:
            log.warning("process_killed", number=process.pid, seconds=self._patience)
            process.kill()
            await process.wait()
