"""Measures the store as the limit: how many home pages it could serve if nothing else took time.

First each contender serves the homes of many readers through a proxy socket. The proxy records the bytes that the
contender sends to the store, and counts those that it gets back. Then the same bytes are sent again, page by page and
round trip by round trip, over many connections at once. Replies are counted but not parsed, which costs little.
The tool redis-benchmark could not do that. It repeats one command, but a page has many, and some depend on others.

Meanwhile the servers do nothing, and the store has their processor.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import socket
import statistics
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.versus import contenders, processors, reading
from benchmarks.versus.contenders import BenchmarkError, Kind
from benchmarks.versus.load import Plan, Result
from benchmarks.versus.queries import Request
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import ratio, spread, table

CONNECTIONS = 16  # over which pages are sent again
REPLY_SECONDS = 10
CHUNK = 1 << 18  # bytes; more than any reply
HELLO = re.compile(rb"(?i)hello\r\n\$1\r\n3\r\n")
PONG = b"+PONG\r\n"


@dataclass(slots=True)
class Trip:
    """One round trip: what was sent, and how many bytes came back."""

    sent: bytes = b""
    replied: int = 0


Page = list[Trip]


@dataclass(slots=True)
class Record:
    """The recorded commands of a contender, page by page."""

    pages: list[Page] = field(default_factory=list)
    page: Page = field(default_factory=list)  # the one that is asked for now
    greeting: bytes = b"PING\r\n"  # of a connection; one to a contender that speaks RESP3 has to as well

    def sent(self, data: bytes) -> None:
        """Record bytes from the contender. After a reply, they begin a new round trip."""
        if HELLO.search(data):
            self.greeting = b"HELLO 3\r\nPING\r\n"
        if not self.page or self.page[-1].replied:
            self.page.append(Trip())
        self.page[-1].sent += data

    def replied(self, data: bytes) -> None:
        """Count the bytes of a reply."""
        if self.page:
            self.page[-1].replied += len(data)

    def turn(self) -> None:
        """End a page."""
        self.pages.append(self.page)
        self.page = []


@dataclass(frozen=True, slots=True)
class Replay:
    """The results of replaying pages; times in s."""

    pages: int
    seconds: float
    store_cpu: float


async def record(stage: Stage, kind: Kind, requests: Sequence[Request], folder: Path) -> Record:
    """Record the commands of a contender for each request, when it is made for the second time."""
    found, quiet = Record(), replace(kind, settings={**kind.settings, "RUN_WORKER": "false"})
    async with _noting(stage.socket, folder, found) as url, contenders.running(stage, [quiet], url=url) as (one,):
        for request in requests:
            await asyncio.to_thread(one.ask, request)  # also does the work that happens once per reader
            found.page = []
            await asyncio.to_thread(one.ask, request)
            found.turn()
    return found


@contextlib.asynccontextmanager
async def _noting(store: str, folder: Path, found: Record) -> AsyncIterator[str]:
    """Give an address of the store through which everything is noted."""
    pumps: set[asyncio.Task[None]] = set()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        replies, commands = await asyncio.open_unix_connection(store)
        for begun in (_pump(reader, commands, found.sent), _pump(replies, writer, found.replied)):
            pumps.add(asyncio.create_task(begun))

    path = folder / "noting.sock"
    path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(connect, path)
    try:
        yield f"unix://{path}"
    finally:
        server.close()
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, note: Callable[[bytes], None]) -> None:
    try:
        while data := await reader.read(CHUNK):
            note(data)
            writer.write(data)
    finally:
        writer.close()


class Player:
    """Sends pages again."""

    def __init__(self, store: str, greeting: bytes) -> None:
        self._connections = [socket.socket(socket.AF_UNIX) for _ in range(CONNECTIONS)]
        self._buffer = memoryview(bytearray(CHUNK))
        for connection in self._connections:
            connection.settimeout(REPLY_SECONDS)
            connection.connect(store)
            connection.sendall(greeting)
            while not connection.recv(CHUNK).endswith(PONG):
                pass

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections:
            connection.close()

    def check(self, pages: Sequence[Page]) -> None:
        """Raise BenchmarkError unless each page brings as many bytes as it did."""
        first = self._connections[0]
        for page in pages:
            for trip in [*page, Trip(b"PING\r\n", len(PONG))]:
                first.sendall(trip.sent)
                self._take(first, trip.replied)
            if self._buffer[: len(PONG)] != PONG:
                raise BenchmarkError("a page sent again brings other replies than the first time")

    def play(self, pages: Sequence[Page], seconds: float) -> tuple[int, float]:
        """Send pages in turn for some time; return how many, and the time taken, s."""
        turns, played, began = itertools.cycle(pages), 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            together = list(zip(self._connections, itertools.islice(turns, CONNECTIONS), strict=True))
            for step in range(max(len(page) for _, page in together)):
                active = [(connection, page[step]) for connection, page in together if step < len(page)]
                for connection, trip in active:
                    connection.sendall(trip.sent)
                for connection, trip in active:
                    self._take(connection, trip.replied)
            played += len(together)
        return played, time.perf_counter() - began

    def _take(self, connection: socket.socket, count: int) -> None:
        while count:
            got = connection.recv_into(self._buffer, min(count, CHUNK), socket.MSG_WAITALL)
            if not got:
                raise BenchmarkError("the store closed a connection")
            count -= got


async def replay(stage: Stage, noted: Record, effort: Effort) -> Replay:
    """Send pages again for some time, the store on the processor of the servers."""
    processors.pin(stage.process, processors.SERVER)
    player = Player(stage.socket, noted.greeting)
    try:
        player.check(noted.pages)
        player.play(noted.pages, effort.warmup)
        before = await stage.used_cpu()
        played, seconds = player.play(noted.pages, effort.seconds)
        return Replay(played, seconds, await stage.used_cpu() - before)
    finally:
        player.close()
        processors.pin(stage.process, processors.LOAD)


async def measure(
    stage: Stage, kinds: Sequence[Kind], requests: Sequence[Request], effort: Effort, scratch: Path
) -> None:
    """Measure contenders and what the store could do for each, and print a table."""
    records = {kind.name: await record(stage, kind, requests, scratch) for kind in kinds}
    found: dict[str, list[Result]] = {name: [] for name in records}
    async with contenders.running(stage, kinds) as running:
        plans = dict.fromkeys(found, Plan(effort.connections, effort.warmup, effort.seconds))
        for _ in range(effort.rounds):
            for name, result in (await reading.take_turns(stage, running, requests, plans, scratch)).items():
                found[name].append(result)
    replays: dict[str, list[Replay]] = {name: [] for name in records}
    for _ in range(effort.rounds):
        for name, its in records.items():
            replays[name].append(await replay(stage, its, effort))
    rows = [[name, *_row(found[name], replays[name], records[name].pages)] for name in records]
    print(
        "\n### The store as the limit of home pages\n\nWhat each asks of the store for a page, sent again by itself:"
        " how many pages a second of the store's processor time, and how many a second there were."
    )
    head = ["", "pages/s", "store CPU µs a page", "pages/s of store CPU", "it / pages/s"]
    table([*head, "pages/s sent again", "store busy", "round trips", "KiB"], rows)


def _row(found: Sequence[Result], turns: Sequence[Replay], pages: Sequence[Page]) -> list[str]:
    rates, costs = [r.throughput for r in found], [turn.store_cpu / turn.pages for turn in turns]
    return [
        spread(rates, 0),
        spread([cost * 1e6 for cost in costs], 0),
        spread([1 / cost for cost in costs], 0),
        ratio([1 / cost for cost in costs], rates),
        spread([turn.pages / turn.seconds for turn in turns], 0),
        f"{statistics.median(turn.store_cpu / turn.seconds for turn in turns):.0%}",
        f"{statistics.mean(map(len, pages)):.1f}",
        f"{statistics.mean(sum(trip.replied for trip in page) for page in pages) / 1024:.1f}",
    ]
