"""The live events of a member's conversations: messages, deletions, and read marks of all their devices."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from resolvers.live.cursors import StreamEvent, StreamGap, read_position
from resolvers.live.waking import wakes
from resolvers.operation.context import Context
from resolvers.reading import global_ids, messaging, paging
from store.conversations import log
from store.conversations.log import Deleted, LoggedChange, Read, Received
from store.conversations.records import Conversation, Message
from store.ids import instant

CURSOR = "message-event"  # the kind in cursors of the subscription
READ_COUNT = 100  # changes that a subscription reads at a time
LOOK_COUNT, LOOK_SECONDS = 20, 0.5  # events that are looked up together, and how long the result is used
RENEWALS = 3  # how often a subscription reads the log at least, so that it is kept


@dataclass(frozen=True, slots=True)
class MessageReceived(StreamEvent):
    """Event of a new message. `context` is the context in which its visibility was decided."""

    message: Message
    context: Context = field(repr=False)


@dataclass(frozen=True, slots=True)
class MessageDeleted(StreamEvent):
    """Event of a message that was deleted."""

    message_id: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class ConversationRead(StreamEvent):
    """Event of a conversation that the viewer has read further, on any of their devices."""

    conversation: Conversation
    context: Context = field(repr=False)


MessageEvent = MessageReceived | MessageDeleted | ConversationRead | StreamGap


async def live(context: Context, after: str | None) -> AsyncGenerator[MessageEvent, None]:
    """Yield changes in the viewer's conversations: first those since the cursor `after`, then live ones.

    Nothing is queued. A slow client reads more of the log at a time, and gets a gap if changes were trimmed.
    """
    viewer = await context.member()
    newest = await log.newest(context.db, viewer)
    position = read_position(CURSOR, after, newest, viewer)
    async with aclosing(
        wakes(context.services.pubsub, log.channel(viewer), context.settings.message_events_seconds / RENEWALS)
    ) as woken:
        async for _ in woken:
            while changes := await _changes(context, viewer, position):
                async with aclosing(_events(context, changes)) as events:
                    async for place, event in events:
                        position = place
                        if event:
                            yield event


async def _changes(context: Context, viewer: int, position: int) -> list[LoggedChange | int]:
    """Return the changes after a position, or the newest id where some are missing."""
    found = await log.changes_after(context.db, viewer, position, READ_COUNT)
    if not found.floor <= position <= found.newest:  # trimmed, expired, or the store has lost its last writes
        return [found.newest]
    return list(found.found)


async def _events(
    operation: Context, changes: Sequence[LoggedChange | int]
) -> AsyncGenerator[tuple[int, MessageEvent | None], None]:
    """Yield the place and the event of each change, None where the viewer does not see it.

    Some are looked up together. A client that reads slowly has the rest looked up again before it gets them.
    """
    looked_up: list[tuple[int, MessageEvent | None]] = []
    clock, valid_until = asyncio.get_running_loop().time, 0.0
    for i in range(len(changes)):
        async with operation.room:
            if i == len(looked_up) or clock() > valid_until:
                looked_up[i:] = await _look_up(operation, changes[i : i + LOOK_COUNT])
                valid_until = clock() + LOOK_SECONDS
            yield looked_up[i]


async def _look_up(operation: Context, changes: Sequence[LoggedChange | int]) -> list[tuple[int, MessageEvent | None]]:
    context = operation.fresh(counted=False)
    deleted = [_shell(change) for change in changes if isinstance(change, Deleted)]
    received = [change.message for change in changes if isinstance(change, Received)]
    found = {message.id: message for message in await context.load.message.load_many(received) if message}
    candidates = [*found.values(), *deleted]
    of = {message.conversation_id for message in candidates}
    of |= {change.conversation for change in changes if isinstance(change, Read)}
    seen = dict(zip(of, await messaging.conversations(context, list(of)), strict=True))
    shown = {message.id for message in await messaging.seen(context, candidates, seen) if message}
    return [_event(context, change, shown, found, seen) for change in changes]


def _shell(change: Deleted) -> Message:
    """Return a deleted message without its text, to decide who would see it if it were there."""
    return Message(change.message, change.conversation, change.sender, "")


def _event(
    context: Context,
    change: LoggedChange | int,
    shown: Collection[int],
    messages: Mapping[int, Message],
    conversations: Mapping[int, Conversation | None],
) -> tuple[int, MessageEvent | None]:
    """Return the place and the event of a change, given the messages and conversations that the viewer sees."""
    if isinstance(change, int):
        return change, StreamGap(paging.cursor(CURSOR, change), datetime.now(UTC))
    cursor, at = paging.cursor(CURSOR, change.id), instant(change.id)
    event: MessageEvent | None = None
    match change:
        case Received() if change.message in shown:
            event = MessageReceived(cursor, at, messages[change.message], context)
        case Read() if conversation := conversations[change.conversation]:
            event = ConversationRead(cursor, at, conversation, context)
        case Deleted() if change.message in shown:
            gone, of = (
                global_ids.write("message", change.message),
                global_ids.write("conversation", change.conversation),
            )
            event = MessageDeleted(cursor, at, gone, of)
        case _:
            pass
    return change.id, event
