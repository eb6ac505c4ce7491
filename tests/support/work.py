"""Deferred work seen from outside: waiting jobs, snapshots of the store, calls that fail, and calls that take turns."""

import asyncio
import os
import random
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from typing import Any, cast

import redis.asyncio as redis

from resolvers.jobs.worker import Worker
from store import jobs, keys
from store.client.database import Command, Database
from store.records.jobs import Job
from store.records.lists import read_pairs
from store.settings import Settings
from tests.support.stored import empty, find, is_marker

BOOKKEEPING = (
    "jobs:",
    "progress:",
    "dead-jobs:",
    "minted:",
    "rescore:",
    "tag-uses:",
    "withdrawn-notifications:",
    "notification-state:",
    "unmerged:",
    "moderation-act:",
    "log-head:",
    "removed-text:",
)  # Keys of the job machinery, and keys whose names or contents depend on the moment.
TIMED = (
    keys.event_ids(),
    "notifications:",
    "message-log:",
    "group-changes:",
    "memberships:",
    "moderation-log:",
)  # Keys sorted by the time of creation.
EFFORT = int(os.environ.get("PERCH_TEST_EFFORT", "1"))  # 1 samples the calls at which work can die, 100 tries all.
ROUNDS = 50  # Runs of the worker after which work counts as endless.

Photo = dict[bytes, tuple[bytes, int]]  # key → its content, and when it expires (ms since 1970, 0 for never)


def crash_points(step: int = 1) -> Iterator[int]:
    """Yield the calls at which work is to die: each of the first, and fewer and fewer of the later ones."""
    calls = 0
    while True:
        yield calls
        calls += step + calls // (4 * EFFORT)


def number(identity: str) -> int:
    """Return the number inside a global id."""
    return int(identity.rpartition("_")[2], 16)


async def waiting(db: Database) -> list[Job]:
    """Return every unfinished job, oldest first."""
    streams = [int(stream[len("jobs:{") : -1]) for stream in await find(db, "jobs:*")]
    found = [job for p in streams async for batch in jobs.waiting(db, p) for job in batch]
    return sorted(found, key=lambda job: job.id)


async def work_off(db: Database, worker: Worker) -> None:
    """Have the worker finish everything, as if all leases had expired."""
    for _ in range(ROUNDS):
        left = await waiting(db)
        if not left:
            return
        for job in left:
            await jobs.hand_over(db, job)
        await worker.run_once()
    raise AssertionError(f"work without end: {left}")


async def take(db: Database, job: Job) -> Job:
    """Take over one job with its checkpoint, as a worker does after the previous lease."""
    await jobs.hand_over(db, job)
    return next(taken for taken in await jobs.take_over(db) if taken.id == job.id)


async def photograph(db: Database) -> Photo:
    """Return a snapshot of everything in the store, jobs included, without the markers of slots."""
    photo: Photo = {}
    for url in [node.url for node in db.nodes]:
        client: Any = redis.Redis.from_url(url)
        async with client, client.pipeline(transaction=False) as pipeline:
            names = [name for name in await client.keys() if not is_marker(name.decode())]
            for name in names:
                pipeline.dump(name)
                pipeline.pexpiretime(name)
            replies = await pipeline.execute()
        ends = [max(0, at) for at in replies[1::2]]
        photo |= dict(zip(names, zip(replies[::2], ends, strict=True), strict=True))
    return photo


async def put_back(db: Database, photo: Photo) -> None:
    """Restore the store to a snapshot."""
    await empty(db)
    await db.ask(*(("RESTORE", name.decode(), at, content, "ABSTTL") for name, (content, at) in photo.items()))


async def dump(db: Database) -> dict[str, object]:
    """Return the store's contents in readable form, without job machinery and without times that differ at each run."""
    names = sorted(name for name in await find(db) if not name.startswith(BOOKKEEPING))
    kinds = await db.ask(*(("TYPE", name) for name in names))
    replies = await db.ask(*(_read(name, kind) for name, kind in zip(names, kinds, strict=True)))
    held = {name: _readable(name, kind, reply) for name, kind, reply in zip(names, kinds, replies, strict=True)}
    # Waiting entries move to the home's list at a moment that depends on other changes to the home.
    for name in [name for name in held if name.startswith("newest:")]:
        waiting, home = str(held.pop(name)).split()[1:], name.replace("newest", "home")
        held[home] = [*cast("list[str]", held[home]), *waiting]
    return held


def _read(name: str, kind: str) -> Command:
    if kind == "zset":
        return ("ZRANGE", name, 0, -1) if name.startswith(TIMED) else ("ZRANGE", name, 0, -1, "WITHSCORES")
    return {
        "string": ("GET", name),
        "hash": ("HGETALL", name),
        "list": ("LRANGE", name, 0, -1),
        "set": ("SMEMBERS", name),
        "stream": ("XRANGE", name, "-", "+"),
    }[kind]


def _readable(name: str, kind: str, reply: Any) -> object:
    if kind == "hash":
        return read_pairs(reply)
    if kind == "stream":
        return sorted(fields for _, fields in reply)
    return sorted(reply) if kind == "set" or name.startswith(TIMED) else reply


async def write_home(db: Database, member: int, posts: Iterable[int]) -> None:
    """Make a home hold these posts, each at its own place."""
    await db.ask(("DEL", keys.home(member)), ("RPUSH", keys.home(member), *sorted(posts)))


class Crash(Exception):
    """The simulated death of the process."""


class Fragile(Database):
    """A database client that dies at one call, after sending none of its commands or the first half."""

    def __init__(self, settings: Settings, calls: int, *, halfway: bool = False) -> None:
        super().__init__(settings.redis_url, settings)
        self._calls = calls
        self._halfway = halfway
        self.has_died = False
        self.has_torn = False  # Whether the first half of the fatal call was sent.

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        if self.has_died or self._calls == 0:
            if self._halfway and not self.has_died and len(commands) > 1:
                self.has_torn = True
                await super().run(commands[: len(commands) // 2])
            self.has_died = True
            raise Crash
        self._calls -= 1
        return await super().run(commands)


class Turns(Database):
    """A database client that lets tasks make one call at a time, in an order drawn by seed."""

    def __init__(self, settings: Settings, seed: int) -> None:
        super().__init__(settings.redis_url, settings)
        self._lot = random.Random(seed)  # noqa: S311  an order of calls, no secret
        self._queue: list[asyncio.Future[None]] = []
        self._busy = 0

    def elsewhere(self) -> Database:
        """Return the database as another process has it. Its calls take turns with those of this one."""
        return _Elsewhere(self)

    async def together(self, *works: Coroutine[Any, Any, Any]) -> None:
        """Run tasks together; each makes one call after the other, and waits for nothing but its calls."""
        self._busy = len(works)
        try:
            await asyncio.gather(*(self._until_done(work) for work in works))
        finally:
            await self.close()

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._rest()
        await turn
        return await super().run(commands)

    async def _until_done(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        finally:
            self._rest()

    def _rest(self) -> None:
        self._busy -= 1
        if self._busy == 0 and self._queue:
            self._busy = 1
            self._queue.pop(self._lot.randrange(len(self._queue))).set_result(None)


class _Elsewhere(Database):
    """The database client of another process."""

    def __init__(self, turns: Turns) -> None:
        super().__init__(turns.settings.redis_url, turns.settings)
        self._turns = turns

    async def find_out(self) -> None:
        await self._turns.find_out()
        self.servers = self._turns.servers

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        return await self._turns.run(commands)
