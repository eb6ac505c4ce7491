"""Conversations: who takes part, what is listed, read marks, and leaving."""

from typing import Any

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.conversations import delete, leave, listed, mark_read, seen, start, texts, write
from tests.support.people import PASSWORD, Member, contents, crowd, shrunk
from tests.support.work import number

NOBODY = "user_00000000000001"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Small limits."""
    return shrunk(settings, max_participants=4, max_message=20)


async def test_the_same_members_are_the_same_conversation(alice: Member, bob: Member, carol: Member) -> None:
    """A set of members has one conversation, whoever begins, in whichever order; another set has another one."""
    two = await start(alice, bob, text="one")
    assert await start(bob, alice, text="two") == two
    assert await start(alice, bob, alice, bob, text="three") == two
    three = await start(alice, bob, carol, text="four")
    assert three != two
    assert await start(carol, alice, bob, text="five") == three
    assert await texts(alice, two) == ["three", "two", "one"]
    assert await texts(bob, three) == ["five", "four"]
    assert await seen(carol, two) is None


async def test_what_a_participant_sees(alice: Member, bob: Member) -> None:
    """A conversation has its participants, its last message and, for each viewer, unread messages and a read mark."""
    conversation = await start(alice, bob, text="one")
    second = await write(alice, conversation, "two")
    third = await write(bob, conversation, "three")
    await mark_read(bob, conversation, upToId=second)
    found = await seen(bob, conversation)
    assert {user["login"] for user in found["participants"]} == {"alice", "bob"}
    assert (found["lastMessage"], found["unreadCount"]) == ({"id": third, "text": "three"}, 0)
    assert found["viewerLastRead"] == {"id": second}
    found = await seen(alice, conversation)
    assert (found["unreadCount"], found["viewerLastRead"]) == (1, None)


async def test_a_message(alice: Member, bob: Member) -> None:
    """A message has its conversation, sender, text and time; others than the participants do not find it."""
    conversation = await start(alice, bob)
    message = await write(bob, conversation, "  line\none ")
    query = """query($id: ID!) { node(id: $id) { ... on Message {
      id text createdAt sender { login } conversation { id participants { login } unreadCount } } } }"""
    found = await alice.ask(query, id=message)
    assert (found["text"], found["sender"]) == ("line\none", {"login": "bob"})
    assert (found["conversation"]["id"], found["conversation"]["unreadCount"]) == (conversation, 1)


async def test_the_list(alice: Member, bob: Member, carol: Member) -> None:
    """Conversations are listed with the newest message first, each with its unread messages."""
    first = await start(bob, alice, text="one")
    second = await start(carol, alice, text="two")
    assert await listed(alice) == (2, [(second, "two", 1), (first, "one", 1)])
    await write(bob, first, "three")
    assert await listed(alice) == (2, [(first, "three", 2), (second, "two", 1)])
    await mark_read(alice, first)
    assert await listed(alice) == (1, [(first, "three", 0), (second, "two", 1)])
    await write(alice, second, "four")
    assert await listed(alice) == (1, [(second, "four", 1), (first, "three", 0)])
    assert await listed(carol) == (1, [(second, "four", 1)])


async def test_read_marks_only_rise(db: Database, alice: Member, bob: Member) -> None:
    """Marking an older message read, or the same again, changes nothing."""
    conversation = await start(alice, bob, text="one")
    second, third = [await write(alice, conversation, text) for text in ("two", "three")]
    await mark_read(bob, conversation, upToId=third)
    before = await contents(db)
    for message in (second, third):
        await mark_read(bob, conversation, upToId=message)
    await mark_read(bob, conversation)
    assert await contents(db) == before
    assert await listed(bob) == (0, [(conversation, "three", 0)])
    await write(alice, conversation, "four")
    assert await listed(bob) == (1, [(conversation, "four", 1)])


async def test_deleting_a_message(alice: Member, bob: Member) -> None:
    """A deleted message is gone for everybody, and so are its place in lists and counts."""
    conversation = await start(alice, bob, text="one")
    second = await write(alice, conversation, "two")
    assert await listed(bob) == (1, [(conversation, "two", 2)])
    await delete(alice, second)
    assert await listed(bob) == (1, [(conversation, "one", 1)])
    assert await texts(bob, conversation) == ["one"]
    assert await alice.refused("deleteMessage", messageId=second) == ("NOT_FOUND", ["messageId"])
    await mark_read(bob, conversation)
    third = await write(alice, conversation, "three")
    assert (await listed(bob))[0] == 1
    await delete(alice, third)
    assert await listed(bob) == (0, [(conversation, "one", 0)])


async def test_a_conversation_without_messages(alice: Member, bob: Member) -> None:
    """When all messages are deleted, the conversation stays, without a last message."""
    conversation = await start(alice, bob)
    (node,) = (await seen(alice, conversation))["messages"]["nodes"]
    await delete(alice, node["id"])
    for member in (alice, bob):
        assert await listed(member) == (0, [(conversation, None, 0)])
    await mark_read(bob, conversation)


async def test_leaving(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A member who left sees nothing of the conversation and is no participant; the others go on."""
    conversation = await start(alice, bob, carol, text="one")
    await leave(carol, conversation)
    await write(bob, conversation, "two")
    assert await seen(carol, conversation) is None
    assert await listed(carol) == (0, [])
    found = await seen(alice, conversation)
    assert {user["login"] for user in found["participants"]} == {"alice", "bob"}
    before = await contents(db)
    assert await carol.refused("leaveConversation", conversationId=conversation) == ("NOT_FOUND", ["conversationId"])
    assert await contents(db) == before


