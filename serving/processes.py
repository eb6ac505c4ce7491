"""Several server processes on one port, and the parent that keeps them running.

The parent opens the store and the listening sockets, and serves nobody. Each of the others inherits its socket, with a
queue of connections, and the kernel shares connections out among the queues (SO_REUSEPORT). The parent holds them too:
what nobody has taken yet outlives the process, and its successor takes it. Where the kernel does not share out, as on
macOS, all inherit the same socket. That is not done everywhere: whichever process wakes first would take most of the
connections that come together, and keep them.

A process says on its standard output that it serves. It stops on SIGTERM, and when its standard input ends: so also
when the parent is gone, however that ended. One that dies is replaced; one that ends before it has served ends all, as
the next one would fare no better.
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

END_SECONDS = 5  # for what a process does after its last request, before it is killed
_SERVES = "serves"  # what a process says

log = structlog.get_logger()


def wanted(settings: Settings) -> int:
    """Return how many processes the settings ask for."""
    return settings.processes or _processors()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


async def serve_as_one(settings: Settings, descriptors: Sequence[int]) -> None:
    """Serve on sockets inherited from the parent, until it says to stop or is gone."""
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    async with endpoint.opened(settings) as services:
        await endpoint.serve(services, sockets, lambda: print(_SERVES, flush=True), sys.stdin.fileno())


async def supervise(
    settings: Settings, sockets: Sequence[Sockets], command: Sequence[str], ready: Callable[[list[int]], None]
) -> None:
    """Keep a process running on each of some sockets until SIGINT or SIGTERM, then end them.

    The command starts one, given the descriptors; `ready` is called with their numbers once all serve. Raises
    StartError when one ends before it has served.
    """
    places = [_Place(command, its, settings.shutdown_seconds + END_SECONDS) for its in sockets]

    async def tell() -> None:
        ready([await place.served for place in places])

    stopped = asyncio.create_task(until_stopped())
    keeping = [asyncio.create_task(place.keep()) for place in places]
    telling = asyncio.create_task(tell())
    try:
        await asyncio.wait([stopped, *keeping], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in chain.from_iterable(sockets):
            each.close()  # or connections would wait here for nobody
        tasks = [stopped, telling, *keeping]
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome


class _Place:
    """One of the processes, and after its end the one that takes its place."""

    def __init__(self, command: Sequence[str], sockets: Sockets, patience: float) -> None:
        self._descriptors = [each.fileno() for each in sockets]
        self._command = [*command, ",".join(map(str, self._descriptors))]
        self._patience = patience  # s
        self.served: asyncio.Future[int] = asyncio.get_running_loop().create_future()  # the number of the first

    async def keep(self) -> None:
        """Run one process after another; cancelled, it ends the last one."""
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
