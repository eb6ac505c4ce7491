"""Notifications: the list, the unread count, marking as read, and the subscription."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from resolvers.live.cursors import StreamEvent, StreamGap, read_position
from resolvers.live.waking import wakes
from resolvers.operation.context import Context
from resolvers.operation.payloads import ViewerPayload
from resolvers.process.errors import no_such
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, groups, hydrate, notification_list, paging
from resolvers.reading.paging import NodeEdge, Page
from store import kinds, notifications
from store.groups.records import Group
from store.ids import instant
from store.notifications import Notification
from store.records.lists import Entry
from store.records.members import User
from store.records.posts import Comment, Post
from store.timelines import Slice, read_slice

CURSOR = "notifications"  # the kind in cursors of the list and of the subscription
READ_COUNT = 100  # changes of each kind that a subscription reads at a time


async def received(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[Notification]]:
    """Return the viewer's notifications, newest first."""
    asked = paging.window(context.settings, CURSOR, first=first, after=after)
    key = kinds.NOTIFICATIONS.key(who.member)

    async def fetch(part: Slice) -> list[Entry]:
        (reply,) = await context.batcher.run([read_slice(key, part)])
        received_now = notifications.read_notifications(reply)
        context.load.notification.prime({notification.id: notification for notification in received_now})
        return [Entry(notification.id, notification.id) for notification in received_now]

    present = paging.presenting(context, asked, notification_list.notifications)
    return await paging.page(asked, fetch, present, goes_on=paging.beyond(context, key, asked))


async def unread_count(context: Context, who: Claims) -> int:
    """Return the number of notifications newer than the newest one marked as read."""
    (count,) = await context.batcher.run([notifications.unread(who.member)])
    return int(count)


async def mark_notifications_read(context: Context, *, up_to_id: str | None = None) -> ViewerPayload:
    """Mark all notifications, or all up to one, as read. Read notifications stay read."""
    viewer = await context.member()
    until = None if up_to_id is None else global_ids.expect(up_to_id, ("notification",), "upToId")
    if await notifications.mark_read(context.db, viewer, until):
        raise no_such("notification", "upToId")
    context.forget()
    return ViewerPayload(viewer=context.claims)


async def is_read(context: Context, notification: Notification) -> bool:
    """Return whether one of the viewer's notifications was marked as read."""
    return notification.id <= await context.load.read_until.load(context.viewer or 0)


async def actor(context: Context, notification: Notification) -> User | None:
    """Return the member whose action a notification is about; None if it is about none."""
    return await hydrate.user(context, notification.actor) if notification.actor else None


async def actors(context: Context, found: Sequence[Notification], first: int | None) -> list[list[User]]:
    """Return the newest members behind each notification, of whom the viewer sees each.

    Raises BadUserInput if `first` is out of range.
    """
    asked = paging.window(context.settings, "actors", first=first)
    acting = [notification.actors[: asked.count] for notification in found]
    users = iter(await hydrate.users(context, [member for each in acting for member in each]))
    return [[user for _ in each if (user := next(users)) is not None] for each in acting]


async def post(context: Context, notification: Notification) -> Post | None:
    """Return the post that a notification is about."""
    return await hydrate.post(context, notification.post) if notification.post else None


async def comment(context: Context, notification: Notification) -> Comment | None:
    """Return the comment that a notification is about."""
    return await hydrate.comment(context, notification.comment) if notification.comment else None


async def group(context: Context, notification: Notification) -> Group | None:
    """Return the group that a notification is about."""
    return await groups.group(context, notification.group) if notification.group else None


@dataclass(frozen=True, slots=True)
class NotificationReceived(StreamEvent):
    """Event of a new notification. `context` is the context in which its visibility was decided."""

    notification: Notification
    unread_count: int
    context: Context = field(repr=False)


@dataclass(frozen=True, slots=True)
class NotificationWithdrawn(StreamEvent):
    """Event of a notification that was withdrawn."""

    notification_id: str
    unread_count: int
    context: Context = field(repr=False)


NotificationEvent = NotificationReceived | NotificationWithdrawn | StreamGap
Change = tuple[int, Notification | int | None]  # id; the new notification, a withdrawn one's id, or None for a gap


async def live(context: Context, after: str | None) -> AsyncGenerator[NotificationEvent, None]:
    """Yield the viewer's new and withdrawn notifications: first those since the cursor `after`, then live ones.

    Nothing is queued. A slow client reads more of the stored changes at a time, and gets a gap if they were trimmed.
    """
    viewer = await context.member()
    newest = await notifications.newest(context.db, viewer)
    position = read_position(CURSOR, after, newest, viewer)
    async with aclosing(wakes(context.services.pubsub, notifications.channel(viewer))) as woken:
        async for _ in woken:
            while changes := await _changes(context, viewer, position):
                for place, what in changes:
                    async with context.room:
                        event = await _event(context, place, what)
                        position = place
                        if event:
                            yield event


async def _changes(context: Context, viewer: int, position: int) -> list[Change]:
    found = await notifications.changes_after(context.db, viewer, position, READ_COUNT)
    if not found.floor <= position <= found.newest:  # trimmed, or the store has lost its last writes
        return [(found.newest, None)]
    changes: list[Change] = [(notification.id, notification) for notification in found.came]
    changes += [(entry.place, entry.entity) for entry in found.withdrawn]
    return sorted(changes, key=lambda change: change[0])[:READ_COUNT]


async def _event(operation: Context, place: int, what: Notification | int | None) -> NotificationEvent | None:
    """Return the event of a change as the viewer sees it now; None if they do not see the notification."""
    cursor = paging.cursor(CURSOR, place)
    if what is None:
        return StreamGap(cursor, datetime.now(UTC))
    context = operation.fresh(counted=False)
    seen = notification_list.notifications(context, [what.id] if isinstance(what, Notification) else [])
    (count,), found = await asyncio.gather(context.batcher.run([notifications.unread(context.viewer or 0)]), seen)
    if isinstance(what, int):
        return NotificationWithdrawn(
            cursor, instant(place), global_ids.write("notification", what), int(count), context
        )
    (notification,) = found
    return NotificationReceived(cursor, instant(place), notification, int(count), context) if notification else None