async def test_coming_back(alice: Member, bob: Member, carol: Member) -> None:
    """Beginning the conversation of the same set brings those back who left, and they see messages from then on."""
    conversation = await start(alice, bob, carol, text="one")
    await leave(carol, conversation)
    await write(bob, conversation, "two")
    assert await start(alice, bob, carol, text="three") == conversation
    assert await texts(carol, conversation) == ["three"]
    assert await texts(bob, conversation) == ["three", "two", "one"]
    assert await listed(carol) == (1, [(conversation, "three", 1)])
    last = (await seen(bob, conversation, "messages(last: 1) { nodes { id } }"))["messages"]["nodes"][0]["id"]
    code = await carol.refused("markConversationRead", conversationId=conversation, upToId=last)
    assert code == ("NOT_FOUND", ["upToId"])


async def test_alone(alice: Member, bob: Member) -> None:
    """Nobody can write where nobody else is left; once all have left, nothing remains and a new one may begin."""
    conversation = await start(alice, bob, text="one")
    await leave(bob, conversation)
    code = await alice.refused("sendMessage", conversationId=conversation, text="hi")
    assert code == ("NOT_ALLOWED", ["conversationId"])
    await leave(alice, conversation)
    assert await start(bob, alice, text="two") != conversation


async def test_nothing_remains_of_a_conversation_that_all_have_left(db: Database, alice: Member, bob: Member) -> None:
    """When the last participant leaves, all keys of the conversation are removed."""
    conversation = await start(alice, bob, text="one")
    await write(bob, conversation, "two")
    await delete(alice, await write(alice, conversation, "three"))
    await leave(alice, conversation)
    await leave(bob, conversation)
    kinds = {key.split(":")[0] for key in await contents(db)}
    assert not kinds & {"conversation", "conversation-of", "messages", "message", "sent", "deleted-messages"}
    assert not kinds & {"conversations", "conversation-state", "unread-conversations"}


async def test_pages_of_messages(alice: Member, bob: Member) -> None:
    """Messages page in both directions, and all pages together are the whole conversation."""
    conversation = await start(alice, bob, text="0")
    for i in range(1, 7):
        await write(alice, conversation, str(i))
    page = """messages(first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { text } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }"""
    query = f"""query($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {{
      node(id: $id) {{ ... on Conversation {{ {page} }} }} }}"""

    async def read(**window: Any) -> Any:
        found = (await bob.ask(query, id=conversation, **window))["messages"]
        return [edge["node"]["text"] for edge in found["edges"]], found["pageInfo"]

    first, info = await read(first=3)
    second, info = await read(first=3, after=info["endCursor"])
    third, last = await read(first=3, after=info["endCursor"])
    assert [first, second, third] == [["6", "5", "4"], ["3", "2", "1"], ["0"]]
    assert not last["hasNextPage"]
    newer, info = await read(last=2, before=info["startCursor"])
    assert newer == ["5", "4"]
    assert info["hasPreviousPage"]


# ---- refusals


