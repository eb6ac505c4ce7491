"""The live home: computed from the event log against whom the subscriber follows, never from writes to homes.

Why a home that is kept up by these events ends as the stored one, however late each event is evaluated:

1. An event says which posts it may concern. Each of them is looked at as it is now, which may be later than the event.
2. What changes a post is logged after it is done. So a change that a look has not seen has its event after the one
   for which the look was made, and that event is evaluated later. The last look at each post is right.
3. The subscriber gets the events of everybody who may have brought a post to the screen. `following` are the members
   followed. A new follow counts as soon as its event is handed out, before it is evaluated. `former` are the members
   followed no longer. The end of a follow looks at all their posts that are left. A post deleted before that look may
   be on the screen, so its deletion is still told, whenever its event comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from resolvers.homes import build
from resolvers.live.cursors import StreamGap, begin, event_cursor, gap_at
from resolvers.operation.context import Context
from resolvers.reading import global_ids
from resolvers.reading.home_edges import Placed, TimelineEdge, placed
from store import events, follows, posts, timelines
from store.event_reader import Subscriber, since
from store.events import Event
from store.records import Repost, Source

REPOSTS_SCANNED = 1_000  # oldest reposts of a post among which the subscriber's followed ones are looked for
REPOSTS_MERGED = 100  # the same for each of many posts
CHANGES_TOLD = 20  # posts of one member that an event tells one by one; refetching is cheaper than more

ENDS = frozenset({"delete", "unrepost", "hide"})  # kinds of events that take a post away
BEGINS = frozenset({"post", "repost"})  # kinds of events that only bring a post

Affected = dict[int, tuple[Source, ...]]  # posts, each with reposts that must not be overlooked


@dataclass(frozen=True, slots=True)
class TimelineEntryPut:
    """A post came to the home timeline, or changed there; `context` is what it was decided in."""

    cursor: str
    at: datetime
    edge: TimelineEdge
    context: Context = field(repr=False)


@dataclass(frozen=True, slots=True)
class TimelineEntryRemoved:
    """A post left the home timeline."""

    cursor: str
    at: datetime
    node_id: str
    context: Context = field(repr=False)


HomeEvent = StreamGap | TimelineEntryPut | TimelineEntryRemoved


@dataclass(slots=True)
class HomeSubscription:
    """Whose events come to a subscriber, and which of them can change the home."""

    viewer: int
    subscriber: Subscriber
    following: set[int]
    former: dict[int, int]  # members followed no longer, each with the newest id in their partition at that look
    resume: str  # the cursor from which one can go on
    held_until: str = "0-0"  # the cursor before which `resume` stays

    def hears(self, event: Event) -> bool:
        """Return whether an event can change the home.

        A member followed no longer has brought no post newer than the look that found this out. So only the ends of
        older posts are heard.
        """
        if event.actor in self.following or event.actor == self.viewer:
            return True
        newest = self.former.get(event.actor)
        return newest is not None and event.kind in ENDS and event.post <= newest

    def move(self, cursor: str) -> None:
        """Have an event behind."""
        if events.position(cursor) >= events.position(self.held_until):
            self.resume = cursor


async def home_timeline(context: Context, after: str | None) -> AsyncGenerator[HomeEvent, None]:
    """Yield what changes in the viewer's home: first what came since `after`, then live, without gap or repetition."""
    viewer = await context.member()
    await build.read(context.db, viewer)
    position, gap = await begin(context.db, after)
    subscription = await _subscribe(context, viewer, position)
    try:
        if gap:
            yield gap
        async with aclosing(since(context.db, subscription.subscriber, position)) as coming:
            async for event in coming:
                if isinstance(event, str):
                    await _refollow(context, subscription)  # first, so that nobody's events are missed after the gap
                    yield gap_at(event)
                    subscription.resume = event
                elif not subscription.subscriber.has_gap and subscription.hears(event):
                    async with aclosing(_changes(context, event, subscription)) as changes:
                        async for change in changes:
                            yield change
    finally:
        context.services.log.unfollow(subscription.subscriber)


async def _subscribe(context: Context, viewer: int, position: str) -> HomeSubscription:
    """Take a place in the live log, for those the viewer follows and those they have unfollowed since a cursor."""
    # Read before the place is taken: what changes in between is replayed.
    following = set(await follows.following(context.db, viewer))
    unfollowed: set[int] = set()
    scanned = position
    while batch := await events.between(context.db, scanned):
        scanned = batch[-1].cursor
        unfollowed |= {event.member for event in batch if event.kind == "unfollow" and event.actor == viewer}
    former = await posts.newest_ids(context.db, unfollowed - following)
    subscriber = context.services.log.follow({viewer, *following, *former}, viewer)
    return HomeSubscription(viewer, subscriber, following, former, position)


