"""Several server processes on one port, and the parent that keeps them running.

The parent opens the store and the listening sockets, and serves nobody. Each child inherits a socket of its own, with a
queue of connections, and the kernel distributes connections among the queues (SO_REUSEPORT). The parent holds the
sockets too. So connections that wait in a queue outlive the child, and its successor accepts them.

Where the kernel does not distribute connections, as on macOS, all children inherit the same socket. Elsewhere they do
not: the first child that wakes would accept most connections of a burst, and keep them.

A child reports on its standard output that it serves. It stops on SIGTERM, and when its standard input ends, so it also
stops when the parent is gone for any reason. A child that dies is replaced. If its successor ends before it has served,
all processes end, since the next one would fail in the same way.

On SIGHUP the parent replaces its children one after another, with the code and the settings that are there now. A
successor serves on the same sockets before its predecessor stops, so somebody accepts connections at any time. When a
successor fails, its predecessor and the children after it serve on.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import structlog

from serving import running, systemd
from serving.metrics import sharing
from serving.running import Sockets, StartError
from store.client.database import Database
from store.embedded.opening import RETRY_SECONDS
from store.settings import Settings

NUMBERS = 3  # of each place: an old process that ends, its successor, and that one's own after it has died
START_SECONDS = 60  # for a successor to serve, before it is given up
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
    from serving import endpoint  # the parent, which serves nobody, does without the schema

    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    async with running.opened(settings) as services:
        await endpoint.serve(services, sockets, lambda: print(_SERVES, flush=True), sys.stdin.fileno())


async def supervise(
    db: Database, sockets: Sequence[Sockets], command: Sequence[str], ready: Callable[[list[int]], None]
) -> None:
    """Keep a process running on each group of sockets until SIGINT or SIGTERM, then end them. SIGHUP replaces them.

    The command starts a process; the descriptors are added to it. `ready` is called with the process ids once all
    serve. Raises StartError when one of the first processes ends before it has served.
    """
    async with _metrics(db) as folder:
        patience, count = db.settings.shutdown_seconds + db.settings.drain_seconds + END_SECONDS, len(sockets)
        numbers = [range(place, count * NUMBERS, count) for place in range(count)]
        places = [_Place(command, its, patience, folder, numbers[place]) for place, its in enumerate(sockets)]
        await _keep(places, sockets, ready)


@contextlib.asynccontextmanager
async def _metrics(db: Database) -> AsyncIterator[Path | None]:
    """Serve the metrics of all processes together; yields the folder that they write them to, None without metrics."""
    if not db.settings.metrics_port:
        yield None
        return
    from serving.metrics import page  # commands that serve nobody start faster without it

    with tempfile.TemporaryDirectory(prefix="perch-metrics-") as name:
        async with page.served(db, sharing.sums(Path(name))):
            yield Path(name)


async def _keep(places: "Sequence[_Place]", sockets: Sequence[Sockets], ready: Callable[[list[int]], None]) -> None:
    stopped, reloaded = running.stopping(), running.reloading()

    async def start_and_reload() -> None:
        ready([await place.served for place in places])
        while True:
            await reloaded.wait()
            reloaded.clear()
            with systemd.reloading():
                await _replace(places)

    tasks = [asyncio.create_task(start_and_reload()), *(asyncio.create_task(place.keep()) for place in places)]
    stopping = asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
    finally:
        systemd.tell("STOPPING=1")
        for each in chain.from_iterable(sockets):
            each.close()  # otherwise connections would still be queued here
        for place in places:
            place.drains = stopped.drains
        for task in (stopping, *tasks):
            task.cancel()
        outcomes = await asyncio.gather(stopping, *tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome


async def _replace(places: "Sequence[_Place]") -> None:
    """Replace all processes, one after another. When a successor does not serve, the others stay as they are."""
    try:
        for place in places:
            await place.replace()
    except StartError as error:
        log.warning("processes_not_replaced", error=str(error))
    else:
        log.info("processes_replaced", count=len(places))


@dataclass(frozen=True, slots=True, eq=False)
class _Started:
    """A process that serves, and the number under which it writes its metrics."""

    process: Process
    number: int


class _Place:
    """A group of sockets, and the process that serves on them, which is replaced after its end or on request."""

    def __init__(
        self, command: Sequence[str], sockets: Sockets, patience: float, folder: Path | None, numbers: range
    ) -> None:
        self._descriptors = [each.fileno() for each in sockets]
        self._command = [*command, ",".join(map(str, self._descriptors))]
        self._patience = patience  # s
        self._folder = folder  # for metrics
        self._free = list(numbers)  # for metrics: two processes that run at a time need two
        self._current: _Started | None = None
        self._replaced: asyncio.Task[None] | None = None  # ends the predecessor
        self._choosing = asyncio.Lock()  # held by whoever decides on the current process
        self.drains = True  # whether a process that is ended lets idle connections be used once more
        self.served: asyncio.Future[int] = asyncio.get_running_loop().create_future()  # the id of the first process

    async def keep(self) -> None:
        """Run a process, and another one when it has ended by itself. When this is cancelled, it ends the last one."""
        self._current = await self._start()
        self.served.set_result(self._current.process.pid)
        try:
            while True:
                watched = self._current
                status = await watched.process.wait()
                async with self._choosing:
                    if self._current is watched:
                        log.warning("process_ended", number=watched.process.pid, status=status)
                        await self._end(watched)
                        self._current = await self._start_again()
        finally:
            await asyncio.gather(self._end(self._current), *([self._replaced] if self._replaced else []))

    async def replace(self) -> None:
        """Start a successor on the same sockets, and end the process once the successor serves.

        Raises StartError when the successor does not serve within START_SECONDS. The process serves on then.
        """
        async with self._choosing:
            try:
                async with asyncio.timeout(START_SECONDS):
                    successor = await self._start()
            except TimeoutError:
                raise StartError(f"a process did not serve within {START_SECONDS} s") from None
            replaced, self._current = self._current, successor
        if replaced:
            self._replaced = asyncio.create_task(self._end(replaced))
            await asyncio.shield(self._replaced)  # `keep` waits for it if this is cancelled

    async def _start_again(self) -> _Started:
        """Return a new process, once it serves. One that ends before, as when the store is away, is started again."""
        pause, longest = RETRY_SECONDS
        while True:
            try:
                return await self._start()
            except StartError as error:
                log.warning("process_not_replaced", error=str(error), next_try_seconds=pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    async def _start(self) -> _Started:
        """Return a new process, once it serves; raises StartError when it ends before."""
        number = self._free.pop(0)
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            pass_fds=self._descriptors,
            start_new_session=True,  # Ctrl-C in a terminal reaches the parent alone
            env={**os.environ, **(sharing.environment(self._folder, number) if self._folder else {})},
        )
        started = _Started(process, number)
        serves = False
        try:
            assert process.stdout
            serves = bool(await process.stdout.readline())
        finally:
            if not serves:
                await self._end(started)
        if not serves:
            raise StartError(f"process {process.pid} ended before it served, with status {process.returncode}")
        log.info("process_serves", number=process.pid)
        return started

    async def _end(self, started: _Started) -> None:
        """End a process, if it still runs. A second call changes nothing."""
        process = started.process
        if process.returncode is None:
            process.send_signal(signal.SIGTERM if self.drains else signal.SIGINT)
            try:
                async with asyncio.timeout(self._patience):
                    await process.wait()
            except TimeoutError:
                log.warning("process_killed", number=process.pid, seconds=self._patience)
                process.kill()
                await process.wait()
        if started.number not in self._free:
            self._free.append(started.number)
            if self._folder:
                sharing.end_gauges(self._folder, started.number)
