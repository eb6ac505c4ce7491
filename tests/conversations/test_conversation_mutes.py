"""Mutes in conversations: messages of a muted member arrive and are never unread."""

import pytest

from resolvers.jobs.worker import Worker
from store import blocks
from store.client.database import Database
from store.settings import Settings
from tests.support.conversations import listed, mark_read, start, texts, write
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.threads import assert_clean
from tests.support.transport.live import MESSAGES, subscribed
from tests.support.work import number, work_off


async def test_a_conversation_of_two(db: Database, alice: Member, bob: Member) -> None:
    """A mute makes all messages read, those before it too; its end makes those above the read mark unread again."""
    conversation = await start(bob, alice, text="one")
    assert await listed(alice) == (1, [(conversation, "one", 1)])
    await alice.do("mute", userIds=[bob.id])
    assert await listed(alice) == (0, [(conversation, "one", 0)])
    await write(bob, conversation, "two")
    assert await listed(alice) == (0, [(conversation, "two", 0)])
    assert await texts(alice, conversation) == ["two", "one"]
    await assert_clean(db)
    await alice.do("unmute", userIds=[bob.id])
    assert await listed(alice) == (1, [(conversation, "two", 2)])
    await alice.do("mute", userIds=[bob.id])
    await mark_read(alice, conversation)
    await alice.do("unmute", userIds=[bob.id])
    assert await listed(alice) == (0, [(conversation, "two", 0)])
    assert await listed(bob) == (0, [(conversation, "two", 0)])
    await assert_clean(db)


async def test_a_conversation_that_begins(db: Database, alice: Member, bob: Member) -> None:
    """A conversation that a muted member begins is listed and not unread."""
    await alice.do("mute", userIds=[bob.id])
    conversation = await start(bob, alice, text="one")
    assert await listed(alice) == (0, [(conversation, "one", 0)])
    await assert_clean(db)


async def test_a_larger_conversation(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """In a conversation of three, the messages of the others count, above the read mark and in any order."""
    conversation = await start(bob, alice, carol, text="one")
    await alice.do("mute", userIds=[bob.id])
    await write(carol, conversation, "two")
    await write(bob, conversation, "three")
    assert await listed(alice) == (1, [(conversation, "three", 1)])
    await mark_read(alice, conversation)
    await write(bob, conversation, "four")
    assert await listed(alice) == (0, [(conversation, "four", 0)])
    await write(carol, conversation, "five")
    assert await listed(alice) == (1, [(conversation, "five", 1)])
    await alice.do("block", userIds=[carol.id])
    assert await listed(alice) == (0, [(conversation, "four", 0)])
    await alice.do("unblock", userIds=[carol.id])
    assert await listed(alice) == (1, [(conversation, "five", 1)])
    assert await listed(carol) == (1, [(conversation, "five", 3)])
    await assert_clean(db)


async def test_live(alice: Member, bob: Member) -> None:
    """A muted member's message arrives live, in a conversation without unread messages."""
    conversation = await start(bob, alice, text="one")
    async with subscribed(alice, MESSAGES) as stream:
        await alice.do("markConversationRead", conversationId=conversation)
        assert (await stream.next())["__typename"] == "ConversationRead"
        await alice.do("mute", userIds=[bob.id])
        await write(bob, conversation, "two")
        received = (await stream.next())["message"]
        assert (received["text"], received["conversation"]["unreadCount"]) == ("two", 0)


async def test_a_deleted_account(db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """The messages of a muted member whose account is deleted stay read."""
    conversation = await start(bob, alice, carol, text="one")
    await alice.do("mute", userIds=[bob.id])
    assert (await bob.do("deleteAccount", password=PASSWORD))["userErrors"] == []
    await work_off(db, worker)
    assert await listed(alice) == (0, [(conversation, "one", 0)])
    await write(carol, conversation, "two")
    assert await listed(alice) == (1, [(conversation, "two", 1)])
    await assert_clean(db)


class TestManyConversations:
    """A mute that reaches more conversations than one step of its job."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, fanout_inline=1)

    async def test_by_a_worker(self, db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
        """The worker applies what a request has left of a mute and of its end."""
        found = [await start(bob, alice, text="pair"), await start(bob, alice, carol, text="three")]
        await work_off(db, worker)
        assert (await listed(alice))[0] == len(found)
        for change, unread in ((blocks.mute, 0), (blocks.unmute, len(found))):
            job, _ = await change(db, number(alice.id), [number(bob.id)])
            assert job
            await work_off(db, worker)
            assert (await listed(alice))[0] == unread
            await assert_clean(db)
