"""The events that a subscription to messages delivers."""

from typing import Annotated

import strawberry

from resolvers.live import messages
from schema.types.conversations import Conversation, Message
from schema.types.fields import field, is_a
from schema.types.streams import StreamEvent, StreamGap


@strawberry.type(description="A message was sent to a conversation of the viewer's, perhaps by the viewer.")
class MessageReceived(StreamEvent):
    message: Message = field("The message.")

    is_type_of = is_a(messages.MessageReceived)


@strawberry.type(description="Its sender deleted a message, which is gone for everybody.")
class MessageDeleted(StreamEvent):
    message_id: strawberry.ID = field("The id that the message had.")
    conversation_id: strawberry.ID = field("The id of the conversation that it was in.")

    is_type_of = is_a(messages.MessageDeleted)


@strawberry.type(description="The viewer has marked messages of a conversation read, on whichever of their devices.")
class ConversationRead(StreamEvent):
    conversation: Conversation = field("The conversation, with its new `unreadCount`.")

    is_type_of = is_a(messages.ConversationRead)


MessageEvent = Annotated[
    MessageReceived | MessageDeleted | ConversationRead | StreamGap,
    strawberry.union("MessageEvent", description="A change in the viewer's conversations."),
]
