"""Layout 5: notifications of likes are grouped by post and day."""

from functools import partial

from resolvers.upkeep import migrate, verify
from resolvers.upkeep.progress import bar
from store import keys
from store.client.database import Database
from store.ids import day_bounds, day_of
from store.layout import likes
from tests.support.notifications import nodes, unread
from tests.support.people import Member
from tests.support.work import number


async def as_before(db: Database, member: Member, post: int, likers: list[Member]) -> list[int]:
    """Give each like of a member's post a notification of its own, as layout 4 had them; returns their ids."""
    log = keys.notifications(number(member.id))
    made = [int(await db.one("ZSCORE", keys.likes(post), number(liker.id))) for liker in likers]
    await db.one("ZREM", log, *{f"LIKE:0:{post}:{day_of(one)}" for one in made})
    for one, liker in zip(made, likers, strict=True):
        await db.one("ZADD", log, one, f"LIKE:{number(liker.id)}:{post}:0")
    return made


async def test_grouped(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Each post and day gets one notification, with the id of the first like; other kinds stay."""
    post, other = await alice.post("hello"), await alice.post("again")
    for member in (bob, carol):
        await member.do("like", postId=post)
    await carol.do("like", postId=other)
    await bob.follow(alice)
    first, _ = await as_before(db, alice, number(post), [bob, carol])
    (second,) = await as_before(db, alice, number(other), [carol])
    log = keys.notifications(number(alice.id))
    (follow,) = [entry for entry in await db.one("ZRANGE", log, 0, -1) if entry.startswith("FOLLOW")]
    await migrate.run(db, partial(bar, hidden=True))
    found = await db.one("ZRANGE", log, 0, -1, "WITHSCORES")
    likes_of = [f"LIKE:0:{number(one)}:{day_of(first)}" for one in (post, other)]
    assert dict(zip(found[0:4:2], map(int, found[1:4:2]), strict=True)) == dict(
        zip(likes_of, (first, second), strict=True)
    )
    assert found[4] == follow
    assert [(node["kind"], node["actor"]["login"]) for node in await nodes(alice)] == [
        ("FOLLOW", "bob"),
        ("LIKE", "carol"),
        ("LIKE", "carol"),
    ]
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    assert report.findings == []
    assert await likes.group(db, [number(alice.id)]) == 0


async def test_read_ones_stay_read(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A notification of which a like was read is read, and unread ones of other days stay unread."""
    post = await alice.post("hello")
    for member in (bob, carol):
        await member.do("like", postId=post)
    first, last = await as_before(db, alice, number(post), [bob, carol])
    await db.one("HSET", keys.notification_state(number(alice.id)), "read", first)
    assert await unread(alice) == 1
    await likes.group(db, [number(alice.id)])
    assert await unread(alice) == 0
    tomorrow = last + day_bounds(1)[0]
    await db.one("ZADD", keys.likes(number(post)), tomorrow, number(carol.id))
    await db.one("ZADD", keys.notifications(number(alice.id)), tomorrow, f"LIKE:{number(carol.id)}:{number(post)}:0")
    await likes.group(db, [number(alice.id)])
    assert await unread(alice) == 1
