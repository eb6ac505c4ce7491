"""Who sees a conversation and its messages: pure functions.

Only participants who have not left see a conversation, from the moment on since which they take part. A block in either
direction hides a conversation of two from both. In a larger one, a member who blocks a participant does not see that
participant's messages. A suspended member sees their conversations and what they wrote, and no message of others. While
a member mutes a participant, that participant's messages count as read.
"""

from collections.abc import Mapping

from store.conversations.records import Conversation, Message
from store.records.members import Relationship

Relationships = Mapping[int, Relationship]  # of the viewer, to all other members of the conversation


def sees_conversation(conversation: Conversation, viewer: int | None, relationships: Relationships) -> bool:
    """Return whether a viewer sees a conversation."""
    if viewer is None or not conversation.since(viewer):
        return False
    return not conversation.is_pair or not any(
        relationships[member].blocks or relationships[member].is_blocked
        for member in conversation.members
        if member != viewer
    )


def hidden_senders(
    conversation: Conversation, viewer: int, relationships: Relationships, *, is_suspended: bool
) -> list[int]:
    """Return the participants whose messages a viewer does not see; `is_suspended` says whether the viewer is."""
    return [
        member for member in conversation.members if member != viewer and (is_suspended or relationships[member].blocks)
    ]


def muted_senders(conversation: Conversation, viewer: int, relationships: Relationships) -> list[int]:
    """Return the participants whose messages are never unread, because the viewer mutes them."""
    return [member for member in conversation.members if member != viewer and relationships[member].mutes]


def sees_message(
    message: Message, conversation: Conversation, viewer: int, relationships: Relationships, *, is_suspended: bool
) -> bool:
    """Return whether a viewer who sees a conversation sees one of its messages; `is_suspended` as above."""
    return message.id > conversation.since(viewer) and (
        message.sender_id == viewer or not (is_suspended or relationships[message.sender_id].blocks)
    )
