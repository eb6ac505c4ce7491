"""Hydration of conversations and messages: ids become the records that the viewer may see."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from resolvers.operation.context import Context
from resolvers.operation.errors import UserErrorCode, refuse
from resolvers.reading import global_ids, hydrate
from resolvers.rules import conversations as rules
from store.conversations.records import Conversation, Message
from store.records import User


async def conversations(context: Context, ids: Sequence[int]) -> list[Conversation | None]:
    """Return conversations as the viewer sees them, None for those they cannot see; two round trips.

    The first reads the conversations and the viewer's read marks. The second reads the participants, and the viewer's
    relationships to them.
    """
    viewer = context.viewer
    if viewer is None:
        return [None] * len(ids)
    load = context.load
    await load.all((load.conversation, ids), (load.read_mark, ids))
    found = load.conversation.loaded(ids)
    mine = [one for one in found if one and one.since(viewer)]
    await hydrate.sight_of(context, {member for one in mine for member in one.members})
    relationships = load.relationship.found
    return [one if one and rules.sees_conversation(one, viewer, relationships) else None for one in found]


async def conversation(context: Context, conversation_id: int) -> Conversation | None:
    """Return one conversation as the viewer sees it."""
    (found,) = await conversations(context, [conversation_id])
    return found


async def messages(context: Context, ids: Sequence[int]) -> list[Message | None]:
    """Return messages as the viewer sees them, None for those they cannot see; three round trips.

    The first reads the messages, the others read their conversations as `conversations` does.
    """
    viewer = context.viewer
    if viewer is None:
        return [None] * len(ids)
    found = await context.load.message.load_many(ids)
    of = list({message.conversation_id for message in found if message})
    seen = dict(zip(of, await conversations(context, of), strict=True))
    relationships = context.load.relationship.found

    def is_seen(message: Message) -> bool:
        conversation = seen[message.conversation_id]
        return conversation is not None and rules.sees_message(message, conversation, viewer, relationships)

    return [message if message and is_seen(message) else None for message in found]


async def participants(context: Context, found: Sequence[Conversation]) -> list[list[User]]:
    """Return the participants of each conversation who have not left, as far as the viewer sees them."""
    users = iter(await hydrate.users(context, [member for one in found for member in one.present]))
    return [[user for user in islice(users, len(one.present)) if user] for one in found]


async def named(context: Context, conversation_id: str) -> Conversation:
    """Return the conversation that a mutation names; raises Refused if the viewer does not see it."""
    number = global_ids.expect(conversation_id, ("conversation",), "conversationId")
    found = await conversation(context, number)
    if found is None:
        raise gone()
    return found


def gone() -> Exception:
    """Return the refusal of a conversation that the viewer does not see."""
    return refuse(UserErrorCode.NOT_FOUND, "conversationId: there is no such conversation", "conversationId")
