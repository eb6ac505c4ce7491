"""The mutations of conversations and messages."""

import strawberry

from resolvers import conversations
from schema.mutations.declaring import mutation
from schema.types.conversations import (
    ConversationIdInput,
    DeleteMessageInput,
    MarkConversationReadInput,
    SendMessageInput,
    StartConversationInput,
)
from schema.types.descriptions import limit


@strawberry.type
class ConversationMutations:
    """A part of `Mutation`."""

    start_conversation = mutation(
        conversations.start_conversation,
        StartConversationInput,
        "Sends a message to the conversation of the viewer and some members, which begins with it if there "
        "is none. Those who had left are in it again. Each of those who are added must allow it with `messagesFrom`. "
        f"A member begins at most {limit('conversations_per_hour')} conversations an hour with members who do not all "
        "follow them.",
        limited=True,
    )
    send_message = mutation(
        conversations.send_message,
        SendMessageInput,
        "Sends a message. In a conversation of two, the other member must allow it with `messagesFrom`. "
        "It is refused with NOT_ALLOWED where nobody else is left. A member sends at most "
        f"{limit('messages_per_hour')} messages an hour.",
        limited=True,
    )
    delete_message = mutation(
        conversations.delete_message,
        DeleteMessageInput,
        "Deletes a message of the viewer's own, for everybody and for good.",
    )
    mark_conversation_read = mutation(
        conversations.mark_conversation_read,
        MarkConversationReadInput,
        "Marks messages of a conversation read. Those marked read stay so.",
    )
    leave_conversation = mutation(
        conversations.leave_conversation,
        ConversationIdInput,
        "Leaves a conversation, which the viewer then does not see any more. When the last member leaves, "
        "it is deleted.",
    )
