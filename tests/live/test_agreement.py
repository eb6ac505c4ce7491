"""The live home agrees with the stored one, whatever the members do."""

from __future__ import annotations

import asyncio
import os
import random
from contextlib import suppress

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.live import home
from resolvers.operation.context import Services
from store import follows, posts
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, shrunk, sign_up
from tests.support.scripts import Script
from tests.support.transport.live import HOME, fetched, followers, keep_up, now, subscribed, until, watching
from tests.support.work import number, work_off

SEEDS = int(os.environ.get("PERCH_MODEL_SEEDS", "3"))


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, shrunk as a test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("settings", [{}, {"big_author": 2}], indirect=True, ids=["pushed", "pulled"])
async def test_agreement_with_the_stored_home(
    db: Database, worker: Worker, anonymous: Member, alice: Member, bob: Member, carol: Member, seed: int
) -> None:
    """A home fetched before a random script is after it, by events, the home fetched then, pushed or pulled.

    So it is for a subscriber who listens all the time, for one who comes back at the end, and for one who comes and
    goes, even in the middle of what one act has changed.
    """
    script, lot = Script(db, [alice, bob, carol, await sign_up(anonymous, "dave")], seed), random.Random(seed)  # noqa: S311
    for _ in range(15):
        await script.act()
    steady, absent, fickle = await fetched(alice), await fetched(alice), await fetched(alice)
    begin = cursor = await now(db)
    async with watching(alice, db) as stream:
        for step in range(60):
            await script.act()
            if step % 10 == 0:
                await work_off(db, worker)
                mark = await alice.post("so far")
                async with subscribed(alice, HOME, after=cursor) as visit:
                    await keep_up(fickle, visit, mark, leave=lambda: lot.random() < 0.2)
                    cursor = visit.cursor
        last = await alice.post("the end")
        await keep_up(steady, stream, last)
    for held, since in ((absent, begin), (fickle, cursor)):
        async with subscribed(alice, HOME, after=since) as stream:
            await keep_up(held, stream, last)
    stored = (await fetched(alice)).lines()
    assert [held.lines() == stored for held in (steady, absent, fickle)] == [True] * 3


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_agreement_after_simultaneous_acts(
    db: Database,
    services: Services,
    worker: Worker,
    anonymous: Member,
    alice: Member,
    bob: Member,
    carol: Member,
    seed: int,
) -> None:
    """The same holds when several act at the same time, once all work is done."""
    script = Script(db, [alice, bob, carol, await sign_up(anonymous, "dave")], seed)

    async def act() -> None:
        with suppress(AssertionError):  # what another has just deleted is refused
            await script.act()

    held = await fetched(alice)
    async with watching(alice, db) as stream:
        await until(lambda: followers(services, alice))
        for _ in range(15):
            await asyncio.gather(*(act() for _ in range(5)))
        await work_off(db, worker)
        await keep_up(held, stream, await alice.post("the end"))
    assert held.lines() == (await fetched(alice)).lines()


# ------------------------------------------------------------ what comes late, or in the wrong order


async def test_a_delete_announced_after_the_unfollow(
    db: Database, services: Services, alice: Member, bob: Member
) -> None:
    """What was deleted before an unfollow and is announced only after it is taken out all the same."""
    await bob.follow(alice)
    late, other = await alice.post("deleted"), await alice.post("kept")
    async with watching(bob, db) as stream:
        await until(lambda: followers(services, bob))
        job = await posts.delete(services.db, number(late), number(alice.id))
        assert job
        await bob.unfollow(alice)
        assert await stream.brief() == ("removed", other)
        await dispatch.finish(services.db, job)
        assert await stream.brief() == ("removed", late)


async def test_a_follow_announced_after_its_end(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """A follow whose work is finished late, when it has long ended, brings nothing and nobody."""
    post = await alice.post("before")
    async with watching(bob, db) as stream:
        await until(lambda: followers(services, bob))
        job, _ = await follows.follow(services.db, number(bob.id), [number(alice.id)])
        assert job
        await bob.unfollow(alice)
        assert await stream.brief() == ("gap",)  # nobody knew of the follow that has ended
        await dispatch.finish(services.db, job)
        assert await stream.brief() == ("removed", post)
        await alice.post("after")
        own = await bob.post("mine")
        assert await stream.brief() == ("put", own)


async def test_a_repost_among_many(
    db: Database,
    anonymous: Member,
    alice: Member,
    bob: Member,
    carol: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where more have passed a post on than are looked at, those followed are named all the same."""
    monkeypatch.setattr(home, "REPOSTS_SCANNED", 1)
    await carol.follow(alice, bob)
    dave = await sign_up(anonymous, "dave")
    post = await dave.post("goes around")
    async with watching(carol, db) as stream:
        await dave.repost(post)
        await alice.repost(post)
        await bob.repost(post)
        assert await stream.brief() == ("put", post, "alice")
        assert await stream.brief() == ("put", post, "alice", "bob")


@pytest.mark.parametrize("settings", [{"home_size": 10, "home_slack": 1}], indirect=True)
async def test_a_follow_of_whom_reposts_had_brought(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post that a repost had brought moves to its own place when its author is followed, far down as that may be."""
    await carol.follow(alice)
    post = await bob.post("old")
    for i in range(20):
        await alice.post(f"newer {i}")
    await alice.repost(post)
    held = await fetched(carol)
    assert held.lines()[0][1] == post
    async with watching(carol, db) as stream:
        await carol.follow(bob)
        event = await stream.next()
        assert event["edge"]["cursor"] == f"home.{number(post):014x}"
        held.take(event)
    stored = (await fetched(carol)).lines()
    assert held.lines()[: len(stored)] == stored
