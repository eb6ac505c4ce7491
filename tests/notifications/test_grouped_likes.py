"""Likes of a post: one notification for all of a day, with who they are by."""

import asyncio
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.upkeep import verify
from store import keys
from store.client.database import Database
from store.ids import day_bounds, day_of
from tests.support.notifications import relate, unread
from tests.support.people import PASSWORD, Member, crowd
from tests.support.transport.live import NOTIFICATIONS, begun, subscribed
from tests.support.work import number, work_off

SHOWN = """{ viewer { notifications { nodes {
  id kind actor { login } actors(first: 2) { login } actorCount post { id } createdAt } } } }"""


async def shown(member: Member) -> list[dict[str, Any]]:
    """Return a member's notifications, newest first."""
    nodes: list[dict[str, Any]] = (await member.ask(SHOWN))["notifications"]["nodes"]
    return nodes


async def actors(member: Member) -> list[tuple[str, list[str], int]]:
    """Return kind, actors and number of actors of a member's notifications."""
    found = await shown(member)
    for node in found:
        assert node["actor"] == next(iter(node["actors"]), None)
    return [(node["kind"], [actor["login"] for actor in node["actors"]], node["actorCount"]) for node in found]


async def age(db: Database, member: Member, post: str, liker: Member, days: int = 1) -> None:
    """Make a like, and the notification of its day, older by some days."""
    likes, log = keys.likes(number(post)), keys.notifications(number(member.id))
    made = int(await db.one("ZSCORE", likes, number(liker.id)))
    older = made - days * day_bounds(1)[0]
    await db.ask(
        ("ZADD", likes, older, number(liker.id)),
        ("ZREM", log, f"LIKE:0:{number(post)}:{day_of(made)}"),
        ("ZADD", log, older, f"LIKE:0:{number(post)}:{day_of(older)}"),
    )


async def test_likes_of_a_day(db: Database, alice: Member, anonymous: Member) -> None:
    """All likes of a post have one notification, whose actors are the newest likers and whose id stays."""
    post = await alice.post("hello")
    members = await crowd(anonymous, 3)
    await members[0].do("like", postId=post)
    (first,) = await shown(alice)
    for member in members[1:]:
        await member.do("like", postId=post)
    (last,) = await shown(alice)
    assert (last["id"], last["createdAt"], last["post"]) == (first["id"], first["createdAt"], {"id": post})
    assert await actors(alice) == [("LIKE", ["one2", "one1"], 3)]
    assert await unread(alice) == 1
    assert await db.one("ZCARD", keys.notifications(number(alice.id))) == 1


