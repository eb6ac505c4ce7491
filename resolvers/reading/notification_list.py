"""Notifications as the viewer sees them, with the members who are behind those of likes."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from resolvers.loading.dataloader import Lookup
from resolvers.operation.context import Context
from resolvers.reading import groups, hydrate
from resolvers.rules import visibility
from resolvers.rules.visibility import Sight
from store.notifications import Likers, Notification, likers_commands, read_likers


async def notifications(context: Context, ids: Sequence[int]) -> list[Notification | None]:
    """Return the viewer's notifications, None for another member's and for those about something unseen.

    Three round trips: the notifications, their posts and comments, and what those name.
    """
    if context.viewer is None:
        return [None] * len(ids)
    stored = await context.load.notification.load_many(ids)
    known = [notification for notification in stored if notification]
    below, remarks, invited = [
        list({getattr(notification, field) for notification in known} - {0}) for field in ("post", "comment", "group")
    ]
    load = context.load
    remarked: list[Lookup] = [(load.comment, remarks), (load.read_until, [context.viewer])]
    likers, about = await asyncio.gather(
        _likers(context, context.viewer, [one for one in known if one.likes_of is not None]),
        hydrate.records(context, below, *remarked, *groups.about(context, invited)),
    )
    acting = {notification.actor for notification in known}.union(*(stored.newest for stored in likers.values()))
    sight = await hydrate.sight_of_posts(context, about, acting - {0})
    said = dict(zip(remarks, load.comment.loaded(remarks), strict=True))

    def seen(notification: Notification) -> Notification | None:
        post, comment, group = notification.post, notification.comment, notification.group
        named = ((sight.posts, post), (said, comment), (load.group.found, group))
        subjects = [records[number] for records, number in named if number]
        shown = _by(notification, likers[notification.id], sight) if notification.id in likers else notification
        return shown if shown and visibility.notifies(sight, shown.actor, *subjects) else None

    return [seen(notification) if notification else None for notification in stored]


def _by(notification: Notification, likers: Likers, sight: Sight) -> Notification | None:
    """Return a notification of likes with those likers whom the viewer is notified of, None without any."""
    actors = [member for member in likers.newest if visibility.notifies(sight, member)]
    if not actors:
        return None
    return replace(notification, actor=actors[0], others=tuple(actors[1:]), actor_count=likers.count)


async def _likers(context: Context, viewer: int, found: Sequence[Notification]) -> dict[int, Likers]:
    """Return who is behind each notification of likes, by its id. One round trip, none without such notifications."""
    commands = [command for notification in found for command in likers_commands(viewer, notification)]
    replies = await context.batcher.run(commands) if commands else []
    rows = [replies[i : i + Likers.COMMANDS] for i in range(0, len(replies), Likers.COMMANDS)]
    return {
        notification.id: read_likers(viewer, notification, *row) for notification, row in zip(found, rows, strict=True)
    }
