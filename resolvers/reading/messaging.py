"""Hydration of conversations and messages: ids become the records that the viewer may see."""

from collections.abc import Mapping, Sequence

from resolvers.operation.context import Context
from resolvers.process.errors import no_such
from resolvers.reading import global_ids, hydrate
from resolvers.rules import visibility
from store.conversations.records import Conversation, Message, Summary

SUMMARISED = ("unreadCount", "lastMessage", "viewerLastRead")  # fields that depend on all participants


async def conversations(context: Context, ids: Sequence[int]) -> list[Conversation | None]:
    """Return conversations as the viewer sees them, None for those they cannot see; two round trips.

    The first reads the conversations. The second reads the members who decide whether they are seen, and all
    participants if the document may ask for what depends on them.
    """
    viewer = context.viewer
    if viewer is None:
        return [None] * len(ids)
    load, is_summarised = context.load, any(map(context.wants, SUMMARISED))
    await load.all((load.conversation, ids), (load.read_mark, ids if is_summarised else ()))
    stored = load.conversation.loaded(ids)
    mine = [one for one in stored if one and one.since(viewer)]
    needed = {member for one in mine if is_summarised or one.is_pair for member in one.members}
    await hydrate.sight_of(context, needed)
    relationships = load.relationship.found
    return [one if one and visibility.sees_conversation(one, viewer, relationships) else None for one in stored]


async def conversation(context: Context, conversation_id: int) -> Conversation | None:
    """Return one conversation as the viewer sees it."""
    (shown,) = await conversations(context, [conversation_id])
    return shown


async def messages(context: Context, ids: Sequence[int]) -> list[Message | None]:
    """Return messages as the viewer sees them, None for those they cannot see; four round trips.

    The first reads the messages, two read their conversations as `conversations` does, and one reads the senders.
    """
    stored = await context.load.message.load_many(ids)
    known = [message for message in stored if message]
    of = list({message.conversation_id for message in known})
    conversations_of = dict(zip(of, await conversations(context, of), strict=True))
    return await seen(context, stored, conversations_of)


async def seen(
    context: Context, found: Sequence[Message | None], of: Mapping[int, Conversation | None]
) -> list[Message | None]:
    """Return those of some messages that the viewer sees, given the conversations that they see; one round trip."""
    known = [message for message in found if message and of[message.conversation_id]]
    await hydrate.sight_of(context, {message.sender_id for message in known})
    relationships, viewer = context.load.relationship.found, context.viewer or 0
    is_suspended = context.is_suspended

    def is_seen(message: Message) -> bool:
        conversation = of[message.conversation_id]
        return conversation is not None and visibility.sees_message(
            message, conversation, viewer, relationships, is_suspended=is_suspended
        )

    return [message if message and is_seen(message) else None for message in found]


async def summaries(context: Context, found: Sequence[Conversation]) -> list[Summary]:
    """Return what the viewer sees of conversations; one round trip if `conversations` has read what that depends on.

    They see nothing of a conversation that a reported message leads to.
    """
    if any(map(is_outside, found)):
        inside = iter(await summaries(context, [one for one in found if not is_outside(one)]))
        return [Summary(0, 0, None) if is_outside(one) else next(inside) for one in found]
    ids, load = [one.id for one in found], context.load
    await load.all((load.conversation, ids), (load.read_mark, ids))
    await hydrate.sight_of(context, {member for one in found for member in one.members})
    return await load.summary.load_many(ids)


def outside(conversation: int) -> Conversation:
    """Return a conversation as a moderator sees it who is not in it, but reads a report of one of its messages."""
    return Conversation(conversation, ())


def is_outside(conversation: Conversation) -> bool:
    """Return whether the viewer is not in a conversation, and has come to it by a report."""
    return not conversation.participants


async def named(context: Context, conversation_id: str) -> Conversation:
    """Return the conversation that a mutation names; raises Refused if the viewer does not see it."""
    number = global_ids.expect(conversation_id, ("conversation",), "conversationId")
    shown = await conversation(context, number)
    if shown is None:
        raise no_such("conversation", "conversationId")
    return shown
