"""Live notifications: additions and withdrawals, in order, from any cursor on."""

from typing import Any

import pytest

from resolvers.process.services import Services
from resolvers.reading.paging import cursor
from store import keys, notifications
from store.client.database import Database
from store.settings import Settings
from tests.support.notifications import nodes, relate, say
from tests.support.people import Member, crowd, shrunk
from tests.support.stored import sharded_channels
from tests.support.transport.live import NOTIFICATIONS, Stream, begun, subscribed
from tests.support.work import number

KEPT = 3
A_MILLISECOND = 1 << 12  # in ids
Brief = tuple[Any, ...]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a few notifications."""
    return shrunk(settings, notifications_kept=KEPT)


async def brief(stream: Stream) -> Brief:
    """Return the relevant fields of the next event."""
    event = await stream.next()
    match event["__typename"]:
        case "NotificationReceived":
            shown = event["notification"]
            return shown["kind"], shown["actor"] and shown["actor"]["login"], event["unreadCount"]
        case "NotificationWithdrawn":
            return "withdrawn", event["notificationId"], event["unreadCount"]
        case _:
            return ("gap",)


async def test_what_comes_and_goes(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Each notification and each withdrawal is an event, in order, with the number of unread ones at that time."""
    post = await alice.post("hello")
    await carol.repost(post)
    async with subscribed(alice, NOTIFICATIONS) as stream:
        await begun(db, alice)
        await bob.do("like", postId=post)
        assert await brief(stream) == ("LIKE", "bob", 2)
        (like, _) = [node["id"] for node in await nodes(alice)]
        await say(bob, post, "so @alice")
        assert await brief(stream) == ("COMMENT", "bob", 3)
        await alice.do("markNotificationsRead")
        await bob.do("unlike", postId=post)
        assert await brief(stream) == ("withdrawn", like, 0)
        await bob.post("@carol")
        await bob.post("@alice")
        assert await brief(stream) == ("MENTION", "bob", 1)


