"""Follows that end while a delivery on a cluster is under way, in every order of their steps."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import permutations

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.process.services import Services
from store import blocks, follows
from store.client.database import Database
from store.homes import fanout
from store.homes import stored as homes
from store.homes.fanout import Delivery
from store.records.jobs import Job
from store.settings import Settings
from tests.support.grouping import Grouping
from tests.support.people import Member, crowd
from tests.support.work import number

# The end of a follow is committed, and its job is done. The followers are read, and the post is added to their homes.
# Before, between or after these, the same process delivers a post by somebody else.
STEPS = ("commit", "job", "read", "add", "other")
ORDERS = [
    order
    for order in permutations(STEPS)
    if order.index("commit") < order.index("job") and order.index("read") < order.index("add")
]

End = Callable[[Database, int, int], Awaitable[Job | None]]


async def blocks_them(db: Database, follower: int, author: int) -> Job | None:
    """Let the follower block the author."""
    job, _ = await blocks.block(db, follower, [author])
    return job


async def is_blocked(db: Database, follower: int, author: int) -> Job | None:
    """Let the author block the follower."""
    job, _ = await blocks.block(db, author, [follower])
    return job


ENDS: dict[str, End] = {
    "unfollow": lambda db, follower, author: follows.unfollow(db, follower, [author]),
    "removal": lambda db, follower, author: follows.remove_followers(db, author, [follower]),
    "block by the follower": blocks_them,
    "block by the author": is_blocked,
}


@pytest.fixture
async def grouping(settings: Settings) -> AsyncIterator[Grouping]:
    made = Grouping(settings.redis_url, settings)
    yield made
    await made.close()


@pytest.fixture
async def fans(anonymous: Member, alice: Member, bob: Member) -> list[Member]:
    """Followers of alice and bob, one for each order."""
    made = await crowd(anonymous, len(ORDERS))
    for member in made:
        await member.follow(alice, bob)
    return made


async def deliver(db: Database, post: int, author: int) -> None:
    """Deliver a post to all followers of its author."""
    batch = fanout.begin(db, Delivery(author, post, author), 0, len(ORDERS))
    await fanout.finish(db, batch, await db.one(*batch.command))


async def ends_meanwhile(
    order: tuple[str, ...], grouping: Grouping, db: Database, end: End, fan: int, authors: tuple[int, int], post: int
) -> None:
    """Deliver a post of the first author, whom a fan ceases to follow meanwhile. The second author also posts."""
    (author, other), job, batch, reply = authors, None, None, None
    for step in order:
        if step == "commit":
            job = await end(db, fan, author)
        elif step == "job":
            assert job
            await dispatch.perform(db, job, Budget(math.inf))
        elif step == "read":
            batch = fanout.begin(grouping, Delivery(author, post, author), 0, len(ORDERS))
            reply = await grouping.one(*batch.command)
        elif step == "add":
            assert batch is not None
            assert reply is not None
            await fanout.finish(grouping, batch, reply)
        else:
            await deliver(grouping, await db.mint(), other)


@pytest.mark.parametrize("end", ENDS)
async def test_a_follow_that_ends(
    grouping: Grouping, services: Services, alice: Member, bob: Member, fans: list[Member], end: str
) -> None:
    """However a follow ends, the former follower's home has no post of the author, in any order of the steps."""
    me, other, db = number(alice.id), number(bob.id), services.db
    post = number(await alice.post("to all"))
    members = [number(fan.id) for fan in fans]
    await fanout.retract(db, Delivery(me, post, me), members)
    await deliver(grouping, number(await bob.post("hello")), other)
    for order, fan in zip(ORDERS, members, strict=True):
        await ends_meanwhile(order, grouping, db, ENDS[end], fan, (me, other), post)
        assert post not in [entry.entity for entry in await homes.home(db, fan)], order
        await fanout.retract(db, Delivery(me, post, me), members)


async def test_without_an_end(grouping: Grouping, services: Services, alice: Member, fans: list[Member]) -> None:
    """Deliveries that look up no follow again reach every follower."""
    me, post = number(alice.id), number(await alice.post("to all"))
    members = [number(fan.id) for fan in fans]
    await deliver(grouping, await services.db.mint(), me)
    await fanout.retract(services.db, Delivery(me, post, me), members)
    await deliver(grouping, post, me)
    stored = await asyncio.gather(*(homes.home(services.db, member) for member in members))
    assert all(post in [entry.entity for entry in home] for home in stored)
