"""The events that a subscription to messages delivers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

import strawberry

from resolvers.live import messages
from schema.types.conversations import Conversation, Message
from schema.types.nodes import Info, is_a
from schema.types.streams import Resume, StreamEvent, StreamGap


@strawberry.type(description="A message was sent to a conversation of the viewer's, perhaps by the viewer.")
class MessageReceived(StreamEvent):
    message: Message = strawberry.field(description="The message.")

    is_type_of = is_a(messages.MessageReceived)


@strawberry.type(description="Its sender deleted a message, which is gone for everybody.")
class MessageDeleted(StreamEvent):
    message_id: strawberry.ID = strawberry.field(description="The id that the message had.")
    conversation_id: strawberry.ID = strawberry.field(description="The id of the conversation that it was in.")

    is_type_of = is_a(messages.MessageDeleted)


@strawberry.type(description="The viewer has marked messages of a conversation read, on whichever of their devices.")
class ConversationRead(StreamEvent):
    conversation: Conversation = strawberry.field(description="The conversation, with its new `unreadCount`.")

    is_type_of = is_a(messages.ConversationRead)


MessageEvent = Annotated[
    MessageReceived | MessageDeleted | ConversationRead | StreamGap,
    strawberry.union("MessageEvent", description="A change in the viewer's conversations."),
]


async def live(info: Info, after: Resume = None) -> AsyncGenerator[Any, None]:
    async with aclosing(messages.live(info.context, after)) as events:
        async for event in events:
            yield event