async def test_going_on(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A subscriber with a cursor, of an event or of the list, gets everything since then, and then live events."""
    post = await alice.post("hello")
    async with subscribed(alice, NOTIFICATIONS) as stream:
        await begun(db, alice)
        await bob.do("like", postId=post)
        await brief(stream)
    page = await alice.ask("{ viewer { notifications { edges { cursor node { id } } } } }")
    (edge,) = page["notifications"]["edges"]
    assert edge["cursor"] == stream.cursor
    await carol.repost(post)
    await bob.do("unlike", postId=post)
    for _ in range(2):
        async with subscribed(alice, NOTIFICATIONS, after=edge["cursor"]) as stream:
            assert await brief(stream) == ("REPOST", "carol", 1)
            middle = stream.cursor
            assert await brief(stream) == ("withdrawn", edge["node"]["id"], 1)
    async with subscribed(alice, NOTIFICATIONS, after=middle) as stream:
        assert (await brief(stream))[0] == "withdrawn"
        await carol.do("unrepost", postId=post)
        assert (await brief(stream))[2] == 0


async def test_a_gap(db: Database, anonymous: Member, alice: Member, bob: Member) -> None:
    """A cursor older than the stored entries gets a gap event and continues after it; a later cursor does not."""
    post = await alice.post("hello")
    await bob.do("like", postId=post)
    page = await alice.ask("{ viewer { notifications { pageInfo { startCursor } } } }")
    old = page["notifications"]["pageInfo"]["startCursor"]
    members = await crowd(anonymous, KEPT + 1)
    for member in members:
        await member.repost(post)
    async with subscribed(alice, NOTIFICATIONS, after=old) as stream:
        assert await brief(stream) == ("gap",)
        gap = stream.cursor
        await bob.post("@alice")
        assert await brief(stream) == ("MENTION", "bob", KEPT)
    async with subscribed(alice, NOTIFICATIONS, after=gap) as stream:
        assert await brief(stream) == ("MENTION", "bob", KEPT)


async def test_withdrawals_that_were_trimmed(anonymous: Member, alice: Member) -> None:
    """More withdrawals than are stored are a gap for a subscriber that has not read them."""
    post = await alice.post("hello")
    members = await crowd(anonymous, KEPT + 1)
    for member in members[:2]:
        await member.repost(post)
    page = await alice.ask("{ viewer { notifications { pageInfo { startCursor } } } }")
    for member in [*members[:2], *members[2:]]:
        await member.repost(post)
        await member.do("unrepost", postId=post)
    async with subscribed(alice, NOTIFICATIONS, after=page["notifications"]["pageInfo"]["startCursor"]) as stream:
        assert await brief(stream) == ("gap",)


async def test_whom_one_does_not_want(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Visibility is decided at each event: a member muted meanwhile causes no more events, not even of old acts."""
    post = await alice.post("hello")
    await carol.do("like", postId=post)
    page = await alice.ask("{ viewer { notifications { pageInfo { startCursor } } } }")
    await bob.do("like", postId=post)
    await relate(db, "muted", alice, bob)
    await carol.repost(post)
    async with subscribed(alice, NOTIFICATIONS, after=page["notifications"]["pageInfo"]["startCursor"]) as stream:
        assert (await brief(stream))[:2] == ("REPOST", "carol")
        await bob.repost(post)
        await carol.follow(alice)
        assert (await brief(stream))[:2] == ("FOLLOW", "carol")


async def test_more_than_is_kept_while_nobody_subscribes(
    services: Services, db: Database, anonymous: Member, alice: Member, bob: Member
) -> None:
    """A subscriber gets a gap event after more entries than are stored, and then further events."""
    post = await alice.post("hello")
    members = await crowd(anonymous, KEPT + 1)
    async with subscribed(alice, NOTIFICATIONS) as stream:
        await begun(db, alice)
        await bob.do("like", postId=post)
        assert await brief(stream) == ("LIKE", "bob", 1)
        await services.pubsub.close()
        for member in members:
            await member.repost(post)
        services.pubsub.start()
        assert await brief(stream) == ("gap",)
        await bob.post("@alice")
        assert await brief(stream) == ("MENTION", "bob", KEPT)


async def test_a_cursor_that_the_store_lost(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A cursor from the future, as after a restored backup, gets a gap event and can continue after it."""
    post = await alice.post("hello")
    newest = number(alice.id)  # made in the same partition, before any notification
    for reposter in (bob, carol):  # without any notification, and with one
        async with subscribed(alice, NOTIFICATIONS, after=cursor("notifications", newest + A_MILLISECOND)) as stream:
            assert await brief(stream) == ("gap",)
            gap = stream.cursor
        async with subscribed(alice, NOTIFICATIONS, after=gap) as stream:
            await reposter.repost(post)
            assert (await brief(stream))[:2] == ("REPOST", reposter.login)
        newest = await notifications.newest(db, number(alice.id))


async def test_cursors_from_elsewhere(anonymous: Member, alice: Member, bob: Member) -> None:
    """A malformed cursor, and one of another list or member, is BAD_USER_INPUT; without a token UNAUTHENTICATED."""
    theirs, future = number(bob.id), number(alice.id) + 3_600_000 * A_MILLISECOND
    cursors = (cursor("notifications", theirs), cursor("notifications", future))
    for wrong in ("", "nonsense", "event.1-1", "mentions.00000000000001", "notifications.1", *cursors):
        async with subscribed(alice, NOTIFICATIONS, after=wrong) as stream:
            message = await stream.receive()
            (error,) = message["payload"]
            assert (message["type"], error["extensions"]["code"]) == ("error", "BAD_USER_INPUT")
            assert error["message"].startswith("after: ")
    async with subscribed(anonymous, NOTIFICATIONS) as stream:
        assert await stream.code() == "UNAUTHENTICATED"


async def test_nothing_is_left_of_who_leaves(services: Services, db: Database, alice: Member) -> None:
    """When the subscriber leaves, its Pub/Sub subscription ends."""
    channel = db.channel(keys.notifications_channel(number(alice.id)))
    async with subscribed(alice, NOTIFICATIONS):
        await begun(db, alice)
    while await sharded_channels(db, channel):
        pass
    assert channel not in services.pubsub._listeners  # noqa: SLF001  nobody else needs to know