async def _refollow(context: Context, subscription: HomeSubscription) -> None:
    """Set right whom the viewer follows, after events that may have changed it were lost."""
    log, subscriber = context.services.log, subscription.subscriber
    following = set(await follows.following(context.db, subscription.viewer))
    subscription.following = following
    subscription.former.clear()
    # Nobody is taken out of the queue: a follow handed out since may be newer than what was read.
    for member in following - subscriber.actors:
        log.add(subscriber, member)


async def _changes(operation: Context, event: Event, subscription: HomeSubscription) -> AsyncGenerator[HomeEvent, None]:
    """Yield what an event changes in the viewer's home; each post is looked at just before that is sent.

    Where too much changes, the queue is given up, and a gap is what comes next.
    """
    affected = await _affected(operation, event, subscription)
    if affected is None:
        subscription.subscriber.lose(operation.services.log.cursor)
        return
    last = next(reversed(affected), None)
    for post, sources in affected.items():
        async with operation.room:
            context = operation.fresh(counted=False)
            found = await _look(context, event, subscription, post, sources)
            # Who goes on from the middle of what one event changes gets all of it once more, and misses nothing.
            if post == last:
                subscription.move(event.cursor)
            cursor = event_cursor(subscription.resume)
            if found and found.edge:
                yield TimelineEntryPut(cursor, event.at, found.edge, context)
            elif found and not (event.kind in BEGINS or (found.post is None and _is_about_member(event))):
                # Left out is what another event tells: what took a new post away again, what deleted a post meanwhile.
                is_repost = isinstance(found.post, Repost) if found.post else _is_repost(event)
                yield TimelineEntryRemoved(cursor, event.at, global_ids.post_id(post, is_repost=is_repost), context)
    subscription.move(event.cursor)


async def _affected(operation: Context, event: Event, subscription: HomeSubscription) -> Affected | None:
    """Return the posts that an event may concern; None where these are too many, or not all known."""
    is_own = event.actor == subscription.viewer
    match event.kind:
        case "post" | "delete" | "hide" | "unhide":
            return {event.post: ()}
        case "repost" | "unrepost" if not is_own:
            return {event.original: (Source(event.post, event.actor),)}
        case "bond" | "suspend" if is_own == (event.kind == "bond"):
            return await _published(operation, event.member)
        case "follow" | "unfollow" if is_own:
            return (
                await _published(operation, event.member) if await _set_right(operation, event, subscription) else None
            )
    return {}


def _is_about_member(event: Event) -> bool:
    return event.kind in {"bond", "suspend", "follow", "unfollow"}


def _is_repost(event: Event) -> bool:
    return bool(event.of_quote if event.kind in {"repost", "unrepost"} else event.original)


async def _set_right(operation: Context, event: Event, subscription: HomeSubscription) -> bool:
    """Take over whether the viewer follows a member; returns whether the posts still there are all that changes.

    As it is now, whatever the event says: crashed work is finished late, and a follow logged after its own end.
    """
    member = event.member
    was_heard = member in subscription.subscriber.actors
    operation.services.log.add(subscription.subscriber, member)  # first: what changes after the look is heard of
    context = operation.fresh(counted=False)
    relationship = await context.load.relationship.load(member)
    if relationship.follows:
        subscription.following.add(member)
        subscription.former.pop(member, None)
        return True
    newest, newest_ids = await asyncio.gather(events.newest(context.db), posts.newest_ids(context.db, [member]))
    subscription.following.discard(member)
    subscription.former |= newest_ids
    # What they have taken back by now is found no more; who goes on amid the events of that must hear of it.
    subscription.held_until = newest
    # False where the subscription began between the unfollow and its event: what they took back since was not heard.
    return was_heard or event.kind == "follow"


async def _published(operation: Context, member: int) -> Affected | None:
    """Return the posts that a member has written or passed on, with their reposts of them; None where they are many."""
    affected: Affected = {}
    entries = await posts.published(operation.db, member, below=None, above=0, count=CHANGES_TOLD + 1)
    for entry in entries:
        source = (Source(entry.id, member),) if entry.original else ()
        affected[entry.original or entry.id] = affected.get(entry.original or entry.id, ()) + source
    return affected if len(entries) <= CHANGES_TOLD else None


async def _look(
    context: Context, event: Event, subscription: HomeSubscription, post: int, sources: tuple[Source, ...]
) -> Placed | None:
    """Return where a post stands in the viewer's home now, None where that says nothing; three round trips.

    It says nothing of what only reposts bring at or below the floor: there stand the own posts of those followed alone.
    """
    if event.kind == "delete":
        return Placed(None, None)
    scanned = REPOSTS_MERGED if _is_about_member(event) else REPOSTS_SCANNED
    (floor,), found = await asyncio.gather(
        context.batcher.run([timelines.floor_command(subscription.viewer)]),
        placed(context, subscription.following, post, sources, scanned),
    )
    if floor is None:  # let go of, though somebody listens to it: this one has not read it for many days
        await build.read(context.db, subscription.viewer)
        floor = await timelines.floor(context.db, subscription.viewer)
    return None if 0 < found.repost <= int(floor or 0) else found