async def test_days_and_posts(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Likes of another day, and of another post, have notifications of their own."""
    post, other = await alice.post("hello"), await alice.post("again")
    await bob.do("like", postId=post)
    await age(db, alice, post, bob)
    await carol.do("like", postId=post)
    await bob.do("like", postId=other)
    assert await actors(alice) == [("LIKE", ["bob"], 1), ("LIKE", ["carol"], 1), ("LIKE", ["bob"], 1)]
    assert [node["post"]["id"] for node in await shown(alice)] == [other, post, post]
    await bob.do("unlike", postId=post)
    assert await actors(alice) == [("LIKE", ["bob"], 1), ("LIKE", ["carol"], 1)]


async def test_read_once(alice: Member, bob: Member, carol: Member) -> None:
    """A further like of the day leaves a notification read, as the post was liked on that day."""
    post = await alice.post("hello")
    await bob.do("like", postId=post)
    await alice.do("markNotificationsRead")
    await carol.do("like", postId=post)
    assert await unread(alice) == 0
    assert await actors(alice) == [("LIKE", ["carol", "bob"], 2)]


async def test_the_last_like(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """The notification stays until the last like of the day is undone, whichever was first; alice's own is none."""
    post = await alice.post("hello")
    for member in (bob, carol, alice):
        await member.do("like", postId=post)
    await bob.do("unlike", postId=post)
    assert await actors(alice) == [("LIKE", ["carol"], 1)]
    for _ in range(2):
        await carol.do("unlike", postId=post)
    assert await actors(alice) == []
    assert await unread(alice) == 0
    assert await db.one("ZCARD", keys.withdrawn_notifications(number(alice.id))) == 1


async def test_the_account_of_the_last(alice: Member, bob: Member, worker: Worker, db: Database) -> None:
    """The notification goes with the account of the only one who liked the post."""
    await bob.do("like", postId=await alice.post("hello"))
    await bob.do("deleteAccount", password=PASSWORD)
    await work_off(db, worker)
    assert (await actors(alice), await unread(alice)) == ([], 0)


@pytest.mark.parametrize("act", ["block", "mute"])
async def test_a_block_or_mute(db: Database, alice: Member, bob: Member, carol: Member, act: str) -> None:
    """A block or mute withdraws the notification of the only like, and hides one liker among others."""
    shared, own = await alice.post("liked by two"), await alice.post("liked by bob")
    for member, post in ((carol, shared), (bob, shared), (bob, own)):
        await member.do("like", postId=post)
    await alice.do(act, userIds=[bob.id])
    assert [(kind, names) for kind, names, _ in await actors(alice)] == [("LIKE", ["carol"])]
    assert await unread(alice) == 1
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    assert report.findings == []


@pytest.mark.parametrize("relationship", ["blocked", "blocked_by", "muted"])
async def test_whom_one_does_not_want(
    db: Database, alice: Member, bob: Member, carol: Member, relationship: str
) -> None:
    """Where only members like a post whom its author does not want, there is no notification; others bring it."""
    post = await alice.post("hello")
    await bob.do("like", postId=post)
    await relate(db, relationship, alice, bob)
    assert await actors(alice) == []
    await carol.do("like", postId=post)
    assert [(kind, names) for kind, names, _ in await actors(alice)] == [("LIKE", ["carol"])]


async def test_suspended(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A suspended member is not named."""
    post = await alice.post("hello")
    for member in (carol, bob):
        await member.do("like", postId=post)
    await db.one("HSET", keys.user(number(bob.id)), "suspended", 1)
    assert [(kind, names) for kind, names, _ in await actors(alice)] == [("LIKE", ["carol"])]


async def test_live(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """The first like of a day and the end of the last one are live events; those between are none."""
    post = await alice.post("hello")
    async with subscribed(alice, NOTIFICATIONS) as stream:
        await begun(db, alice)
        await bob.do("like", postId=post)
        notification = (await stream.next())["notification"]
        assert (notification["kind"], notification["actor"]["login"]) == ("LIKE", "bob")
        await carol.do("like", postId=post)
        await bob.do("unlike", postId=post)
        await carol.do("unlike", postId=post)
        event = await stream.next()
        assert (event["__typename"], event["notificationId"]) == ("NotificationWithdrawn", notification["id"])


async def test_many_at_once(db: Database, anonymous: Member, alice: Member) -> None:
    """Many simultaneous likes have one notification, and none when all are undone."""
    members = await crowd(anonymous, 20)
    post = await alice.post("hello")
    await asyncio.gather(*(member.do("like", postId=post) for member in members * 2))
    assert [(kind, count) for kind, _, count in await actors(alice)] == [("LIKE", 20)]
    await asyncio.gather(*(member.do("unlike", postId=post) for member in members * 2))
    assert (await actors(alice), await unread(alice)) == ([], 0)
    assert await db.one("EXISTS", keys.notifications(number(alice.id))) == 0


async def test_actors_of_other_kinds(alice: Member, bob: Member) -> None:
    """A notification of another kind has its one actor; a wrong number of actors is refused."""
    await bob.follow(alice)
    assert await actors(alice) == [("FOLLOW", ["bob"], 1)]
    for first in (0, 101):
        query = f"{{ viewer {{ notifications {{ nodes {{ actors(first: {first}) {{ id }} }} }} }} }}"
        assert await alice.fail(query) == "BAD_USER_INPUT"


async def test_before_the_migration(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A notification of one like, as layout 3 had it, is shown, and is withdrawn with its like."""
    post = await alice.post("hello")
    likes, log = keys.likes(number(post)), keys.notifications(number(alice.id))
    for member in (bob, carol):
        await member.do("like", postId=post)
        made = await db.one("ZSCORE", likes, number(member.id))
        await db.ask(("ZREMRANGEBYRANK", log, 0, -1)) if member is bob else None
        await db.one("ZADD", log, made, f"LIKE:{number(member.id)}:{number(post)}:0")
    await db.one("ZREM", log, f"LIKE:0:{number(post)}:{day_of(int(made))}")
    assert await actors(alice) == [("LIKE", ["carol"], 1), ("LIKE", ["bob"], 1)]
    await bob.do("unlike", postId=post)
    assert await actors(alice) == [("LIKE", ["carol"], 1)]
