"""A suspended viewer: stored and live, they see what a stranger sees, and what is theirs."""

from typing import Any

import pytest

from resolvers.process.services import Services
from resolvers.rules.visibility import (
    counts_as_member,
    hidden_senders,
    opens_group,
    permissions,
    sees_message,
)
from store import keys
from store.client.database import Database
from store.conversations.records import Conversation, Message, Participant
from store.groups.records import GroupKind
from store.records.members import NO_RELATIONSHIP, Relationship, User
from tests.rules.test_visibility_rules import RELATIONSHIPS
from tests.support import conversations
from tests.support.groups import create, let_in
from tests.support.people import Member, make_private
from tests.support.probes.sessions import log_in, suspend
from tests.support.transport.live import (
    GROUP,
    HOME,
    MESSAGES,
    Stream,
    begun,
    now,
    subscribed,
    watching,
)

NODE = "query($id: ID!) { node(id: $id) { id } }"
PROFILE = "query($login: String!) { user(login: $login) { login timeline(first: 9) { nodes { ... on Node { id } } } } }"
FOLLOWS = "query($login: String!) { user(login: $login) { following(first: 9) { nodes { login } } } }"
GROUP_PAGE = """query($id: ID!) { node(id: $id) { ... on Group { name description memberCount viewerRole
  members(first: 9) { nodes { login } } timeline(first: 9) { nodes { ... on Node { id } } } } } }"""
TALK = """query($id: ID!) { node(id: $id) { ... on Conversation { unreadCount lastMessage { id }
  messages(first: 9) { nodes { id } } } } }"""
TALKS = "{ viewer { unreadMessageCount conversations(first: 9) { nodes { id unreadCount lastMessage { text } } } } }"
SESSION_ENDED = 4403
NOTIFIED = "{ viewer { notifications(first: 9) { nodes { kind post { id } } } } }"


async def page(member: Member, query: str, field: str, **variables: Any) -> list[str]:
    """Return the ids or logins in a list below the one field of an answer."""
    nodes = (await member.ask(query, **variables))[field]["nodes"]
    return [node.get("id") or node["login"] for node in nodes]


async def befriend(bob: Member, carol: Member) -> tuple[str, str]:
    """Let bob follow the private carol and be in a private group of hers; returns her post, and the group."""
    await bob.follow(carol)
    await make_private(carol)
    group = await create(carol, "PRIVATE")
    await let_in(carol, group, bob)
    return await carol.post("to my followers"), group


@pytest.mark.parametrize("relation", [*RELATIONSHIPS, "stranger"])
@pytest.mark.parametrize("is_private", [False, True])
def test_the_rule(relation: str, is_private: bool) -> None:
    """In every relation, a suspended viewer has the permissions that they would have without following."""
    member = User(1, "member", "Member", "", 0, 0, 0, is_private, False)
    has = RELATIONSHIPS.get(relation, NO_RELATIONSHIP)
    without = Relationship(blocks=has.blocks, is_blocked=has.is_blocked, mutes=has.mutes)
    found = permissions(member, has, 3, is_moderator=False, is_suspended=True)
    assert found == permissions(member, without, 3, is_moderator=False)
    own = permissions(member, NO_RELATIONSHIP, 1, is_moderator=False, is_suspended=True)
    assert own == permissions(member, NO_RELATIONSHIP, 1, is_moderator=False)


@pytest.mark.parametrize("kind", list(GroupKind))
def test_the_rule_of_groups(kind: GroupKind) -> None:
    """A membership opens a private group to those who are not suspended, and to nobody else."""
    assert counts_as_member(is_member=True, is_suspended=False)
    for is_member in (False, True):
        assert not counts_as_member(is_member=is_member, is_suspended=True)
    assert not opens_group(None, is_member=True, is_banned=False), kind


def test_the_rule_of_messages() -> None:
    """A suspended participant sees their own messages, and those of nobody else."""
    talk = Conversation(1, tuple(Participant(member, 1) for member in (1, 2, 3)))
    relationships = dict.fromkeys((1, 2, 3), NO_RELATIONSHIP)
    for is_suspended in (False, True):
        seen = [
            sees_message(Message(9, 1, sender, "hi"), talk, 1, relationships, is_suspended=is_suspended)
            for sender in (1, 2, 3)
        ]
        assert seen == [True, not is_suspended, not is_suspended]
        hidden = hidden_senders(talk, 1, relationships, is_suspended=is_suspended)
        assert hidden == ([2, 3] if is_suspended else [])


