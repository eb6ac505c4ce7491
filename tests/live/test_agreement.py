"""The live home agrees with the stored one after random changes."""

import asyncio
import os
import random
from contextlib import suppress

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.live import home
from resolvers.process.services import Services
from store import follows, posts
from store.client.database import Database
from store.settings import Settings
from tests.support.model.facts import SOON
from tests.support.people import Member, shrunk, sign_up
from tests.support.scripts import Script
from tests.support.slow import few
from tests.support.transport.live import HOME, fetched, followers, keep_up, now, subscribed, until, watching
from tests.support.work import number, work_off

SEEDS = int(os.environ.get("PERCH_MODEL_SEEDS", "3"))


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, reduced as the test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


@pytest.mark.parametrize("seed", few(range(SEEDS)))
@pytest.mark.parametrize(
    "settings",
    [{}, {"big_author": 2}, {"repost_lift_hours": SOON}, {"repost_lift_hours": SOON, "big_author": 2}],
    indirect=True,
    ids=["pushed", "pulled", "lifted", "lifted and pulled"],
)
async def test_agreement_with_the_stored_home(
    db: Database, worker: Worker, anonymous: Member, alice: Member, bob: Member, carol: Member, seed: int
) -> None:
    """A home fetched before a random script and updated by events equals the home fetched after, pushed or pulled.

    One subscriber listens all the time, and one resumes at the end. A third leaves and resumes again and again, even
    in the middle of one change's events.
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


@pytest.mark.parametrize("seed", few(range(SEEDS)))
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
    """The same holds when several members act at the same time, once all jobs are done."""
    script = Script(db, [alice, bob, carol, await sign_up(anonymous, "dave")], seed)

    async def act() -> None:
        with suppress(AssertionError):  # deleting what another member has just deleted is refused
            await script.act()

    held = await fetched(alice)
    async with watching(alice, db) as stream:
        await until(lambda: followers(services, alice))
        for _ in range(15):
            await asyncio.gather(*(act() for _ in range(5)))
        await work_off(db, worker)
        await keep_up(held, stream, await alice.post("the end"))
    assert held.lines() == (await fetched(alice)).lines()


# ------------------------------------------------------------ late and out-of-order events


async def test_a_delete_announced_after_the_unfollow(
    db: Database, services: Services, alice: Member, bob: Member
) -> None:
    """A post deleted before an unfollow is removed, even if the deletion is announced after it."""
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
    """A follow whose job finishes long after the unfollow adds no posts and no subscription to the member's events."""
    post = await alice.post("before")
    async with watching(bob, db) as stream:
        await until(lambda: followers(services, bob))
        job, _ = await follows.follow(services.db, number(bob.id), [number(alice.id)])
        assert job
        await bob.unfollow(alice)
        assert await stream.brief() == ("gap",)  # the subscription never knew of the ended follow
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
    """A post with more reposts than are scanned still names the followed members who reposted it."""
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
async def test_a_follow_of_whom_reposts_had_listed(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post that a repost had added moves to its own place, however far down, when its author is followed."""
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
