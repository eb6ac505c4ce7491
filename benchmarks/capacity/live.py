"""Measures posts to many followers, and the same posts while some of the followers watch their home live."""

import contextlib
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import redis.asyncio as redis

from benchmarks.capacity.costs import Cpu
from benchmarks.capacity.metering import CpuMeter, SampleSize, commands, median, perch
from benchmarks.clients import SignedIn, until_no_job_is_left
from benchmarks.versus import events, queries
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from resolvers.operation.inputs import batches
from store.events import log
from store.events.log import EventContent

LIVE_HOME = """subscription { homeTimeline { __typename ... on StreamEvent { cursor }
  ... on TimelineEntryPut { edge { cursor node { ... on Post { id text createdAt likeCount repostCount commentCount
    author { id login name } } } } } } }"""
TEXT = "to all of you, as long as most posts are, more or less"
POSTS = 50  # most in a round
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


async def measure(opened: Stage, size: SampleSize, scratch: Path) -> Live:
    """Return the costs; the stage has authors with so many followers each, `author10` and the like."""
    few, many = size.fans
    authors = [await opened.sign_in(f"author{fans}") for fans in size.fans]
    async with perch(opened, 2) as (server, idle):
        meter = CpuMeter(opened, server, scratch)
        await meter.send(_posts(authors[0], size))
        to_few = await meter.median([_posts(authors[0], size)] * size.rounds)
        watch = CpuMeter(opened, idle, scratch)
        before, began, resting = await watch.spent(), time.monotonic(), await events.resting(idle)
        to_many = await meter.median([_posts(authors[1], size)] * size.rounds)
        seconds = time.monotonic() - began
        read = (await watch.spent() - before).server - resting * seconds * 1e6
        count = size.rounds * len(_posts(authors[1], size))
        watched, memory = await _watched(meter, authors[1], size)
    follower = (to_many - to_few) * (1 / (many - few))
    return Live(
        post=to_few - follower * few,
        follower=follower,
        delivery=(watched - to_many) * (1 / size.subscribers),
        event=Cpu(max(0.0, read) / count, await _receiving(opened)),
        subscriber=memory,
    )


def _posts(author: SignedIn, size: SampleSize) -> list[Request]:
    return [queries.post(author.token, TEXT)] * max(8, min(POSTS, size.requests))


async def _watched(meter: CpuMeter, author: SignedIn, size: SampleSize) -> tuple[Cpu, float]:
    """Return the cost of a post that some followers get live, and the bytes of the process for each of them."""
    readers = [await meter.stage.sign_in(f"fan{i}") for i in range(size.subscribers)]
    before, costs = meter.server.memory, []
    with events.subscribed(meter.server, [reader.token for reader in readers], LIVE_HOME) as receivers:
        await events.settled(meter.server, receivers)
        memory = (meter.server.memory - before) / len(readers)
        for _ in range(size.rounds):
            posts = _posts(author, size)
            began = await meter.spent()
            await events.received(meter.stage, receivers, author, meter.send(posts))
            await until_no_job_is_left(meter.stage.db)
            costs.append((await meter.spent() - began) * (1 / len(posts)))
    return median(costs), max(0.0, memory)


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
        log.append_command(opened.db, f"{name}:{i}", "post", i, EventContent(TEXT), post=i)
        for i in range(EVENTS * EVENT_ROUNDS)
    ]
    return statistics.median([await commands(opened, some) for some in batches(made, EVENTS)])
