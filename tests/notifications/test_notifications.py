"""Notifications: each kind is created once, and withdrawn with its cause."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.notifications import Brief, named, nodes, notifications_of, relate, say, unread
from tests.support.people import PASSWORD, Member, crowd, shrunk
from tests.support.work import number, work_off

KEPT = 5


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a few notifications and mentions."""
    return shrunk(settings, notifications_kept=KEPT, mentions_kept=KEPT)


@dataclass(frozen=True)
class Cause:
    """An act of bob's towards alice, her notification of it, and how it is undone."""

    name: str
    kind: str
    act: Callable[[Member, Member, str], Awaitable[str]]  # by bob, to alice, on a post of hers; returns what it makes
    undo: Callable[[Member, Member, str, str], Awaitable[object]]
    about: str  # subject of the notification: `post`, `made`, `both` for a post and a comment below it, or ``

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
    """An act of bob's notifies alice once and nobody else, and is withdrawn with it, from the list and the count."""
    post = await alice.post("hello")
    made = await cause.act(bob, alice, post)
    assert await notifications_of(alice) == [cause.expected(post, made)]
    assert await unread(alice) == 1
    assert await notifications_of(bob) == await notifications_of(carol) == []
    await cause.undo(bob, alice, post, made)
    assert await notifications_of(alice) == []
    await work_off(db, worker)
    assert await unread(alice) == 0


@pytest.mark.parametrize(
    ("relationship", "cause"),
    [
        pytest.param(relationship, cause, id=f"{relationship}-{cause.name}")
        for relationship in ("blocked", "blocked_by", "muted")
        for cause in CAUSES
        if relationship != "blocked" or cause.act is not _follow  # such a follow is refused
    ],
)
async def test_whom_one_does_not_want(
    db: Database, alice: Member, bob: Member, relationship: str, cause: Cause
) -> None:
    """Nothing is written about members whom the member has blocked or muted, or who block them."""
    post = await alice.post("hello")
    await relate(db, relationship, alice, bob)
    await cause.act(bob, alice, post)
    assert await db.one("EXISTS", keys.notifications(number(alice.id))) == 0
    assert await unread(alice) == 0


async def test_nothing_of_oneself(db: Database, alice: Member) -> None:
    """Acts on one's own posts, mentions of oneself included, notify nobody."""
    post = await alice.post("hello @alice")
    await alice.do("like", postId=post)
    await say(alice, post, "me @alice")
    await alice.repost(post)
    await alice.repost(post, "quote @alice")
    assert await notifications_of(alice) == []
    assert await named(alice) == []
    assert await db.one("EXISTS", keys.notifications(number(alice.id)), keys.mentions(number(alice.id))) == 0


async def test_one_of_each_cause(alice: Member, bob: Member) -> None:
    """A quote or comment that also mentions its recipient notifies once; repeated mentions count once."""
    post = await alice.post("hello")
    quote = await bob.repost(post, "see @alice")
    comment = await say(bob, post, "yes @alice")
    word = await bob.post("@alice @Alice")
    briefs = await notifications_of(alice)
    assert briefs == [
        ("MENTION", "bob", word, None),
        ("COMMENT", "bob", post, comment),
        ("QUOTE", "bob", quote, None),
    ]
    assert await named(alice) == [word, comment, quote]


async def test_what_is_done_again(alice: Member, bob: Member) -> None:
    """A repeated act notifies once; an act undone and done again notifies again, as unread."""
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
    """All notifications about a deleted post are withdrawn: likes, reposts, comments, and mentions in or below it."""
    post, other = await alice.post("hello @carol"), await alice.post("other")
    for act in ("like", "repost"):
        await bob.do(act, postId=post)
    await say(bob, post, "look @carol")
    quote = await bob.repost(post, "quote")
    await bob.do("like", postId=other)
    assert len(await notifications_of(alice)) == KEPT
    assert len(await notifications_of(carol)) == 2
    await alice.do("deletePost", postId=post)
    assert await notifications_of(alice) == [("LIKE", "bob", other, None), ("QUOTE", "bob", quote, None)]
    assert await notifications_of(carol) == []
    assert await named(carol) == []
    await bob.do("deletePost", postId=quote)
    assert await notifications_of(alice) == [("LIKE", "bob", other, None)]
    assert (await unread(alice), await unread(carol)) == (1, 0)
    assert await db.one("EXISTS", keys.mentions(number(carol.id))) == 0


async def test_what_is_hidden(alice: Member, bob: Member) -> None:
    """A mention in a hidden post is out of sight until it is shown again; a hidden quote then notifies again."""
    word = await bob.post("hi @alice")
    quote = await bob.repost(await alice.post("hello"), "so")
    for post in (word, quote):
        await bob.do("hidePost", postId=post)
    assert (await notifications_of(alice), await named(alice)) == ([], [])
    for post in (word, quote):
        await bob.do("unhidePost", postId=post)
    assert await notifications_of(alice) == [("QUOTE", "bob", quote, None), ("MENTION", "bob", word, None)]
    assert await named(alice) == [word]


async def test_the_bound(db: Database, anonymous: Member, alice: Member) -> None:
    """The newest notifications are kept, and a repetition does not restore a trimmed one."""
    post = await alice.post("hello")
    members = await crowd(anonymous, KEPT + 2)
    for member in members:
        await member.do("like", postId=post)
        await member.post("hi @alice")
    briefs = await notifications_of(alice)
    assert len(briefs) == KEPT
    assert briefs[0][:2] == ("MENTION", members[-1].login)
    assert len(await named(alice)) == KEPT
    await members[0].do("like", postId=post)
    assert await notifications_of(alice) == briefs
    assert await db.one("ZCARD", keys.notifications(number(alice.id))) == KEPT


async def test_many_at_once(services: Services, anonymous: Member, alice: Member) -> None:
    """Many simultaneous acts notify once each."""
    services.db.settings = shrunk(services.settings, notifications_kept=100)
    members = await crowd(anonymous, 20)
    post = await alice.post("hello")
    await asyncio.gather(*(member.do("repost", postId=post) for member in members * 2))
    briefs = await notifications_of(alice)
    assert sorted(actor for _, actor, *_ in briefs) == sorted(member.login for member in members)
    await asyncio.gather(*(member.do("unrepost", postId=post) for member in members * 2))
    assert (await notifications_of(alice), await unread(alice)) == ([], 0)
