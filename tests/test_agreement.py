"""The live home agrees with the stored one, whatever the members do."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

import pytest

from store.connection import Database
from tests.conftest import Member, sign_up
from tests.live import HOME, fetched, keep_up, now, subscribed, watching


class Script:
    """Random acts of a few members, the same for the same seed."""

    def __init__(self, members: list[Member], seed: int) -> None:
        self._lot = random.Random(seed)  # noqa: S311  which acts are tried, no secret
        self._members = members
        self._posts: dict[str, Member] = {}  # statuses and quotes, with their authors

    async def act(self) -> None:
        """Do something that may be done now."""
        acts: list[Callable[[Member], Awaitable[None]]]
        acts = [self._post, self._follow, self._unfollow, self._remove_follower]
        if self._posts:
            acts += [self._repost] * 4 + [self._unrepost] * 2 + [self._quote, self._delete]
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


@pytest.mark.parametrize("seed", range(4))
async def test_agreement_with_the_stored_home(
    db: Database, anonymous: Member, alice: Member, bob: Member, carol: Member, seed: int
) -> None:
    """A home fetched before a random script is after it, by events, the home fetched then.

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
