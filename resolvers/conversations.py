"""Conversations: the viewer's list, what they see of each, read marks, and leaving."""

from collections.abc import Sequence
from itertools import islice

from resolvers.jobs import conversations as steps
from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.operation.context import Context
from resolvers.operation.payloads import ConversationPayload
from resolvers.process.errors import no_such
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, hydrate, messaging, paging
from resolvers.reading.paging import NodeEdge, Page
from store import kinds
from store.conversations import entries
from store.conversations import messages as conversations
from store.conversations.records import Conversation, Message
from store.records.members import User


async def conversations_of(
    context: Context, who: Claims, first: int | None, after: str | None
) -> Page[NodeEdge[Conversation]]:
    """Return the viewer's conversations, newest message first."""
    key = kinds.CONVERSATIONS.key(who.member)
    return await paging.read_list(context, "conversations", key, messaging.conversations, first, after)


async def unread_count(context: Context, who: Claims) -> int:
    """Return the number of conversations in which the viewer has unread messages. A suspended member sees none."""
    (count,) = await context.batcher.run([entries.unread_command(who.member)])
    return 0 if context.is_suspended else int(count)


async def participants(context: Context, found: Sequence[Conversation]) -> list[list[User]]:
    """Return the participants of each conversation who have not left, as far as the viewer sees them."""
    users = iter(await hydrate.users(context, [member for one in found for member in one.present]))
    return [[user for user in islice(users, len(one.present)) if user] for one in found]


async def unread_messages(context: Context, found: Sequence[Conversation]) -> list[int]:
    """Return the number of messages in each conversation that the viewer has not read."""
    return [summary.unread for summary in await messaging.summaries(context, found)]


async def last_messages(context: Context, found: Sequence[Conversation]) -> list[Message | None]:
    """Return the newest message of each conversation that the viewer sees."""
    return [summary.last for summary in await messaging.summaries(context, found)]


async def last_read(context: Context, found: Sequence[Conversation]) -> list[Message | None]:
    """Return the newest message of each conversation that the viewer sees and has marked read."""
    ids = [summary.last_read for summary in await messaging.summaries(context, found)]
    messages = iter(await context.load.message.load_many([message for message in ids if message]))
    return [next(messages) if message else None for message in ids]


async def mark_conversation_read(
    context: Context, *, conversation_id: str, up_to_id: str | None = None
) -> ConversationPayload:
    """Mark all messages of a conversation, or all up to one, as read. Read messages stay read."""
    viewer = await context.member()
    until = None if up_to_id is None else global_ids.expect(up_to_id, ("message",), "upToId")
    conversation = await messaging.named(context, conversation_id)
    if until is None:
        (last,) = await last_messages(context, [conversation])
        until = last.id if last else 0
    else:
        (message,) = await messaging.messages(context, [until])
        if message is None or message.conversation_id != conversation.id:
            raise no_such("message in this conversation", "upToId")
    if not await entries.mark_read(context.db, viewer, conversation.id, until):
        # Race: the job of the message that has just begun the conversation has not reached the viewer yet.
        await steps.update(context.db, conversation.id, Budget(0))
        await entries.mark_read(context.db, viewer, conversation.id, until)
    return await _after(context, conversation.id)


async def leave_conversation(context: Context, *, conversation_id: str) -> ConversationPayload:
    """Leave a conversation. When the last participant leaves, it is deleted."""
    viewer = await context.member()
    conversation = await messaging.named(context, conversation_id)
    job = await conversations.leave(context.db, conversation.id, viewer)
    if job is None:
        raise no_such("conversation", "conversationId")
    await dispatch.finish(context.db, job, context.batcher)
    return await _after(context, conversation.id)


async def _after(context: Context, conversation: int) -> ConversationPayload:
    context.forget()
    return ConversationPayload(conversation=await messaging.conversation(context, conversation))
