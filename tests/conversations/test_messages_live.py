"""Live messages: everything in a member's conversations, in order, on every device, from any cursor on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from resolvers.live.messages import CURSOR
from resolvers.reading.paging import cursor
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.conversations import delete, leave, listed, mark_read, start, write
from tests.support.people import Member, contents, shrunk
from tests.support.transport.live import MESSAGES, Stream, begun, subscribed
from tests.support.transport.transports import TRANSPORTS, line
from tests.support.work import number

KEPT = 5
Brief = tuple[Any, ...]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a few events."""
    return shrunk(settings, message_events_kept=KEPT)


def brief(event: dict[str, Any]) -> Brief:
    """Return the relevant fields of an event."""
    match event["__typename"]:
        case "MessageReceived":
            return event["message"]["text"], event["message"]["conversation"]["unreadCount"]
        case "MessageDeleted":
            return "deleted", event["messageId"]
        case "ConversationRead":
            return "read", event["conversation"]["id"], event["conversation"]["unreadCount"]
        case _:
            return ("gap",)


@asynccontextmanager
async def device(db: Database, member: Member, **variables: Any) -> AsyncIterator[Stream]:
    """A device of a member that is subscribed to their messages."""
    async with subscribed(member, MESSAGES, **variables) as stream:
        await begun(db, member, keys.messages_channel)
        yield stream


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_over_every_transport(db: Database, alice: Member, bob: Member, transport: str) -> None:
    """Messages arrive over every transport, the first one of a conversation and the sender's own included."""
    async with line(transport, alice, MESSAGES) as one:
        await begun(db, alice, keys.messages_channel)
        conversation = await start(bob, alice, text="one")
        event = await one.next()
        assert brief(event) == ("one", 1)
        assert (event["message"]["sender"]["login"], event["message"]["conversation"]["id"]) == ("bob", conversation)
        await write(alice, conversation, "two")
        assert brief(await one.next()) == ("two", 1)


