"""What members are told of others: each kind made once, and taken back with its cause."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from resolvers.jobs.worker import Worker
from resolvers.operation.context import Services
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.people import PASSWORD, Member, crowd, shrunk
from tests.support.telling import Brief, named, nodes, say, stand, told, unread
from tests.support.work import number, work_off

KEPT = 5


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a few notifications and mentions."""
    return shrunk(settings, notifications_kept=KEPT, mentions_kept=KEPT)


@dataclass(frozen=True)
class Cause:
    """Something that bob does to alice, what she is told of it, and how it is undone."""

    name: str
    kind: str
    act: Callable[[Member, Member, str], Awaitable[str]]  # by bob, to alice, on a post of hers; returns what it makes
    undo: Callable[[Member, Member, str, str], Awaitable[object]]
    about: str  # what is told of: `post`, `made`, `both` for a post and a comment below it, or ``

    def expected(self, post: str, made: str) -> Brief:
        about, comment = {"": (None, None), "post": (post, None), "made": (made, None), "both": (post, made)}[
            self.about
        ]
        return self.kind, "bob", about, comment


async def _like(bob: Member, _: Member, post: str) -> str:
    await bob.do("like", postId=post)
    return ""


async def _follow(bob: Member, alice: Member, _: str) -> str:
    await bob.follow(alice)
    return ""


CAUSES = [
    Cause("like", "LIKE", _like, lambda b, _, post, __: b.do("unlike", postId=post), "post"),
    Cause("repost", "REPOST", lambda b, _, p: b.repost(p), lambda b, _, p, __: b.do("unrepost", postId=p), "post"),
    Cause(
        "repost deleted",
        "REPOST",
        lambda b, _, p: b.repost(p),
        lambda b, _, __, m: b.do("deletePost", postId=m),
        "post",
    ),
    Cause(
        "quote", "QUOTE", lambda b, _, p: b.repost(p, "so"), lambda b, _, __, m: b.do("deletePost", postId=m), "made"
    ),
    Cause(
        "quote hidden",
        "QUOTE",
        lambda b, _, p: b.repost(p, "so"),
        lambda b, _, __, m: b.do("hidePost", postId=m),
        "made",
    ),
    Cause(
        "comment",
        "COMMENT",
        lambda b, _, p: say(b, p, "so"),
        lambda b, _, __, m: b.do("deleteComment", commentId=m),
        "both",
    ),
    Cause(
        "comment removed",
        "COMMENT",
        lambda b, _, p: say(b, p, "so"),
        lambda _, a, __, m: a.do("deleteComment", commentId=m),
        "both",
    ),
    Cause("follow", "FOLLOW", _follow, lambda b, a, *_: b.unfollow(a), ""),
    Cause("follow ended", "FOLLOW", _follow, lambda b, a, *_: a.do("removeFollowers", userIds=[b.id]), ""),
    Cause(
        "mention",
        "MENTION",
        lambda b, _, __: b.post("hi @alice"),
        lambda b, _, __, m: b.do("deletePost", postId=m),
        "made",
    ),
    Cause(
        "account",
        "MENTION",
        lambda b, _, __: b.post("hi @alice"),
        lambda b, *_: b.do("deleteAccount", password=PASSWORD),
        "made",
    ),
    Cause("like by account", "LIKE", _like, lambda b, *_: b.do("deleteAccount", password=PASSWORD), "post"),
    Cause("follow by account", "FOLLOW", _follow, lambda b, *_: b.do("deleteAccount", password=PASSWORD), ""),
]
of_each_cause = pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)


@of_each_cause
async def test_a_cause(alice: Member, bob: Member, carol: Member, worker: Worker, db: Database, cause: Cause) -> None:
    """What bob does is told once to alice and to nobody else, and taken back with it, from the list and the count."""
    post = await alice.post("hello")
    made = await cause.act(bob, alice, post)
    assert await told(alice) == [cause.expected(post, made)]
    assert await unread(alice) == 1
    assert await told(bob) == await told(carol) == []
    await cause.undo(bob, alice, post, made)
    assert await told(alice) == []
    await work_off(db, worker)
    assert await unread(alice) == 0


@of_each_cause
@pytest.mark.parametrize("relationship", ["blocked", "blocked_by", "muted"])
async def test_whom_one_does_not_want(
    db: Database, alice: Member, bob: Member, relationship: str, cause: Cause
) -> None:
    """Nothing is written of whom the member has blocked or muted, or who blocks them."""
    post = await alice.post("hello")
    await stand(db, relationship, alice, bob)
    await cause.act(bob, alice, post)
    assert await db.one("EXISTS", keys.notifications(number(alice.id))) == 0
    assert await unread(alice) == 0


