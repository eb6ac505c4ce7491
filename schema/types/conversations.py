"""Conversations and their messages."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import strawberry

from resolvers import conversations, messages
from resolvers.reading.pictures import IMAGES_MOST
from schema.types.descriptions import (
    CREATED_AT,
    CURSOR,
    EDGES,
    IDEMPOTENCY_KEY,
    NODES,
    PAGE_INFO,
    connection,
    edge,
    limit,
)
from schema.types.images import Image, ImageInput
from schema.types.nodes import (
    After,
    Before,
    Info,
    Last,
    Node,
    PageInfo,
    TimelineFirst,
    batched,
    created_at,
    is_a,
    later,
    nodes_of,
)
from schema.types.users import User
from store.conversations import records

TEXT = f"1 to {limit('max_message')} characters in NFC."


def _participants(roots: list[records.Conversation], info: Info) -> Awaitable[Any]:
    return conversations.participants(info.context, roots)


def _last_message(roots: list[records.Conversation], info: Info) -> Awaitable[Any]:
    return conversations.last_messages(info.context, roots)


def _unread_count(roots: list[records.Conversation], info: Info) -> Awaitable[Any]:
    return conversations.unread_messages(info.context, roots)


def _last_read(roots: list[records.Conversation], info: Info) -> Awaitable[Any]:
    return conversations.last_read(info.context, roots)


def _messages(
    root: records.Conversation,
    info: Info,
    first: TimelineFirst = None,
    after: After = None,
    last: Last = None,
    before: Before = None,
) -> Awaitable[Any]:
    return messages.messages(info.context, root, messages.Span(first, after, last, before))


@strawberry.type(
    description="A private conversation of a fixed set of members, which only they know of. A block between the two "
    "members of a conversation of two hides it from both."
)
class Conversation(Node):
    participants = batched(
        _participants,
        graphql_type=list[User],
        description="The members who have not left, the viewer included. Members whom the viewer may not see are left "
        "out.",
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description=CREATED_AT)
    last_message = batched(
        _last_message,
        graphql_type=later("Message", __name__) | None,
        description="The newest message that the viewer sees. Null when there is none.",
    )
    unread_count = batched(
        _unread_count,
        graphql_type=int,
        description="How many messages by others, which the viewer sees, are newer than the newest one marked read. "
        "Messages of members whom the viewer mutes do not count.",
    )
    messages = strawberry.field(
        resolver=_messages,
        graphql_type=later("MessageConnection", __name__),
        description="The messages since the viewer takes part, newest first, without those by members whom the viewer "
        "blocks.",
    )
    viewer_last_read = batched(
        _last_read,
        graphql_type=later("Message", __name__) | None,
        description="The newest message that the viewer sees and has marked read. Null when there is none.",
    )

    is_type_of = is_a(records.Conversation)


@strawberry.type(description=edge("a conversation"))
class ConversationEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Conversation = strawberry.field(description="The conversation.")


@strawberry.type(description=connection("conversations"))
class ConversationConnection:
    edges: list[ConversationEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Conversation], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


def _conversation(roots: list[records.Message], info: Info) -> Awaitable[Any]:
    return messages.conversations_of(info.context, roots)


def _sender(roots: list[records.Message], info: Info) -> Awaitable[Any]:
    return messages.senders(info.context, roots)


@strawberry.type(description="A message in a conversation, which its participants see.")
class Message(Node):
    conversation = batched(_conversation, graphql_type=Conversation, description="The conversation that it is in.")
    sender = batched(
        _sender,
        graphql_type=User | None,
        description="The member who wrote it. Null once their account is gone, and where the viewer may not see them.",
    )
    text: str = strawberry.field(description=f"{TEXT} Perhaps empty for a message with pictures.")
    images: list[Image] = strawberry.field(
        description="Its pictures, at most four, in the order that its sender gave them."
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description=CREATED_AT)

    is_type_of = is_a(records.Message)


@strawberry.type(description=edge("a message"))
class MessageEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Message = strawberry.field(description="The message.")


@strawberry.type(description=connection("messages"))
class MessageConnection:
    edges: list[MessageEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Message], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


@strawberry.input(description="A message to a set of members.")
class StartConversationInput:
    user_ids: list[strawberry.ID] = strawberry.field(
        description="The ids of the other members. The same set is always the same conversation. It has at most "
        f"{limit('max_participants')} members, the viewer included."
    )
    text: str = strawberry.field(description=TEXT)
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)


@strawberry.input(description="A message to a conversation.")
class SendMessageInput:
    conversation_id: strawberry.ID = strawberry.field(description="The id of a conversation that the viewer is in.")
    text: str = strawberry.field(description=f"{TEXT} It may be empty where there are images.")
    images: list[ImageInput] | None = strawberry.field(
        default=None, description=f"At most {IMAGES_MOST} uploads for messages that are READY."
    )
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)


@strawberry.input(description="A conversation to act on.")
class ConversationIdInput:
    conversation_id: strawberry.ID = strawberry.field(description="The id of a conversation that the viewer is in.")


@strawberry.input(description="Which messages of a conversation to mark read.")
class MarkConversationReadInput:
    conversation_id: strawberry.ID = strawberry.field(description="The id of a conversation that the viewer is in.")
    up_to_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id of the newest message to mark read. Without it, all are marked read."
    )


@strawberry.input(description="A message to delete.")
class DeleteMessageInput:
    message_id: strawberry.ID = strawberry.field(description="The id of a message of the viewer's own.")
