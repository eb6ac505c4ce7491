"""Conversations under simultaneous changes, repeated requests, and limits."""

import asyncio
import os
from itertools import combinations
from typing import Any

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.conversations import SENT, delete, leave, listed, mark_read, start, texts, write
from tests.support.people import Member, contents, crowd, shrunk

STARTS = int(os.environ.get("PERCH_TEST_STARTS", "20"))  # conversations that both members begin at once

Outcome = str | tuple[str, list[str] | None]


async def test_both_begin_at_once(anonymous: Member) -> None:
    """Two members who begin their conversation at the same moment have one, with both messages, each time."""
    pairs = list(combinations(await crowd(anonymous, 5), 2))
    for _ in range(0, STARTS, len(pairs)):
        found = await asyncio.gather(*(start(*turn) for pair in pairs for turn in (pair, pair[::-1])))
        assert found[::2] == found[1::2]
        assert len(set(found)) == len(pairs)
        for pair, conversation in zip(pairs, found[::2], strict=True):
            for member in pair:
                assert await texts(member, conversation) == ["hello", "hello"]
                assert (conversation, "hello", 1) in (await listed(member))[1]
                await leave(member, conversation)


async def test_messages_at_once(anonymous: Member) -> None:
    """Messages that several members send at once are all there, in one order for all, and counted once."""
    members = await crowd(anonymous, 4)
    conversation = await start(*members)
    await asyncio.gather(*(write(member, conversation, f"{i}") for i in range(8) for member in members))
    orders = [await texts(member, conversation) for member in members]
    assert len(orders[0]) == 33
    assert all(order == orders[0] for order in orders)
    for member in members:
        count, ((_, last, unread),) = await listed(member)
        assert (count, last, unread) == (1, orders[0][0], 24 + (member is not members[0]))


async def test_deletions_and_messages_at_once(alice: Member, bob: Member) -> None:
    """Lists and unread counts are right whatever order messages, deletions and marks arrive in."""
    conversation = await start(alice, bob, text="first")
    sent = [await write(alice, conversation, str(i)) for i in range(10)]
    acts = [delete(alice, message) for message in sent[::2]]
    acts += [mark_read(bob, conversation, upToId=message) for message in sent[1::4]]
    await asyncio.gather(*acts, *(write(alice, conversation, f"new {i}") for i in range(5)))
    left = await texts(bob, conversation)
    assert len(left) == 11
    count, ((_, last, unread),) = await listed(bob)
    assert (count, last) == (1, left[0])
    assert unread == left.index("9")  # the newest that was marked


async def test_leaving_and_writing_at_once(anonymous: Member) -> None:
    """Those who leave while others write see nothing afterwards, and those who stay see everything."""
    members = await crowd(anonymous, 5)
    conversation = await start(*members)
    acts: list[Any] = [leave(member, conversation) for member in members[3:]]
    acts += [write(member, conversation, "more") for member in members[:3] for _ in range(3)]
    await asyncio.gather(*acts)
    for member in members[3:]:
        assert await listed(member) == (0, [])
    for member in members[:3]:
        assert len(await texts(member, conversation)) == 10


# ---- retries


async def keyed(member: Member, other: Member, conversation: str | None, text: str) -> Outcome:
    """Send a message with an idempotency key; returns its id, or code and field of the refusal."""
    where = {"conversationId": conversation} if conversation else {"userIds": [other.id]}
    mutation = "sendMessage" if conversation else "startConversation"
    payload = await member.do(mutation, SENT, **where, text=text, idempotencyKey="key")
    if payload["userErrors"]:
        (error,) = payload["userErrors"]
        return error["code"], error["field"]
    return str(payload["message"]["id"])


@pytest.mark.parametrize("begins", [True, False])
async def test_a_retry_gets_the_first_result(db: Database, alice: Member, bob: Member, begins: bool) -> None:
    """The same key and input answers with the first message and writes nothing more; other input is a conflict."""
    conversation = None if begins else await start(alice, bob)
    found = await asyncio.gather(*(keyed(bob, alice, conversation, "hello") for _ in range(10)))
    assert len(set(found)) == 1
    before = await contents(db)
    assert await keyed(bob, alice, conversation, " hello ") == found[0]
    assert await keyed(bob, alice, conversation, "other") == ("CONFLICT", ["idempotencyKey"])
    assert await contents(db) == before
    assert isinstance(await keyed(alice, bob, conversation, "hello"), str)


async def test_a_key_in_another_conversation(alice: Member, bob: Member, carol: Member) -> None:
    """A key that has sent a message to one conversation is refused in another."""
    first, second = await start(alice, bob), await start(alice, carol)
    await keyed(alice, bob, first, "hello")
    assert await keyed(alice, carol, second, "hello") == ("CONFLICT", ["idempotencyKey"])
    assert isinstance(await keyed(alice, carol, None, "hello"), str)
    assert await keyed(alice, bob, None, "hello") == ("CONFLICT", ["idempotencyKey"])


async def test_a_key_whose_input_was_refused(alice: Member, bob: Member) -> None:
    """A refused message does not use up its key."""
    conversation = await start(alice, bob)
    await bob.do("updateProfile", messagesFrom="NOBODY")
    assert await keyed(alice, bob, conversation, "hello") == ("NOT_ALLOWED", ["conversationId"])
    assert await keyed(alice, bob, None, "hello") == ("NOT_ALLOWED", ["userIds", "0"])
    await bob.do("updateProfile", messagesFrom="EVERYONE")
    assert isinstance(await keyed(alice, bob, conversation, "other"), str)
    assert isinstance(await keyed(alice, bob, None, "other"), str)


# ---- limits


class TestLimits:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """Two conversations with strangers an hour."""
        return shrunk(settings, conversations_per_hour=2, rate_limit=10_000)

    async def test_conversations_with_strangers(self, anonymous: Member, alice: Member) -> None:
        """Only conversations that begin, with somebody who does not follow the member, count towards the limit."""
        members = await crowd(anonymous, 5)
        await members[0].follow(alice)
        await start(alice, members[0])
        first, _ = await start(alice, members[1]), await start(alice, members[2])
        await write(alice, first)
        assert await start(alice, members[1]) == first
        code = await alice.refused("startConversation", userIds=[members[3].id], text="hi")
        assert code == ("LIMIT_REACHED", None)
        await members[4].follow(alice)
        await start(alice, members[4])
        await start(members[3], alice)
