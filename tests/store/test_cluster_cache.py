"""On a cluster, cached values are never older than their read, while slots move and primaries fail over."""

import asyncio
import logging
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store import keys
from store.client.caching.cache import PRESENT, Tracked
from store.client.caching.values import Changed, Records
from store.client.database import Database, Unavailable
from store.ids import PARTITIONS
from store.keys.fields import UserField
from store.settings import Settings
from tests.support.people import SECRET
from tests.support.servers.cluster import PARTITION_SLOTS, Cluster, cluster
from tests.support.slow import slow

pytestmark = slow

log = logging.getLogger(__name__)

READS = int(os.environ.get("PERCH_CACHE_READS", "3000"))
AT_ONCE = 24  # members that are written and read at a time
MEMBERS = [p << 4 for p in range(0, PARTITIONS, 4)]  # one in each of 64 partitions
SLOTS = [PARTITION_SLOTS[p] for p in range(0, PARTITIONS, 4)]
MOVED = 4  # slots in one move
DISTURBANCES = READS // 1000  # moves or failovers that a test makes at least


class Reading:
    """Reads one member's record, and caches it."""

    def __init__(self, users: Records, member: int) -> None:
        self._users = users
        self._member = member
        self.commands = [("HGETALL", keys.user(member))]
        self.value: Any = None

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        (self.value,) = replies
        if changed is not None and not isinstance(self.value, Exception):
            self._users.keep({self._member: self.value}, changed)


class Watch:
    """Writes members through one process, and reads them at once through another, which caches."""

    def __init__(self, cluster: Cluster, *, replicas: int) -> None:
        settings = Settings(redis_url=cluster.url, secret_key=SECRET, replicas_acknowledge=replicas)
        self._writer = Database(cluster.url, settings)
        self._reader = Database(cluster.url, replace(settings, replicas_acknowledge=0))
        self._users = self._reader.cache.records("user")
        self.reads = self.hits = self.unavailable = self.disturbances = 0
        self.stale: list[str] = []

    async def run(self, disturb: Callable[[], Awaitable[None]]) -> None:
        """Make `READS` reads, and more until the cluster was disturbed often enough."""
        parts = [MEMBERS[i::AT_ONCE] for i in range(AT_ONCE)]
        checking = [asyncio.create_task(self._check(random.Random(i), part)) for i, part in enumerate(parts)]  # noqa: S311
        while not all(task.done() for task in checking):
            await disturb()
            self.disturbances += 1
        await asyncio.gather(*checking)

    async def _check(self, dice: random.Random, members: list[int]) -> None:
        while self.reads < READS or self.disturbances < DISTURBANCES:
            await self.change(dice.choice(members), f"{self.reads}" if dice.random() < 0.6 else "")

    async def change(self, member: int, value: str) -> None:
        """Write a member's name, or with `""` delete the member, and read it twice."""
        await self._until_done(lambda: self._write(member, value))
        for _ in range(2):  # the second read is usually answered from the cache
            found = await self._until_done(lambda: self._read(member))
            if found != value:
                self.stale.append(f"{member}: {found!r} instead of {value!r}")
            self.reads += 1

    async def _write(self, member: int, value: str) -> str:
        key = keys.user(member)
        command = ("HSET", key, UserField.NAME, value) if value else ("DEL", key)
        await self._writer.one(*command)
        return value

    async def _read(self, member: int) -> str:
        """Read a member as an operation does: from the cache, once that is current."""
        _, is_current = await self._reader.read([], [])
        found = self._users.find([member]) if is_current else {}
        self.hits += member in found
        if member not in found:
            reading = Reading(self._users, member)
            await self._reader.read([], [reading])
            found = {member: _pairs(reading.value)}
        return str(_pairs(found[member]).get(UserField.NAME, ""))

    async def _until_done(self, attempt: Callable[[], Awaitable[str]]) -> str:
        while True:
            try:
                return await attempt()
            except Unavailable:
                self.unavailable += 1
                await asyncio.sleep(0)

    async def close(self) -> None:
        """Disconnect."""
        await self._writer.close()
        await self._reader.close()


def _pairs(value: Any) -> dict[str, str]:
    return value if isinstance(value, dict) else dict(zip(value[::2], value[1::2], strict=True))


@asynccontextmanager
async def watching(made: Cluster, *, replicas: int = 0) -> AsyncIterator[Watch]:
    watch = Watch(made, replicas=replicas)
    yield watch
    await watch.close()
    figures = f"{watch.reads} reads, {watch.hits} from the cache, {watch.unavailable} times unavailable"
    log.warning("%s, %s disturbances, %s stale", figures, watch.disturbances, len(watch.stale))


def moving(made: Cluster, *, atomic: bool) -> Callable[[], Awaitable[None]]:
    """Return what moves some slots to another primary."""
    dice = random.Random(1)  # noqa: S311

    async def move() -> None:
        slots = dice.sample(SLOTS, MOVED)
        await made.move(slots, dice.choice(await made.primaries()), atomic=atomic)

    return move


def failing_over(made: Cluster, *, kill: bool) -> Callable[[], Awaitable[None]]:
    """Return what makes a replica take over from its primary, which becomes its replica."""
    dice = random.Random(1)  # noqa: S311

    async def fail_over() -> None:
        primary = dice.choice(await made.primaries())
        (slot, *_) = [slot for slot in SLOTS if await made.owner(slot) is primary]
        if kill:
            primary.kill()
            await made.until_failed_over(primary, slot)
            await made.start_again(primary)
        else:
            (replica,) = await made.replicas_of(primary)
            await replica.cluster("FAILOVER")
            await made.until_failed_over(primary, slot)
            await made.until_replicated()

    return fail_over


@pytest.mark.parametrize("atomic", [True, False], ids=["at once", "key by key"])
async def test_slots_that_move(tmp_path: Path, atomic: bool) -> None:
    """No read is stale while slots move."""
    async with cluster(tmp_path) as made, watching(made) as watch:
        await watch.run(moving(made, atomic=atomic))
        assert not watch.stale
        assert watch.hits > watch.reads / 4


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "asked to"])
async def test_failover(tmp_path: Path, kill: bool) -> None:
    """No read is stale while replicas take over from primaries."""
    async with cluster(tmp_path, replicas=1) as made, watching(made, replicas=1) as watch:
        await watch.run(failing_over(made, kill=kill))
        assert not watch.stale
        assert watch.hits > watch.reads / 4


async def test_that_the_measurement_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a check that any node answers, a member who was missing when the slot moved stays missing."""

    def check(self: Tracked) -> asyncio.Future[list[Any]]:
        replied: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self.send([("PING",)]).add_done_callback(lambda _: replied.set_result([PRESENT]))
        return replied

    monkeypatch.setattr(Tracked, "check", check)
    monkeypatch.setattr(Tracked, "mark", lambda self, tags: self.marked.update(dict.fromkeys(tags, "")))
    async with cluster(tmp_path) as made, watching(made) as watch:
        await watch.change(MEMBERS[0], "")
        old = await made.owner(SLOTS[0])
        await made.move(SLOTS[:1], next(node for node in await made.primaries() if node is not old), atomic=False)
        await watch.change(MEMBERS[0], "new")
        assert watch.stale
