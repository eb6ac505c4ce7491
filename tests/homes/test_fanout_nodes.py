"""Fan-out on a cluster: the followers are read first, and each node gets a script for those that it has."""

import math
import random
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.process.services import Services
from store import keys, posts
from store.client.database import Command, Database
from store.client.lua import SCRIPTS
from store.homes import fanout
from store.homes import stored as homes
from store.homes.fanout import APPENDED, CHANGED, Delivery
from store.ids import PARTITIONS, partition
from store.posts import PostDraft
from store.refusals import accepted
from store.settings import Settings
from tests.support.grouping import Grouping
from tests.support.people import Member, crowd
from tests.support.work import number

FANS, MANY = 6, 2_000
DIGESTS = {SCRIPTS[name].digest for name in ("deliver_to", "retract")}


class Recording(Grouping):
    """Records the members for whom each script was called that delivers or retracts."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.redis_url, settings)
        self.calls: list[list[int]] = []

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        self.calls += [_members(command) for command in commands if command[1:2] and command[1] in DIGESTS]
        return await super().run(commands)


def _members(command: Command) -> list[int]:
    first = next(i for i, word in enumerate(command) if str(word).startswith("{"))
    return [int(word) for word in command[first:] if str(word).isdigit() and int(word) > MANY]


@pytest.fixture
async def grouping(settings: Settings, services: Services) -> AsyncIterator[Recording]:
    made = Recording(settings)
    yield made
    await made.close()


@pytest.fixture
async def fans(anonymous: Member, alice: Member) -> list[Member]:
    """Alice's followers, oldest follow first."""
    made = await crowd(anonymous, FANS)
    for member in made:
        await member.follow(alice)
    return made


async def many(db: Database, followed: int) -> list[int]:
    """Return many followers without homes, oldest follow first. Only the list of followers has them."""
    lot = random.Random(1)  # noqa: S311  which partitions they are in, no secret
    made = [(i << 12) + (lot.randrange(PARTITIONS) << 4) for i in range(MANY, 2 * MANY)]
    await db.one("ZADD", keys.followers(followed), *(word for i, one in enumerate(made) for word in (i + 1, one)))
    return made


async def deliver(db: Database, delivery: Delivery, count: int) -> int:
    """Deliver to the first followers; returns how many there were."""
    batch = fanout.begin(db, delivery, 0, count)
    return (await fanout.finish(db, batch, await db.one(*batch.command))).followers


async def stored(db: Database, member: Member) -> list[int]:
    """Return the posts of a home, newest first."""
    return [entry.entity for entry in await homes.home(db, number(member.id))]


def assert_grouped(grouping: Recording, members: list[int], most: int) -> None:
    """Assert that the calls have each member once, and each call the members of one node, partition by partition."""
    assert sorted(member for call in grouping.calls for member in call) == sorted(members)
    for call in grouping.calls:
        parts = [partition(member) for member in call]
        assert len(set(map(grouping.node_index, parts))) == 1
        assert parts == sorted(parts)
        assert len(call) <= most


@pytest.mark.parametrize(("repost", "most"), [(None, APPENDED), (99 << 12, CHANGED)])
async def test_groups(grouping: Recording, alice: Member, repost: int | None, most: int) -> None:
    """A delivery and its retraction send each follower once, to the node of their partition, in two round trips."""
    me = number(alice.id)
    members = await many(grouping, me)
    delivery = Delivery(me, 98 << 12, me, repost)
    before = grouping.round_trips
    assert await deliver(grouping, delivery, MANY) == MANY
    assert grouping.round_trips == before + 2
    assert_grouped(grouping, members, most)
    grouping.calls.clear()
    await fanout.retract(grouping, delivery, members)
    assert grouping.round_trips == before + 3
    assert_grouped(grouping, members, CHANGED)


async def test_the_store_itself(services: Services, alice: Member) -> None:
    """A delivery takes one round trip on one server, and two on a cluster."""
    me = number(alice.id)
    await many(services.db, me)
    before = services.db.round_trips
    assert await deliver(services.db, Delivery(me, 98 << 12, me), 500) == 500
    assert services.db.round_trips == before + 1 + services.db.is_cluster


async def test_a_job(grouping: Recording, alice: Member, bob: Member, fans: list[Member]) -> None:
    """A job delivers a post or a repost to every follower, and the job of its deletion removes it again."""
    me, theirs = number(alice.id), number(await bob.post("well"))
    post = PostDraft(me, "hello")
    repost = PostDraft(me, "", original=theirs, original_author=number(bob.id))
    for draft, listed in ((post, None), (repost, theirs)):
        _, made, job = accepted(await posts.create(grouping, draft))
        assert job
        await dispatch.perform(grouping, job, Budget(math.inf))
        assert [await stored(grouping, member) for member in fans] == [[listed or made]] * FANS
        end = await posts.delete(grouping, made, me)
        assert end
        await dispatch.perform(grouping, end, Budget(math.inf))
        assert [await stored(grouping, member) for member in fans] == [[]] * FANS


@pytest.mark.parametrize("removed", [False, True])
async def test_a_follow_that_ends_in_between(
    grouping: Recording, services: Services, alice: Member, fans: list[Member], *, removed: bool
) -> None:
    """A follow that ends after the followers were read, and whose posts are gone from the home, gets no post."""
    me = number(alice.id)
    delivery = Delivery(me, number(await alice.post("to all")), me)
    await fanout.retract(grouping, delivery, [number(member.id) for member in fans])
    batch = fanout.begin(grouping, delivery, 0, FANS)
    read = await grouping.one(*batch.command)
    if removed:
        await alice.do("removeFollowers", userIds=[fans[0].id])
    else:
        await fans[0].unfollow(alice)
    assert (await fanout.finish(grouping, batch, read))[0] == FANS
    assert [bool(await stored(services.db, member)) for member in fans] == [False] + [True] * (FANS - 1)


async def test_a_repeated_batch(grouping: Recording, services: Services, alice: Member, fans: list[Member]) -> None:
    """Delivering a batch again changes nothing."""
    me = number(alice.id)
    delivery = Delivery(me, number(await alice.post("to all")), me)
    for _ in range(2):
        assert await deliver(grouping, delivery, FANS) == FANS
    assert [await stored(services.db, member) for member in fans] == [[delivery.post]] * FANS