async def test_what_happens_in_conversations(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Messages of all conversations, deletions and read marks are events, in order."""
    first = await start(alice, bob, text="old")
    async with device(db, alice) as stream:
        message = await write(bob, first, "one")
        second = await start(carol, alice, text="two")
        assert [brief(await stream.next()) for _ in range(2)] == [("one", 1), ("two", 1)]
        await mark_read(alice, first)
        assert brief(await stream.next()) == ("read", first, 0)
        await mark_read(alice, first)
        await delete(bob, message)
        assert brief(await stream.next()) == ("deleted", message)
        await write(carol, second, "three")
        assert brief(await stream.next()) == ("three", 2)


async def test_reading_on_another_device(db: Database, alice: Member, bob: Member) -> None:
    """Marking a conversation read reaches all devices of the member, and nobody else."""
    conversation = await start(bob, alice, text="one")
    async with device(db, alice) as phone, device(db, alice) as desk, device(db, bob) as other:
        await mark_read(alice, conversation)
        for stream in (phone, desk):
            assert brief(await stream.next()) == ("read", conversation, 0)
        await write(alice, conversation, "two")
        assert brief(await other.next()) == ("two", 1)


async def test_going_on(db: Database, alice: Member, bob: Member) -> None:
    """A subscriber with a cursor gets everything since then, and then live events."""
    conversation = await start(bob, alice, text="zero")
    async with device(db, alice) as stream:
        first = await write(bob, conversation, "one")
        await stream.next()
        middle = stream.cursor
    await write(bob, conversation, "two")
    await delete(bob, first)
    for _ in range(2):
        async with device(db, alice, after=middle) as stream:
            assert [brief(await stream.next()) for _ in range(2)] == [("two", 2), ("deleted", first)]
    async with device(db, alice, after=stream.cursor) as stream:
        await write(bob, conversation, "three")
        assert brief(await stream.next()) == ("three", 3)


async def test_a_gap(db: Database, alice: Member, bob: Member) -> None:
    """A cursor older than the events that are kept gets a gap, and everything after it."""
    conversation = await start(bob, alice)
    async with device(db, alice) as stream:
        await write(bob, conversation, "one")
        await stream.next()
        old = stream.cursor
    for i in range(KEPT + 1):
        await write(bob, conversation, str(i))
    async with device(db, alice, after=old) as stream:
        assert brief(await stream.next()) == ("gap",)
        await write(bob, conversation, "more")
        assert brief(await stream.next())[0] == "more"


async def test_events_that_expired(db: Database, alice: Member, bob: Member) -> None:
    """A subscriber who comes back after the events were dropped gets a gap."""
    conversation = await start(bob, alice)
    async with device(db, alice) as stream:
        await write(bob, conversation, "one")
        await stream.next()
    assert await db.one("DEL", keys.message_log(number(alice.id)))
    async with device(db, alice, after=stream.cursor) as stream:
        assert brief(await stream.next()) == ("gap",)
        await write(bob, conversation, "two")
        assert brief(await stream.next()) == ("two", 3)


async def test_who_is_not_subscribed(db: Database, alice: Member, bob: Member) -> None:
    """A member who is not subscribed has no events, and those of a member who was expire."""
    conversation = await start(bob, alice)
    await write(bob, conversation)
    assert not [key for key in await contents(db) if key.startswith("message-log:")]
    async with device(db, alice):
        await write(bob, conversation)
    assert [key for key in await contents(db) if key.startswith("message-log:")] == [keys.message_log(number(alice.id))]
    assert await db.one("TTL", keys.message_log(number(alice.id))) > 0


async def test_a_subscriber_keeps_the_events(db: Database, alice: Member, bob: Member) -> None:
    """Every read of a subscriber prolongs the life of the events."""
    conversation = await start(bob, alice)
    async with device(db, alice) as stream:
        await db.one("EXPIRE", keys.message_log(number(alice.id)), 9)
        await write(bob, conversation, "one")
        await stream.next()
        await write(bob, conversation, "two")
        await stream.next()
        assert await db.one("TTL", keys.message_log(number(alice.id))) > 9


async def test_a_blocked_member(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Nothing of a blocked member is delivered, live or replayed, in a conversation of two nor in a larger one."""
    three = await start(bob, alice, carol, text="one")
    two = await start(bob, alice, text="two")
    async with device(db, alice) as stream, device(db, carol) as other:
        message = await write(bob, three, "before")
        assert brief(await stream.next()) == ("before", 2)
        before = stream.cursor
        await write(bob, two, "in between")
        assert brief(await stream.next()) == ("in between", 2)
        await alice.do("block", userIds=[bob.id])
        await write(bob, three, "after")
        await delete(bob, message)
        await write(carol, three, "carol")
        assert brief(await stream.next()) == ("carol", 1)
        found = [brief(await other.next()) for _ in range(4)]
        assert found == [("before", 2), ("after", 3), ("deleted", message), ("carol", 2)]
    async with device(db, alice, after=before) as stream:
        assert brief(await stream.next()) == ("carol", 1)
        await alice.do("unblock", userIds=[bob.id])
        await write(bob, two, "again")
        assert brief(await stream.next()) == ("again", 3)


async def test_who_has_left(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A member who has left gets nothing more, nor what they had missed; who returns gets what is said since."""
    conversation = await start(alice, bob, carol)
    other = await start(alice, carol)
    async with device(db, carol) as stream:
        await write(alice, other, "first")
        await stream.next()
        middle = stream.cursor
        await write(alice, conversation, "missed")
        await leave(carol, conversation)
        await write(alice, conversation, "late")
    async with device(db, carol, after=middle) as stream:
        await write(alice, other, "second")
        assert brief(await stream.next())[0] == "second"
        await start(alice, bob, carol, text="welcome")
        assert brief(await stream.next()) == ("welcome", 1)


async def test_many_messages_at_once(db: Database, anonymous: Member, alice: Member, bob: Member) -> None:
    """Messages sent at once arrive once each, in the order in which they are listed."""
    conversation = await start(bob, alice)
    async with device(db, alice) as stream, device(db, bob) as other:
        await asyncio.gather(*(write(bob, conversation, str(i)) for i in range(KEPT)))
        found = [brief(await stream.next())[0] for _ in range(KEPT)]
        assert [brief(await other.next())[0] for _ in range(KEPT)] == found
    page = await alice.ask(
        "query($id: ID!) { node(id: $id) { ... on Conversation { messages { nodes { text } } } } }", id=conversation
    )
    assert [node["text"] for node in page["messages"]["nodes"]][KEPT - 1 :: -1] == found


async def test_a_cursor_of_another_member(db: Database, alice: Member, bob: Member) -> None:
    """A cursor of another member, and one of the future, are refused."""
    conversation = await start(bob, alice)
    async with device(db, alice) as stream:
        await write(bob, conversation)
        await stream.next()
    other = cursor(CURSOR, number(bob.id))
    future = cursor(CURSOR, number(alice.id) + (1 << 45))
    for after in (other, future):
        async with subscribed(alice, MESSAGES, after=after) as refused:
            assert await refused.code() == "BAD_USER_INPUT"
    assert (await listed(alice))[0] == 1
