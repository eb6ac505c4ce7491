"""A group's timeline, live.

The group logs the newest change of each post. An event says how the post is shown when it is sent, so a client that
applies all events ends with what the viewer would read then. Nothing is queued. A slow client reads more of the log at
a time, and gets a gap if that was trimmed.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from resolvers.live.cursors import StreamGap, read_position
from resolvers.live.home import TimelineEntryPut, TimelineEntryRemoved
from resolvers.live.waking import wakes
from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput, NotFound
from resolvers.reading import global_ids, groups, hydrate, paging
from resolvers.reading.home_edges import TimelineEdge
from store.groups import timeline
from store.groups.records import Group
from store.ids import instant
from store.records.lists import Entry

READ_COUNT = 100  # changes that a subscription reads at a time

GroupEvent = TimelineEntryPut | TimelineEntryRemoved | StreamGap


async def group_timeline(context: Context, group_id: str, after: str | None) -> AsyncGenerator[GroupEvent, None]:
    """Yield changes to a group's timeline: first those since the cursor `after`, then live ones.

    Raises NotFound once the viewer may no longer see what is in the group.
    """
    await context.member()
    group = await _readable(context, group_id)
    position = read_position(_kind(group.id), after, await timeline.newest_change(context.db, group.id))
    async with aclosing(wakes(context.services.pubsub, timeline.channel(group.id))) as woken:
        async for _ in woken:
            await _check(context.fresh(counted=False), group.id)
            while changes := await _changes(context, group.id, position):
                for change in changes:
                    async with context.room:
                        event = await _event(context, group.id, change)
                        position = change.place
                        yield event


async def _changes(context: Context, group: int, position: int) -> list[Entry]:
    """Return the next changes after a position; post 0 stands for a gap."""
    found = await timeline.changes_after(context.db, group, position, READ_COUNT)
    if not found.floor <= position <= found.newest:  # trimmed, or the store has lost its last writes
        return [Entry(0, found.newest)]
    return found.changes


async def _event(operation: Context, group: int, change: Entry) -> GroupEvent:
    """Return the event of a change: how the viewer sees the post now."""
    cursor, at = paging.cursor(_kind(group), change.place), instant(change.place)
    if not change.entity:
        return StreamGap(cursor, datetime.now(UTC))
    context = operation.fresh(counted=False)
    (post,) = await hydrate.timeline_posts(context, [change.entity])
    await _check(context, group)
    if post is None or post.group != group:
        node_id = global_ids.post_id(change.entity, is_repost=False)
        return TimelineEntryRemoved(cursor, at, node_id, context)
    return TimelineEntryPut(cursor, at, TimelineEdge(paging.cursor("group", post.id), post), context)


async def _check(context: Context, group: int) -> None:
    """Raise NotFound if the viewer may not see what is in a group."""
    found = await groups.group(context, group)
    if found is None or not await groups.is_open(context, found):
        raise NotFound("groupId: there is no such group any more")


async def _readable(context: Context, group_id: str) -> Group:
    """Return a group in which the viewer sees what there is. Raises BadUserInput."""
    kind, number = global_ids.expect_argument(group_id, "groupId")
    found = await groups.group(context, number) if kind == "group" else None
    if found is None or not await groups.is_open(context, found):
        raise BadUserInput("groupId: there is no such group")
    return found


def _kind(group: int) -> str:
    """Return the kind in the cursors of one group's changes."""
    return f"group-{group:x}"
