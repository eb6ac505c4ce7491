"""Conversations as members have them: writing, reading, and the view of each participant."""

from typing import Any

from tests.support.people import Member

SENT = "message { id text sender { login } } conversation { id }"
CONVERSATION = """id participants { login } lastMessage { id text } unreadCount
  viewerLastRead { id } messages(first: 100) { nodes { id text } }"""

LIST = """{ viewer { unreadMessageCount conversations(first: 100) {
  nodes { id lastMessage { text } unreadCount } } } }"""


async def start(member: Member, *others: Member, text: str = "hello", **fields: Any) -> str:
    """Begin or continue the conversation with other members; returns its id."""
    payload = await member.do("startConversation", SENT, userIds=[other.id for other in others], text=text, **fields)
    assert not payload["userErrors"], payload
    identity: str = payload["conversation"]["id"]
    return identity


async def write(member: Member, conversation: str, text: str = "hello", **fields: Any) -> str:
    """Send a message; returns its id."""
    payload = await member.do("sendMessage", SENT, conversationId=conversation, text=text, **fields)
    assert not payload["userErrors"], payload
    identity: str = payload["message"]["id"]
    return identity


async def delete(member: Member, message: str) -> None:
    """Delete a message of one's own."""
    payload = await member.do("deleteMessage", "deletedMessageId", messageId=message)
    assert payload == {"deletedMessageId": message, "userErrors": []}


async def mark_read(member: Member, conversation: str, **fields: Any) -> None:
    """Mark a conversation read, up to one message or all of them."""
    payload = await member.do("markConversationRead", "conversation { id }", conversationId=conversation, **fields)
    assert payload == {"conversation": {"id": conversation}, "userErrors": []}


async def leave(member: Member, conversation: str) -> None:
    """Leave a conversation."""
    payload = await member.do("leaveConversation", "conversation { id }", conversationId=conversation)
    assert payload == {"conversation": None, "userErrors": []}


async def seen(member: Member, conversation: str, selection: str = CONVERSATION) -> Any:
    """Return a conversation as a member sees it, None if they do not."""
    query = f"query($id: ID!) {{ node(id: $id) {{ ... on Conversation {{ {selection} }} }} }}"
    return await member.ask(query, id=conversation)


async def texts(member: Member, conversation: str) -> list[str]:
    """Return the texts of a conversation's messages as a member sees them, newest first."""
    return [node["text"] for node in (await seen(member, conversation))["messages"]["nodes"]]


async def listed(member: Member) -> tuple[int, list[tuple[str, str | None, int]]]:
    """Return how many conversations have unread messages, and for each its id, last text and unread messages."""
    viewer = await member.ask(LIST)
    nodes = viewer["conversations"]["nodes"]
    found = [(one["id"], one["lastMessage"] and one["lastMessage"]["text"], one["unreadCount"]) for one in nodes]
    return viewer["unreadMessageCount"], found