async def test_whom_one_cannot_write_to(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Nobody, oneself, too many, somebody unknown or blocked: each is refused, and nothing is written."""
    others = await crowd(alice, 4)
    await carol.do("block", userIds=[alice.id])
    await alice.do("block", userIds=[others[0].id])
    before = await contents(db)
    for ids, refusal in (
        ([], ("BLANK", ["userIds"])),
        ([alice.id], ("SELF", ["userIds"])),
        ([one.id for one in others], ("LIMIT_REACHED", ["userIds"])),
        ([bob.id, NOBODY], ("NOT_FOUND", ["userIds", "1"])),
        ([bob.id, carol.id], ("NOT_FOUND", ["userIds", "1"])),
        ([bob.id, others[0].id], ("NOT_FOUND", ["userIds", "1"])),
        ([bob.id, "nonsense"], ("INVALID", ["userIds", "1"])),
    ):
        assert await alice.refused("startConversation", userIds=ids, text="hello") == refusal
    assert await contents(db) == before


async def test_texts(db: Database, alice: Member, bob: Member) -> None:
    """An empty text and one that is too long are refused."""
    conversation = await start(alice, bob)
    before = await contents(db)
    for text, code in ((" \n", "BLANK"), ("x" * 21, "TOO_LONG")):
        assert await alice.refused("startConversation", userIds=[bob.id], text=text) == (code, ["text"])
        assert await alice.refused("sendMessage", conversationId=conversation, text=text) == (code, ["text"])
    assert await contents(db) == before


@pytest.mark.parametrize("audience", ["EVERYONE", "FOLLOWED", "NOBODY"])
@pytest.mark.parametrize("follows", [False, True])
async def test_who_may_begin(alice: Member, bob: Member, carol: Member, audience: str, follows: bool) -> None:
    """`messagesFrom` decides who begins a conversation, who adds a member, and who writes in one of two."""
    two, three = await start(alice, bob), await start(alice, bob, carol)
    await leave(bob, three)
    payload = await bob.do("updateProfile", "viewer { messagesFrom }", messagesFrom=audience)
    assert payload["viewer"] == {"messagesFrom": audience}
    if follows:
        await bob.follow(alice)
    refused = ("NOT_ALLOWED", ["userIds", "0"])
    allowed = audience == "EVERYONE" or (audience == "FOLLOWED" and follows)
    if allowed:
        assert await start(alice, bob) == two
        await write(alice, two)
        assert await start(alice, bob, carol) == three
    else:
        assert await alice.refused("startConversation", userIds=[bob.id], text="hi") == refused
        assert await alice.refused("startConversation", userIds=[bob.id, carol.id], text="hi") == refused
        code = await alice.refused("sendMessage", conversationId=two, text="hi")
        assert code == ("NOT_ALLOWED", ["conversationId"])
    await write(bob, two)  # who takes no messages may write them
    await write(alice, three)


async def test_larger_conversations_go_on(alice: Member, bob: Member, carol: Member) -> None:
    """`messagesFrom` does not matter in a conversation of three in which the member is already."""
    three = await start(alice, bob, carol)
    await bob.do("updateProfile", messagesFrom="NOBODY")
    await write(alice, three)
    assert await start(alice, bob, carol) == three


async def test_conversations_that_do_not_exist(alice: Member, bob: Member, carol: Member) -> None:
    """A conversation of others is refused exactly as one that does not exist."""
    conversation = await start(alice, bob)
    message = (await seen(alice, conversation))["lastMessage"]["id"]
    mutations: dict[str, dict[str, str]] = {name: {} for name in ("markConversationRead", "leaveConversation")}
    mutations["sendMessage"] = {"text": "hi"}
    for identity in (conversation, "conversation_00000000000001"):
        for mutation, fields in mutations.items():
            code = await carol.refused(mutation, conversationId=identity, **fields)
            assert code == ("NOT_FOUND", ["conversationId"])
    for identity in (message, "message_00000000000001"):
        assert await carol.refused("deleteMessage", messageId=identity) == ("NOT_FOUND", ["messageId"])
        code = await alice.refused("markConversationRead", conversationId=conversation, upToId="message_00000000000001")
        assert code == ("NOT_FOUND", ["upToId"])
    nodes = await carol.ask("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=[conversation, message])
    assert nodes == [None, None]


async def test_messages_of_others(alice: Member, bob: Member) -> None:
    """Only its sender deletes a message."""
    conversation = await start(alice, bob)
    message = (await seen(alice, conversation))["lastMessage"]["id"]
    assert await bob.refused("deleteMessage", messageId=message) == ("NOT_ALLOWED", ["messageId"])


async def test_a_mark_of_another_conversation(alice: Member, bob: Member, carol: Member) -> None:
    """A message of another conversation cannot be marked read in this one."""
    conversation, other = await start(alice, bob), await start(alice, carol)
    message = (await seen(alice, other))["lastMessage"]["id"]
    code = await alice.refused("markConversationRead", conversationId=conversation, upToId=message)
    assert code == ("NOT_FOUND", ["upToId"])


async def test_a_deleted_account(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """The messages of a deleted account stay, without a sender; the member is no participant any more."""
    three, two = await start(bob, alice, carol, text="one"), await start(bob, alice, text="two")
    await bob.do("deleteAccount", password=PASSWORD)
    selection = "participants { login } messages { nodes { text sender { login } } }"
    found = await seen(alice, three, selection)
    assert {user["login"] for user in found["participants"]} == {"alice", "carol"}
    assert found["messages"]["nodes"] == [{"text": "one", "sender": None}]
    assert await alice.refused("sendMessage", conversationId=two, text="hi") == ("NOT_ALLOWED", ["conversationId"])
    assert await alice.refused("startConversation", userIds=[bob.id], text="hi") == ("NOT_FOUND", ["userIds", "0"])
    left = [key for key in await contents(db) if key.endswith(f":{number(bob.id)}") and key.startswith("conversation")]
    assert left == []
