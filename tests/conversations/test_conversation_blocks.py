"""Blocks and suspensions in conversations."""

from resolvers import accounts
from resolvers.jobs.worker import Worker
from store.client.database import Database
from tests.support.conversations import leave, listed, mark_read, seen, start, texts, write
from tests.support.people import PASSWORD, Member
from tests.support.work import work_off


async def test_a_block_ends_a_conversation_of_two(alice: Member, bob: Member) -> None:
    """After a block, neither member has the conversation; after its end, both have it as it was."""
    conversation = await start(alice, bob, text="one")
    second = await write(alice, conversation, "two")
    await mark_read(bob, conversation, upToId=(await seen(bob, conversation))["messages"]["nodes"][1]["id"])
    before = [await listed(member) for member in (alice, bob)]
    for blocker, other in ((alice, bob), (bob, alice)):
        await blocker.do("block", userIds=[other.id])
        for member in (alice, bob):
            assert await listed(member) == (0, [])
            assert await seen(member, conversation) is None
            code = await member.refused("sendMessage", conversationId=conversation, text="hi")
            assert code == ("NOT_FOUND", ["conversationId"])
        assert await alice.refused("deleteMessage", messageId=second) == ("NOT_FOUND", ["messageId"])
        await blocker.do("unblock", userIds=[other.id])
        assert [await listed(member) for member in (alice, bob)] == before
    assert (await listed(bob))[0] == 1


async def test_a_block_in_a_larger_conversation(alice: Member, bob: Member, carol: Member) -> None:
    """In a conversation of three, only the blocking member stops to see the other's messages."""
    conversation = await start(alice, bob, carol, text="one")
    await write(bob, conversation, "two")
    await write(carol, conversation, "three")
    await write(bob, conversation, "four")
    await alice.do("block", userIds=[bob.id])
    assert await texts(alice, conversation) == ["three", "one"]
    assert await listed(alice) == (1, [(conversation, "three", 1)])
    assert await texts(bob, conversation) == ["four", "three", "two", "one"]
    assert await listed(bob) == (1, [(conversation, "four", 2)])
    await mark_read(alice, conversation)
    await write(bob, conversation, "five")
    assert await listed(alice) == (0, [(conversation, "three", 0)])
    await alice.do("unblock", userIds=[bob.id])
    assert await listed(alice) == (1, [(conversation, "five", 2)])
    assert len(await texts(alice, conversation)) == 5


async def test_whom_a_blocked_member_sees(alice: Member, bob: Member, carol: Member) -> None:
    """A blocked member reads the blocker's messages in a larger conversation, but does not see who sent them."""
    conversation = await start(alice, bob, carol, text="one")
    await alice.do("block", userIds=[bob.id])
    found = await seen(bob, conversation, "participants { login } messages { nodes { text sender { login } } }")
    assert {user["login"] for user in found["participants"]} == {"bob", "carol"}
    assert found["messages"]["nodes"] == [{"text": "one", "sender": None}]


async def test_many_conversations(alice: Member, bob: Member, carol: Member) -> None:
    """A block reaches every conversation that both members are in, and no other."""
    shared = await start(bob, alice, carol, text="shared")
    pair = await start(bob, alice, text="pair")
    other = await start(carol, alice, text="other")
    await alice.do("block", userIds=[bob.id])
    assert await listed(alice) == (1, [(other, "other", 1), (shared, None, 0)])
    assert await listed(bob) == (0, [(shared, "shared", 0)])
    await alice.do("unblock", userIds=[bob.id])
    assert {identity for identity, _, _ in (await listed(alice))[1]} == {shared, pair, other}


async def test_a_suspended_member(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Messages of a suspended member stay, without a sender while the suspension lasts; nobody writes to them alone."""
    two, three = await start(bob, alice, text="one"), await start(bob, alice, carol, text="two")
    await accounts.set_suspension(db, "bob", suspended=True)
    for conversation in (two, three):
        found = await seen(alice, conversation, "participants { login } messages { nodes { sender { login } } }")
        assert "bob" not in {user["login"] for user in found["participants"]}
        assert found["messages"]["nodes"] == [{"sender": None}]
    assert await alice.refused("sendMessage", conversationId=two, text="hi") == ("NOT_ALLOWED", ["conversationId"])
    assert await alice.refused("startConversation", userIds=[bob.id], text="hi") == ("NOT_FOUND", ["userIds", "0"])
    await write(alice, three)
    await accounts.set_suspension(db, "bob", suspended=False)
    await write(alice, two)


async def test_a_blocked_member_who_left_and_is_gone(
    db: Database, worker: Worker, alice: Member, bob: Member, carol: Member
) -> None:
    """When a blocked member's account is deleted, what they wrote counts again, also where they had left."""
    three = await start(bob, alice, carol, text="one")
    await mark_read(alice, three)
    await write(bob, three, "two")
    await leave(bob, three)
    await alice.do("block", userIds=[bob.id])
    assert await listed(alice) == (0, [(three, None, 0)])
    await bob.do("deleteAccount", password=PASSWORD)
    await work_off(db, worker)
    assert await listed(alice) == (1, [(three, "two", 1)])
