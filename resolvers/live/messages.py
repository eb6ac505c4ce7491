"""What subscribers get of their conversations: messages, deletions, and what they have read on other devices."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from resolvers.live.cursors import StreamGap
from resolvers.operation.context import Context
from resolvers.operation.errors import BadUserInput
from resolvers.reading import global_ids, messaging, paging
from resolvers.rules.conversations import sees_message
from store.conversations import log
from store.conversations.log import Deleted, LoggedChange, Read, Received
from store.conversations.records import Conversation, Message
from store.ids import CLOCK_SKEW, instant, partition

CURSOR = "message-event"  # the kind in cursors of the subscription
READ_COUNT = 100  # changes that a subscription reads at a time
RENEWALS = 3  # how often a subscription reads the log at least, so that it is kept


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """Event of a new message. `context` is the context in which its visibility was decided."""

    cursor: str
    at: datetime
    message: Message
    context: Context = field(repr=False)


@dataclass(frozen=True, slots=True)
class MessageDeleted:
    """Event of a message that was deleted."""

    cursor: str
    at: datetime
    message_id: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class ConversationRead:
    """Event of a conversation that the viewer has read further, on any of their devices."""

    cursor: str
    at: datetime
    conversation: Conversation
    context: Context = field(repr=False)


MessageEvent = MessageReceived | MessageDeleted | ConversationRead | StreamGap


async def live(context: Context, after: str | None) -> AsyncGenerator[MessageEvent, None]:
    """Yield changes in the viewer's conversations: first those since the cursor `after`, then live ones.

    Nothing is queued. A slow client reads more of the log at a time, and gets a gap if changes were trimmed.
    """
    viewer = await context.member()
    newest = await log.newest(context.db, viewer)
    position = newest if after is None else _position(after, viewer, newest)
    changed = asyncio.Event()

    def wake(_: str) -> None:
        changed.set()

    channel, pubsub = log.channel(viewer), context.services.pubsub
    try:
        pubsub.listen(channel, wake)
        changed.set()  # for changes between the first read and this subscription
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(context.settings.message_events_seconds / RENEWALS):
                    await changed.wait()
            changed.clear()
            while changes := await _changes(context, viewer, position):
                for change in changes:
                    async with context.room:
                        event = await _event(context, change)
                        position = change if isinstance(change, int) else change.id
                        if event:
                            yield event
    finally:
        pubsub.ignore(channel, wake)


async def _changes(context: Context, viewer: int, position: int) -> list[LoggedChange | int]:
    """Return the changes after a position, or the newest id where some are missing."""
    found = await log.changes_after(context.db, viewer, position, READ_COUNT)
    if not found.floor <= position <= found.newest:  # trimmed, expired, or the store has lost its last writes
        return [found.newest]
    return list(found.found)


async def _event(operation: Context, change: LoggedChange | int) -> MessageEvent | None:
    """Return the event of a change as the viewer sees it now, None if they do not see it."""
    if isinstance(change, int):
        return StreamGap(paging.cursor(CURSOR, change), datetime.now(UTC))
    cursor, at, context = paging.cursor(CURSOR, change.id), instant(change.id), operation.fresh(counted=False)
    match change:
        case Received():
            (message,) = await messaging.messages(context, [change.message])
            return MessageReceived(cursor, at, message, context) if message else None
        case Read():
            conversation = await messaging.conversation(context, change.conversation)
            return ConversationRead(cursor, at, conversation, context) if conversation else None
        case Deleted():
            if not await _was_seen(context, change):
                return None
            gone, of = global_ids.message_id(change.message), global_ids.conversation_id(change.conversation)
            return MessageDeleted(cursor, at, gone, of)


async def _was_seen(context: Context, change: Deleted) -> bool:
    """Return whether the viewer would see a deleted message if it were there."""
    found = await messaging.conversation(context, change.conversation)
    gone = Message(change.message, change.conversation, change.sender, "")
    return found is not None and sees_message(gone, found, context.viewer or 0, context.load.relationship.found)


def _position(after: str, viewer: int, newest: int) -> int:
    """Return the id in a cursor. Raises BadUserInput for a malformed one, another member's, and one from the future."""
    position = paging.read_cursor(CURSOR, after, "after")
    if partition(position) != partition(viewer):
        raise BadUserInput("after: this cursor is of another member")
    if position > newest and instant(position) > datetime.now(UTC) + CLOCK_SKEW:
        raise BadUserInput("after: this cursor is of the future")
    return position
