"""Measures a post in groups of different sizes, and the memory of a membership.

Run it from a checkout with Perch installed: `python -m benchmarks.groups`. It starts a store of its own in a folder
that is removed at the end. All groups have the same owner, and take turns.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from resolvers.jobs import dispatch
from store import keys
from store.client.database import Database
from store.embedded import attach
from store.groups import changes
from store.groups.changes import GroupDraft
from store.groups.records import GroupKind
from store.keys.fields import CredentialsField, UserField
from store.posts import Draft, create
from store.settings import Settings

SIZES = (10, 1_000, 100_000)  # members of a group
POSTS = 200  # of one turn in each group
ROUNDS = 7
BATCH = 1_000
FIRST = 1 << 48  # an id of 2025; members have ids from here on, 256 partitions in turn


@dataclass
class Costs:
    """What posts in one group cost, in µs each."""

    elapsed: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    stores: list[float] = field(default_factory=list)
    trips: set[float] = field(default_factory=set)


async def main() -> None:
    """Measure all sizes, and print two tables."""
    with tempfile.TemporaryDirectory() as folder:
        held = await attach.attach(Path(folder))
        db = Database(held.url, Settings())
        try:
            await _report(db)
        finally:
            await db.close()
            await held.close()


async def _report(db: Database) -> None:
    owner = FIRST
    await _sign_up(db, owner)
    groups = {size: await _group(db, owner) for size in SIZES}
    memory = {size: await _fill(db, group, size) for size, group in groups.items()}
    costs = {size: Costs() for size in SIZES}
    for turn in range(ROUNDS):
        for size, group in groups.items():
            await _turn(db, owner, group, costs[size], is_warm=turn > 0)
    print("| members | a post, µs | CPU of Perch, µs | CPU of the store, µs | round trips |\n|---|---|---|---|---|")
    for size, found in costs.items():
        figures = [f"{statistics.median(some):.0f}" for some in (found.elapsed, found.own, found.stores)]
        print(f"| {size:,} | {' | '.join(figures)} | {max(found.trips):.0f} |")
    print("\n| members | bytes of a membership, at the group and in the member's index |\n|---|---|")
    for size, each in memory.items():
        print(f"| {size:,} | {each:.0f} |")


async def _sign_up(db: Database, member: int) -> None:
    """Make as much of a member as posting needs."""
    names = (UserField.LOGIN, "owner", UserField.NAME, "Owner", UserField.BIO, "")
    counts = (UserField.FOLLOWERS, 0, UserField.FOLLOWING, 0, UserField.POSTS, 0)
    await db.ask(
        ("HSET", keys.user(member), *names, *counts),
        ("HSET", keys.credentials(member), CredentialsField.ROLE, "MEMBER"),
    )


async def _group(db: Database, owner: int) -> int:
    _, group, job = await changes.create(db, GroupDraft(owner, "Birds", "", GroupKind.PUBLIC))
    assert job
    await dispatch.finish(db, job)
    return group


async def _fill(db: Database, group: int, size: int) -> float:
    """Let members join, as the scripts write it; returns the bytes of each membership."""
    before = await db.used_memory()
    for start in range(1, size, BATCH):
        some = [FIRST + (n << 12) + (n % 256 << 4) for n in range(start, min(start + BATCH, size))]
        pairs = [part for member in some for part in (member, member)]
        indexes = (("ZADD", keys.memberships(member), member, group) for member in some)
        await db.ask(("ZADD", keys.group_members(group), *pairs), *indexes)
    return (await db.used_memory() - before) / (size - 1)


async def _turn(db: Database, owner: int, group: int, costs: Costs, *, is_warm: bool) -> None:
    trips, stores, own, begun = db.round_trips, await _cpu(db), time.process_time(), time.perf_counter()
    for turn in range(POSTS):
        _, _, job = await create(db, Draft(owner, f"words {turn} #tea", hashtags=("tea",), group=group))
        assert job
        await dispatch.finish(db, job)
    elapsed, used = time.perf_counter() - begun, time.process_time() - own
    stores = await _cpu(db) - stores
    if is_warm:
        for some, seconds in ((costs.elapsed, elapsed), (costs.own, used), (costs.stores, stores)):
            some.append(seconds / POSTS * 1e6)
        costs.trips.add((db.round_trips - trips - 2) / POSTS)


async def _cpu(db: Database) -> float:
    facts = dict(line.split(":", 1) for line in str(await db.one("INFO", "cpu")).splitlines() if ":" in line)
    return float(facts["used_cpu_user"]) + float(facts["used_cpu_sys"])


if __name__ == "__main__":
    asyncio.run(main())
