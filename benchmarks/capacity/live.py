"""Measures posts to many followers, and the same posts while some of the followers watch their home live."""

from __future__ import annotations

import asyncio
import contextlib
import math
import statistics
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import redis.asyncio as redis

from benchmarks.capacity.costs import Cpu
from benchmarks.capacity.metering import Meter, commands, processor_time
from benchmarks.capacity.processes import Effort, perch
from benchmarks.versus import queries
from benchmarks.versus.contenders import BenchmarkError, Contender
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Reader, Stage
from benchmarks.wire import STAMP, STAMP_DIGITS, Loop, Subscriber
from resolvers.operation.inputs import batches
from store import keys
from store.events import log
from store.events.log import Content

LIVE_HOME = """subscription { homeTimeline { __typename ... on StreamEvent { cursor }
  ... on TimelineEntryPut { edge { cursor node { ... on Post { id text createdAt likeCount repostCount commentCount
    author { id login name } } } } } } }"""
TEXT = f"{STAMP.decode()}{0:0{STAMP_DIGITS}.6f} to all of you, as long as most posts are, more or less"
POSTS = 50  # most in a round
IDLE_SECONDS = 0.5
IDLE_SHARE = 0.04  # of a processor, below which a process has nothing to do
EVENTS = 200  # appended to the log in a round
EVENT_ROUNDS = 5
PROCESSES = 100  # that receive them


@dataclass(frozen=True, slots=True)
class Live:
    """The costs of posts, of each of their followers, and of events."""

    post: Cpu
    follower: Cpu
    delivery: Cpu
    event: Cpu
    subscriber: float  # bytes


async def measure(opened: Stage, effort: Effort, scratch: Path) -> Live:
    """Return the costs; the stage has authors with so many followers each, `author10` and the like."""
    few, many = effort.fans
    authors = [await opened.sign_in(f"author{fans}") for fans in effort.fans]
    async with perch(opened, 2) as (server, idle):
        meter = Meter(opened, server, scratch)
        await meter.send(_posts(authors[0], effort))
        to_few = await meter.median([_posts(authors[0], effort)] * effort.rounds)
        watch = Meter(opened, idle, scratch)
        before, began, resting = await watch.spent(), time.monotonic(), await _resting(idle)
        to_many = await meter.median([_posts(authors[1], effort)] * effort.rounds)
        seconds = time.monotonic() - began
        read = (await watch.spent() - before).server - resting * seconds * 1e6
        count = effort.rounds * len(_posts(authors[1], effort))
        watched, memory = await _watched(meter, authors[1], effort)
    follower = (to_many - to_few) * (1 / (many - few))
    return Live(
        post=to_few - follower * few,
        follower=follower,
        delivery=(watched - to_many) * (1 / effort.subscribers),
        event=Cpu(max(0.0, read) / count, await _receiving(opened)),
        subscriber=memory,
    )


def _posts(author: Reader, effort: Effort) -> list[Request]:
    return [queries.post(author.token, TEXT)] * max(8, min(POSTS, effort.requests))


async def _resting(server: Contender) -> float:
    """Return the share of a processor that a process takes while nothing happens."""
    before = processor_time(server)
    await asyncio.sleep(IDLE_SECONDS)
    return (processor_time(server) - before) / IDLE_SECONDS


async def _watched(meter: Meter, author: Reader, effort: Effort) -> tuple[Cpu, float]:
    """Return the cost of a post that some followers get live, and the bytes of the process for each of them."""
    readers = [await meter.stage.sign_in(f"fan{i}") for i in range(effort.subscribers)]
    before, found = meter.server.memory, []
    with _subscribed(meter.server, readers) as (loop, subscribers):
        while await _resting(meter.server) > IDLE_SHARE:
            loop.turn(0)
        memory = (meter.server.memory - before) / len(readers)
        for _ in range(effort.rounds):
            posts = _posts(author, effort)
            began, due = await meter.spent(), [math.inf]
            receiving = asyncio.create_task(asyncio.to_thread(_receive, loop, subscribers, due))
            already = await _made(meter.stage, author) - subscribers[0].received
            await meter.send(posts)
            due[0] = await _made(meter.stage, author) - already
            await receiving
            await meter.settled()
            found.append((await meter.spent() - began) * (1 / len(posts)))
    cpu = Cpu(statistics.median(c.server for c in found), statistics.median(c.store for c in found))
    return cpu, max(0.0, memory)


async def _made(opened: Stage, author: Reader) -> int:
    """Return how many posts an author has made."""
    return int(await opened.db.one("ZCARD", keys.profile(author.member)))


@contextlib.contextmanager
def _subscribed(server: Contender, readers: Sequence[Reader]) -> Iterator[tuple[Loop, list[Subscriber]]]:
    loop, delays = Loop(), array("d")
    made = [Subscriber(server.port, reader.token, [{"query": LIVE_HOME}], delays) for reader in readers]
    for one in made:
        loop.add(one)
    try:
        yield loop, made
    finally:
        loop.drop(made)


def _receive(loop: Loop, subscribers: Sequence[Subscriber], due: list[float]) -> None:
    """Receive until all have as many posts as are due, which is known once all are made."""
    loop.run(lambda: all(one.received >= due[0] for one in subscribers) or any(one.gaps for one in subscribers))
    if any(one.gaps for one in subscribers):
        raise BenchmarkError("subscribers were too slow")


async def _receiving(opened: Stage) -> float:
    """Return the store's processor time when one more process receives one new event, µs."""
    alone = await _appended(opened, "alone")
    client = redis.Redis(unix_socket_path=opened.socket)
    async with contextlib.AsyncExitStack() as held:
        held.push_async_callback(client.aclose)
        for _ in range(PROCESSES):
            receiver = await held.enter_async_context(client.pubsub())
            await receiver.execute_command("SSUBSCRIBE", opened.db.channel(log.CHANNEL))
            await receiver.parse_response()
        return max(0.0, await _appended(opened, "received") - alone) / PROCESSES


async def _appended(opened: Stage, name: str) -> float:
    """Return the store's processor time for one new event, µs."""
    made = [
        log.append_command(opened.db, f"{name}:{i}", "post", i, Content(TEXT), post=i)
        for i in range(EVENTS * EVENT_ROUNDS)
    ]
    return statistics.median([await commands(opened, some) for some in batches(made, EVENTS)])
