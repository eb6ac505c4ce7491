"""Conversations and their messages, the inputs of their mutations, and what a subscription to messages delivers."""

from typing import Annotated

import strawberry

from resolvers import conversations
from resolvers.live import messages as live
from resolvers.reading.pictures import IMAGES_MOST
from schema.types.descriptions import IDEMPOTENCY_KEY, limit
from schema.types.fields import batched, field, is_a, later, resolved
from schema.types.images import Image, ImageInput
from schema.types.nodes import Node, created
from schema.types.paging import PAGE_EITHER_WAY, connection
from schema.types.streams import StreamEvent, StreamGap
from schema.types.users import User
from store.conversations import records

TEXT = f"1 to {limit('max_message')} characters in NFC."


@strawberry.type(
    description="A private conversation of a fixed set of members, which only they know of. A block between the two "
    "members of a conversation of two hides it from both."
)
class Conversation(Node):
    participants = batched(
        conversations.participants,
        list[User],
        "The members who have not left, the viewer included. Members whom the viewer may not see are left out.",
    )
    created_at = created()
    last_message = batched(
        conversations.last_messages,
        later("Message", __name__) | None,
        "The newest message that the viewer sees. Null when there is none.",
    )
    unread_count = batched(
        conversations.unread_messages,
        int,
        "How many messages by others, which the viewer sees, are newer than the newest one marked read. "
        "Messages of members whom the viewer mutes do not count.",
    )
    messages = resolved(
        conversations.messages,
        later("MessageConnection", __name__),
        "The messages since the viewer takes part, newest first, without those by members whom the viewer blocks.",
        takes=PAGE_EITHER_WAY,
    )
    viewer_last_read = batched(
        conversations.last_read,
        later("Message", __name__) | None,
        "The newest message that the viewer sees and has marked read. Null when there is none.",
    )

    is_type_of = is_a(records.Conversation)


ConversationConnection = connection(Conversation, "a conversation", "conversations")


@strawberry.type(description="A message in a conversation, which its participants see.")
class Message(Node):
    conversation = batched(conversations.conversations_of, Conversation, "The conversation that it is in.")
    sender = batched(
        conversations.senders,
        User | None,
        "The member who wrote it. Null once their account is gone, and where the viewer may not see them.",
    )
    text: str = field(f"{TEXT} Perhaps empty for a message with pictures.")
    images: list[Image] = field("Its pictures, at most four, in the order that its sender gave them.")
    created_at = created()

    is_type_of = is_a(records.Message, is_kept=True)


MessageConnection = connection(Message, "a message", "messages")


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


@strawberry.type(description="A message was sent to a conversation of the viewer's, perhaps by the viewer.")
class MessageReceived(StreamEvent):
    message: Message = field("The message.")

    is_type_of = is_a(live.MessageReceived)


@strawberry.type(description="Its sender deleted a message, which is gone for everybody.")
class MessageDeleted(StreamEvent):
    message_id: strawberry.ID = field("The id that the message had.")
    conversation_id: strawberry.ID = field("The id of the conversation that it was in.")

    is_type_of = is_a(live.MessageDeleted)


@strawberry.type(description="The viewer has marked messages of a conversation read, on whichever of their devices.")
class ConversationRead(StreamEvent):
    conversation: Conversation = field("The conversation, with its new `unreadCount`.")

    is_type_of = is_a(live.ConversationRead)


MessageEvent = Annotated[
    MessageReceived | MessageDeleted | ConversationRead | StreamGap,
    strawberry.union("MessageEvent", description="A change in the viewer's conversations."),
]
