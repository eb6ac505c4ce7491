"""What a member is told of others: a list, how much of it is unread, and the same live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from resolvers.live.cursors import StreamGap
from resolvers.operation.context import Context
from resolvers.operation.errors import BadUserInput, UserErrorCode, refuse
from resolvers.operation.payloads import ViewerPayload
from resolvers.operation.tokens import Claims
from resolvers.reading import global_ids, hydrate, paging
from resolvers.reading.paging import NodeEdge, Page
from store import keys, notifications
from store.ids import CLOCK_SKEW, instant, partition
from store.notifications import Notification
from store.records import Comment, Entry, Post, User
from store.timelines import Slice, read_slice

CURSOR = "notifications"  # what cursors of the list and of the subscription are marked with
READ_COUNT = 100  # changes of each kind read at a time by a subscription


async def received(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[Notification]]:
    """Return what the viewer is told, newest first."""
    asked = paging.window(context.settings, CURSOR, first=first, after=after)
    key = keys.notifications(who.member)

    async def fetch(part: Slice) -> list[Entry]:
        (reply,) = await context.batcher.run([read_slice(key, part)])
        found = notifications.read_notifications(reply)
        context.load.notification.prime({told.id: told for told in found})
        return [Entry(told.id, told.id) for told in found]

    async def present(entries: Sequence[Entry]) -> list[NodeEdge[Notification] | None]:
        found = await hydrate.notifications(context, [entry.place for entry in entries])
        return [NodeEdge(paging.cursor(CURSOR, told.id), told, told.id) if told else None for told in found]

    return await paging.page(asked, fetch, present, goes_on=paging.beyond(context, asked, key))


async def unread_count(context: Context, who: Claims) -> int:
    """Return how many notifications came after the newest one marked read."""
    (count,) = await context.batcher.run([notifications.unread(who.member)])
    return int(count)


async def mark_notifications_read(context: Context, *, up_to_id: str | None = None) -> ViewerPayload:
    """Mark notifications read, all of them or all up to one; what is read stays read."""
    viewer = await context.member()
    until = None if up_to_id is None else global_ids.expect(up_to_id, ("notification",), "upToId")
    if not await notifications.mark_read(context.db, viewer, until):
        raise refuse(UserErrorCode.NOT_FOUND, "upToId: there is no such notification", "upToId")
    context.forget()
    return ViewerPayload(viewer=context.claims)


async def is_read(context: Context, notification: Notification) -> bool:
    """Return whether a notification of the viewer's was marked read."""
    return notification.id <= await context.load.read_until.load(context.viewer or 0)


async def actor(context: Context, notification: Notification) -> User | None:
    """Return who did what a notification tells."""
    return await hydrate.user(context, notification.actor)


async def post(context: Context, notification: Notification) -> Post | None:
    """Return the post that a notification is about."""
    return await hydrate.post(context, notification.post) if notification.post else None


async def comment(context: Context, notification: Notification) -> Comment | None:
    """Return the comment that a notification is about."""
    return await hydrate.comment(context, notification.comment) if notification.comment else None


@dataclass(frozen=True, slots=True)
class NotificationReceived:
    """The viewer is told something; `context` is what it was decided in."""

    cursor: str
    at: datetime
    notification: Notification
    unread_count: int
    context: Context = field(repr=False)


@dataclass(frozen=True, slots=True)
class NotificationWithdrawn:
    """What the viewer was told is no longer so."""

    cursor: str
    at: datetime
    notification_id: str
    unread_count: int
    context: Context = field(repr=False)


NotificationEvent = NotificationReceived | NotificationWithdrawn | StreamGap
Change = tuple[int, Notification | int | None]  # its id; what came, or was withdrawn, or that something was lost


async def live(context: Context, after: str | None) -> AsyncGenerator[NotificationEvent, None]:
    """Yield what the viewer is told, and what of it is withdrawn: first what came since `after`, then live.

    Nothing is queued: a slow reader reads a longer part of what is stored, and gets a gap where that was trimmed.
    """
    viewer = await context.member()
    newest = await notifications.newest(context.db, viewer)
    position = newest if after is None else _position(after, viewer, newest)
    changed = asyncio.Event()

    def wake(_: str) -> None:
        changed.set()

    channel, pubsub = keys.told(viewer), context.services.pubsub
    try:
        pubsub.listen(channel, wake)
        changed.set()  # for what happened between the first look and now
        while True:
            await changed.wait()
            changed.clear()
            while changes := await _changes(context, viewer, position):
                for place, what in changes:
                    async with context.room:
                        event = await _event(context, place, what)
                        position = place
                        if event:
                            yield event
    finally:
        pubsub.ignore(channel, wake)


async def _changes(context: Context, viewer: int, position: int) -> list[Change]:
    found = await notifications.changes_after(context.db, viewer, position, READ_COUNT)
    if not found.floor <= position <= found.newest:  # trimmed; or of a store that lost its last moments
        return [(found.newest, None)]
    changes: list[Change] = [(told.id, told) for told in found.came]
    changes += [(entry.place, entry.thing) for entry in found.withdrawn]
    return sorted(changes, key=lambda change: change[0])[:READ_COUNT]


async def _event(operation: Context, place: int, what: Notification | int | None) -> NotificationEvent | None:
    """Return the event of a change as the viewer sees it now, None for what they do not see."""
    cursor = paging.cursor(CURSOR, place)
    if what is None:
        return StreamGap(cursor, datetime.now(UTC))
    context = operation.fresh(counted=False)
    seen = hydrate.notifications(context, [what.id] if isinstance(what, Notification) else [])
    (count,), found = await asyncio.gather(context.batcher.run([notifications.unread(context.viewer or 0)]), seen)
    if isinstance(what, int):
        return NotificationWithdrawn(cursor, instant(place), global_ids.notification_id(what), int(count), context)
    (told,) = found
    return NotificationReceived(cursor, instant(place), told, int(count), context) if told else None


def _position(after: str, viewer: int, newest: int) -> int:
    """Return the id from which a subscriber goes on; raises BadUserInput for a cursor that is not one of theirs."""
    position = paging.read_cursor(CURSOR, after, "after")
    if position and partition(position) != partition(viewer):  # 0 is the place before all
        raise BadUserInput("after: this cursor is of another member")
    if position > newest and instant(position) > datetime.now(UTC) + CLOCK_SKEW:
        raise BadUserInput("after: this cursor is of the future")
    return position