async def test_nothing_of_oneself(db: Database, alice: Member) -> None:
    """Whatever a member does to their own posts, also naming themselves, tells them nothing."""
    post = await alice.post("hello @alice")
    await alice.do("like", postId=post)
    await say(alice, post, "me @alice")
    await alice.repost(post)
    await alice.repost(post, "quote @alice")
    assert await told(alice) == []
    assert await named(alice) == []
    assert await db.one("EXISTS", keys.notifications(number(alice.id)), keys.mentions(number(alice.id))) == 0


async def test_one_of_each_cause(alice: Member, bob: Member) -> None:
    """A quote or comment that names whom it is told to is told once; naming somebody twice is naming them once."""
    post = await alice.post("hello")
    quote = await bob.repost(post, "see @alice")
    comment = await say(bob, post, "yes @alice")
    word = await bob.post("@alice @Alice")
    briefs = await told(alice)
    assert briefs == [
        ("MENTION", "bob", word, None),
        ("COMMENT", "bob", post, comment),
        ("QUOTE", "bob", quote, None),
    ]
    assert await named(alice) == [word, comment, quote]


async def test_what_is_done_again(alice: Member, bob: Member) -> None:
    """What is done twice is told once; what is taken back and done again is told anew, as unread."""
    post = await alice.post("hello")
    for _ in range(2):
        await bob.do("like", postId=post)
        await bob.follow(alice)
        await bob.repost(post)
    first = await nodes(alice)
    assert [node["kind"] for node in first] == ["REPOST", "FOLLOW", "LIKE"]
    await alice.do("markNotificationsRead")
    await bob.do("unlike", postId=post)
    await bob.do("like", postId=post)
    again = await nodes(alice)
    assert [node["kind"] for node in again] == ["LIKE", "REPOST", "FOLLOW"]
    assert again[0]["id"] not in {node["id"] for node in first}
    assert [node["isRead"] for node in again] == [False, True, True]


async def test_a_deleted_post(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """All that was told of a post goes with it: likes, reposts, comments, and whom it and its comments name."""
    post, other = await alice.post("hello @carol"), await alice.post("other")
    for act in ("like", "repost"):
        await bob.do(act, postId=post)
    await say(bob, post, "look @carol")
    quote = await bob.repost(post, "quote")
    await bob.do("like", postId=other)
    assert len(await told(alice)) == KEPT
    assert len(await told(carol)) == 2
    await alice.do("deletePost", postId=post)
    assert await told(alice) == [("LIKE", "bob", other, None), ("QUOTE", "bob", quote, None)]
    assert await told(carol) == []
    assert await named(carol) == []
    await bob.do("deletePost", postId=quote)
    assert await told(alice) == [("LIKE", "bob", other, None)]
    assert (await unread(alice), await unread(carol)) == (1, 0)
    assert await db.one("EXISTS", keys.mentions(number(carol.id))) == 0


async def test_what_is_hidden(alice: Member, bob: Member) -> None:
    """A hidden post that names a member is out of their sight until it is shown again; a hidden quote is told anew."""
    word = await bob.post("hi @alice")
    quote = await bob.repost(await alice.post("hello"), "so")
    for post in (word, quote):
        await bob.do("hidePost", postId=post)
    assert (await told(alice), await named(alice)) == ([], [])
    for post in (word, quote):
        await bob.do("unhidePost", postId=post)
    assert await told(alice) == [("QUOTE", "bob", quote, None), ("MENTION", "bob", word, None)]
    assert await named(alice) == [word]


async def test_the_bound(db: Database, anonymous: Member, alice: Member) -> None:
    """The newest are kept, and one that was trimmed comes back by no repetition."""
    post = await alice.post("hello")
    members = await crowd(anonymous, KEPT + 2)
    for member in members:
        await member.do("like", postId=post)
        await member.post("hi @alice")
    briefs = await told(alice)
    assert len(briefs) == KEPT
    assert briefs[0][:2] == ("MENTION", members[-1].login)
    assert len(await named(alice)) == KEPT
    await members[0].do("like", postId=post)
    assert await told(alice) == briefs
    assert await db.one("ZCARD", keys.notifications(number(alice.id))) == KEPT


async def test_many_at_once(services: Services, anonymous: Member, alice: Member) -> None:
    """Each of many who act at the same moment is told of once."""
    services.db.settings = shrunk(services.settings, notifications_kept=100)
    members = await crowd(anonymous, 20)
    post = await alice.post("hello")
    await asyncio.gather(*(member.do("like", postId=post) for member in members * 2))
    briefs = await told(alice)
    assert sorted(actor for _, actor, *_ in briefs) == sorted(member.login for member in members)
    await asyncio.gather(*(member.do("unlike", postId=post) for member in members * 2))
    assert (await told(alice), await unread(alice)) == ([], 0)