async def test_private_members(
    services: Services, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """Posts and lists of private members whom they follow are out of sight, at home too, until the suspension ends."""
    post, _ = await befriend(bob, carol)
    await bob.follow(alice)
    public, own = await alice.post("to everybody"), await bob.post("mine")
    await make_private(bob)
    await suspend(services, bob)
    again = await log_in(anonymous, "bob")
    late = await carol.post("later")
    for hidden in (post, late):
        assert await again.ask(NODE, id=hidden) is None
        assert await again.refused("like", postId=hidden) == ("NOT_ALLOWED", None)
    assert await page(again, PROFILE, "timeline", login="carol") == []
    assert await page(again, FOLLOWS, "following", login="carol") == []
    assert await again.home() == [own, public]
    assert await page(again, PROFILE, "timeline", login="bob") == [own]
    await suspend(services, bob, end=True)
    assert await again.home() == [late, own, public, post]
    assert await page(again, PROFILE, "timeline", login="carol") == [late, post]


async def test_groups(services: Services, anonymous: Member, bob: Member, carol: Member) -> None:
    """What is in their private groups is out of sight, and their role there shows them nothing."""
    _, group = await befriend(bob, carol)
    post = await carol.post("among us", groupId=group)
    await suspend(services, bob)
    again = await log_in(anonymous, "bob")
    found = await again.ask(GROUP_PAGE, id=group)
    assert (found["memberCount"], found["viewerRole"], found["description"]) == (0, None, "")
    assert (found["members"], found["timeline"]) == (None, None)
    assert await again.ask(NODE, id=post) is None
    await suspend(services, bob, end=True)
    assert await page(again, GROUP_PAGE, "timeline", id=group) == [post]


@pytest.mark.parametrize("is_pair", [True, False])
async def test_messages(
    services: Services, anonymous: Member, alice: Member, bob: Member, carol: Member, is_pair: bool
) -> None:
    """Of their conversations, suspended members see what they wrote, and nothing that others write before or after."""
    talk = await conversations.start(carol, bob, *([] if is_pair else [alice]))
    own = await conversations.write(bob, talk, "mine")
    before = await conversations.write(carol, talk, "before")
    await suspend(services, bob)
    again = await log_in(anonymous, "bob")
    late = None if is_pair else await conversations.write(carol, talk, "late")  # nobody writes to them alone
    assert await again.ask(TALK, id=talk) == {
        "unreadCount": 0,
        "lastMessage": {"id": own},
        "messages": {"nodes": [{"id": own}]},
    }
    for message in filter(None, (before, late)):
        assert await again.ask(NODE, id=message) is None
    assert await again.ask(TALKS) == {
        "unreadMessageCount": 0,
        "conversations": {"nodes": [{"id": talk, "unreadCount": 0, "lastMessage": {"text": "mine"}}]},
    }
    await suspend(services, bob, end=True)
    assert (await again.ask(TALKS))["conversations"]["nodes"][0]["lastMessage"] == {
        "text": "before" if is_pair else "late"
    }


async def test_notifications(services: Services, anonymous: Member, bob: Member, carol: Member) -> None:
    """A notification about a post that they don't see is left out."""
    await befriend(bob, carol)
    await carol.post("listen, @bob")
    await suspend(services, bob)
    again = await log_in(anonymous, "bob")
    kinds = [node["kind"] for node in (await again.ask(NOTIFIED))["notifications"]["nodes"]]
    assert "MENTION" not in kinds
    await suspend(services, bob, end=True)
    assert (await again.ask(NOTIFIED))["notifications"]["nodes"][0]["kind"] == "MENTION"


async def texts(stream: Stream, last: str) -> list[str]:
    """Return everything that a stream delivers before a last text, as text."""
    found: list[str] = []
    while last not in (event := str(await stream.next())):
        found.append(event)
    return found


async def test_live_home(
    services: Services, db: Database, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """A live home has no post of a private member whom the suspended subscriber follows, live or replayed."""
    await befriend(bob, carol)
    await bob.follow(alice)
    await suspend(services, bob)
    again = await log_in(anonymous, "bob")
    cursor = await now(db)
    async with watching(again, db) as live:
        await carol.post("a secret")
        await alice.post("the last one")
        assert not [event for event in await texts(live, "the last one") if "a secret" in event]
    async with subscribed(again, HOME, after=cursor) as replayed:
        assert not [event for event in await texts(replayed, "the last one") if "a secret" in event]


async def test_live_messages(
    services: Services, db: Database, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """Live messages have neither a text nor a deletion of another's; they go on when the suspension ends."""
    talk = await conversations.start(carol, bob, alice)
    async with subscribed(bob, MESSAGES) as stream:
        await begun(db, bob, keys.messages_channel)
        await conversations.write(bob, talk, "mine")
        await texts(stream, "mine")
        cursor = stream.cursor
    await suspend(services, bob)
    again = await log_in(anonymous, "bob")
    secret = await conversations.write(carol, talk, "a secret")
    await conversations.delete(carol, secret)
    async with subscribed(again, MESSAGES, after=cursor) as stream:
        await begun(db, again, keys.messages_channel)
        another = await conversations.write(carol, talk, "another secret")
        await conversations.delete(carol, another)
        await suspend(services, bob, end=True)
        await conversations.write(carol, talk, "the last one")
        found = await texts(stream, "the last one")
    assert "secret" not in "".join(found)


async def test_live_group(services: Services, anonymous: Member, bob: Member, carol: Member) -> None:
    """A suspended member cannot subscribe to the timeline of their private group."""
    _, group = await befriend(bob, carol)
    async with subscribed(bob, GROUP, group=group) as stream:
        await suspend(services, bob)
        assert await stream.closed() == SESSION_ENDED
    again = await log_in(anonymous, "bob")
    async with subscribed(again, GROUP, group=group) as stream:
        assert await stream.code() == "BAD_USER_INPUT"
