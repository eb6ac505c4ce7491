"""The live home agrees with the stored one, whatever the members do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from resolvers import fanout, streams
from resolvers.context import Services
from resolvers.fanout import Worker
from store import posts, relations
from store.connection import Database
from store.settings import Settings
from tests.conftest import Member, shrunk, sign_up
from tests.live import HOME, fetched, followers, keep_up, now, subscribed, until, watching
from tests.work import number, work_off


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, shrunk as a test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


class Script:
    """Random acts of a few members, the same for the same seed."""

    def __init__(self, members: list[Member], seed: int) -> None:
        self._lot = random.Random(seed)  # noqa: S311  which acts are tried, no secret
        self._members = members
        self._posts: dict[str, Member] = {}  # statuses and quotes, with their authors
        self._hidden: dict[str, Member] = {}

    async def act(self) -> None:
        """Do something that may be done now."""
        acts: list[Callable[[Member], Awaitable[None]]]
        acts = [self._post, self._follow, self._unfollow, self._remove_follower]
        if self._posts:
            acts += [self._repost] * 4 + [self._unrepost] * 2 + [self._quote, self._delete, self._hide]
        if self._hidden:
            acts += [self._unhide]
        await self._lot.choice(acts)(self._lot.choice(self._members))

    async def _post(self, member: Member) -> None:
        self._posts[await member.post("words")] = member

    async def _quote(self, member: Member) -> None:
        self._posts[await member.repost(self._any(), "more words")] = member

    async def _repost(self, member: Member) -> None:
        await member.repost(self._any())

    async def _unrepost(self, member: Member) -> None:
        await member.do("unrepost", postId=self._any())

    async def _delete(self, _member: Member) -> None:
        post = self._any()
        await self._posts.pop(post).do("deletePost", postId=post)

    async def _hide(self, _member: Member) -> None:
        post = self._any()
        self._hidden[post] = self._posts.pop(post)
        await self._hidden[post].do("hidePost", postId=post)

    async def _unhide(self, _member: Member) -> None:
        post = self._lot.choice(list(self._hidden))
        self._posts[post] = self._hidden.pop(post)
        await self._posts[post].do("unhidePost", postId=post)

    async def _follow(self, member: Member) -> None:
        await member.follow(*self._lot.sample(self._others(member), 2))

    async def _unfollow(self, member: Member) -> None:
        await member.unfollow(self._lot.choice(self._others(member)))

    async def _remove_follower(self, member: Member) -> None:
        await member.do("removeFollowers", userIds=[self._lot.choice(self._others(member)).id])

    def _any(self) -> str:
        return self._lot.choice(list(self._posts))

    def _others(self, member: Member) -> list[Member]:
        return [other for other in self._members if other is not member]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings", [{}, {"big_author": 2}], indirect=True, ids=["pushed", "pulled"])
async def test_agreement_with_the_stored_home(
    db: Database, worker: Worker, anonymous: Member, alice: Member, bob: Member, carol: Member, seed: int
) -> None:
    """A home fetched before a random script is after it, by events, the home fetched then, pushed or pulled.

    So it is for a subscriber who listens all the time, for one who comes back at the end, and for one who comes and
    goes, even in the middle of what one act has changed.
    """
    script, lot = Script([alice, bob, carol, await sign_up(anonymous, "dave")], seed), random.Random(seed)  # noqa: S311
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


@pytest.mark.parametrize("seed", range(3))
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
    script = Script([alice, bob, carol, await sign_up(anonymous, "dave")], seed)

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
        await fanout.finish(services.db, job)
        assert await stream.brief() == ("removed", late)


async def test_a_follow_announced_after_its_end(db: Database, services: Services, alice: Member, bob: Member) -> None:
    """A follow whose work is finished late, when it has long ended, brings nothing and nobody."""
    post = await alice.post("before")
    async with watching(bob, db) as stream:
        await until(lambda: followers(services, bob))
        job, _ = await relations.follow(services.db, number(bob.id), [number(alice.id)])
        assert job
        await bob.unfollow(alice)
        assert await stream.brief() == ("gap",)  # nobody knew of the follow that has ended
        await fanout.finish(services.db, job)
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
    monkeypatch.setattr(streams, "REPOSTS_SCANNED", 1)
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
