"""The live home: computed from the event log against whom the subscriber follows, never from writes to homes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from resolvers import homes, hydrate, identity
from resolvers.context import Context
from resolvers.entries import TimelineEdge, standing_edges
from resolvers.gaps import StreamGap, begin, event_cursor, gap_at
from store import events, posts, relations, timelines
from store.events import Event
from store.ids import instant
from store.log import Follower, since
from store.records import Repost, Source

REPOSTS_SCANNED = 1_000  # oldest reposts of a post among which the subscriber's followed ones are looked for
REPOSTS_MERGED = 100  # the same for each of many posts
PUBLISHED_READ = 1_000  # newest entries of a profile looked at after a follow or its end


@dataclass(frozen=True, slots=True)
class TimelineEntryPut:
    """A post came to the home timeline, or changed there."""

    cursor: str
    at: datetime
    edge: TimelineEdge


@dataclass(frozen=True, slots=True)
class TimelineEntryRemoved:
    """A post left the home timeline."""

    cursor: str
    at: datetime
    node_id: str


HomeEvent = StreamGap | TimelineEntryPut | TimelineEntryRemoved


@dataclass(slots=True)
class Subscriber:
    """Whose events come to a subscriber, and which of them can change the home."""

    viewer: int
    follower: Follower
    following: set[int]
    former: dict[int, datetime]  # unfollowed, and when
    resume: str  # the cursor from which one can go on
    held_until: str = "0-0"  # the cursor before which `resume` stays

    def hears(self, event: Event) -> bool:
        """Return whether an event can change the home.

        Of who was unfollowed, what takes back or hides something older: it may have been gone already when the unfollow
        told what leaves, and its own event come only now.
        """
        if event.actor in self.following or event.actor == self.viewer:
            return True
        ended = self.former.get(event.actor)
        return ended is not None and event.kind in {"delete", "unrepost", "hide"} and instant(event.post) <= ended

    def move(self, cursor: str) -> None:
        """Have an event behind."""
        if events.position(cursor) >= events.position(self.held_until):
            self.resume = cursor


async def home_timeline(context: Context, after: str | None) -> AsyncGenerator[HomeEvent, None]:
    """Yield what changes in the viewer's home: first what came since `after`, then live, without gap or repetition."""
    viewer = await context.member()
    await homes.read(context.db, viewer)
    position, gap = await begin(context.db, after)
    subscriber = await _subscribe(context, viewer, position)
    try:
        if gap:
            yield gap
        async with aclosing(since(context.db, subscriber.follower, position)) as coming:
            async for event in coming:
                if isinstance(event, str):
                    await _refollow(context, subscriber)  # first, so that nobody's events are missed after the gap
                    yield gap_at(event)
                    subscriber.resume = event
                elif subscriber.hears(event):
                    for change in await _changes(context, event, subscriber):
                        yield change
    finally:
        context.services.log.unfollow(subscriber.follower)


async def _subscribe(context: Context, viewer: int, position: str) -> Subscriber:
    """Take a place in the live log, for those the viewer follows and those they have unfollowed since a cursor."""
    # Read before the place is taken: what changes in between is replayed.
    following = set(await relations.following(context.db, viewer))
    former: dict[int, datetime] = {}
    scanned = position
    while batch := await events.between(context.db, scanned):
        scanned = batch[-1].cursor
        unfollows = [event for event in batch if event.kind == "unfollow" and event.actor == viewer]
        former |= {event.member: event.at for event in unfollows if event.member not in following}
    follower = context.services.log.follow({viewer, *following, *former})
    return Subscriber(viewer, follower, following, former, position)


async def _refollow(context: Context, subscriber: Subscriber) -> None:
    """Set right whom the viewer follows, after events that may have changed it were lost."""
    log, follower = context.services.log, subscriber.follower
    subscriber.following = set(await relations.following(context.db, subscriber.viewer))
    subscriber.former.clear()
    actors = {subscriber.viewer, *subscriber.following}
    for member in follower.actors - actors:
        log.remove(follower, member)
    for member in actors - follower.actors:
        log.add(follower, member)


async def _changes(operation: Context, event: Event, subscriber: Subscriber) -> list[HomeEvent]:
    """Return what an event changes in the viewer's home."""
    context = operation.fresh(counted=False)
    changes = await _changes_by(context, event, subscriber)
    # Who goes on from the middle of what one event changes gets all of it once more, and misses nothing.
    cursors = [subscriber.resume] * len(changes)
    subscriber.move(event.cursor)
    cursors[-1:] = [subscriber.resume] if changes else []
    return [replace(change, cursor=event_cursor(cursor)) for change, cursor in zip(changes, cursors, strict=True)]


async def _changes_by(context: Context, event: Event, subscriber: Subscriber) -> list[HomeEvent]:
    mine, following = event.actor == subscriber.viewer, subscriber.following
    floor = await timelines.floor(context.db, subscriber.viewer)
    if floor is None:  # let go of, though somebody listens to it: this one has not read it for many days
        await homes.read(context.db, subscriber.viewer)
        floor = await timelines.floor(context.db, subscriber.viewer) or 0
    match event.kind:
        case "delete" | "hide" | "unhide" if event.kind == "delete" or not await hydrate.post(context, event.post):
            return [_removed(event, event.post, is_repost=bool(event.original))]
        case "post" | "hide" | "unhide":
            # Below the floor, too, stand the own posts of those followed: so who comes back late misses none.
            return await _told(context, event, following, {event.post: ()}, 0 if event.kind == "post" else floor)
        case "bond" | "suspend" if mine == (event.kind == "bond"):
            return await _restated(context, event, event.member, following, floor)
        case "repost" | "unrepost" if not mine:
            return await _passed_on(context, event, following, floor)
        case "follow" | "unfollow" if mine:
            return await _merged(context, event, subscriber, floor)
    return []


async def _passed_on(context: Context, event: Event, following: set[int], floor: int) -> list[HomeEvent]:
    brought = {event.original: (Source(event.post, event.actor),)}
    changes = await _told(context, event, following, brought, floor)
    if event.kind == "unrepost" and not await hydrate.post(context, event.original):
        # Nobody may follow its author, and then its deletion or hiding reaches those who had it from this repost only
        # here.
        return [_removed(event, event.original, is_repost=bool(event.of_quote))]
    return changes


async def _merged(context: Context, event: Event, subscriber: Subscriber, floor: int) -> list[HomeEvent]:
    """Return where all that a member has published stands after a follow or its end."""
    # As it is now, whatever the event says: crashed work is finished late, and a follow logged after its own end.
    is_followed = (await context.load.bond.load(event.member)).follows
    was_heard = event.member in subscriber.follower.actors
    context.services.log.add(subscriber.follower, event.member)
    if not was_heard:
        context.forget()  # what they have deleted is heard of from now on, so what is read must be as new as that
    if is_followed:
        subscriber.following.add(event.member)
        subscriber.former.pop(event.member, None)
    else:
        subscriber.following.discard(event.member)
        subscriber.former[event.member] = event.at
        # What they have taken back by now is found no more; who goes on amid the events of that must hear of it.
        subscriber.held_until = await events.newest(context.db)
        if event.kind == "unfollow" and not was_heard:
            # The subscription began between the unfollow and its event: what they took back since was not heard.
            return [StreamGap(event_cursor(event.cursor), event.at)]
    brought = await _published(context, event.member, floor)
    changes = await _told(context, event, subscriber.following, brought, floor)
    return changes + (await _moved_below(context, event, subscriber.following, floor) if is_followed and floor else [])


async def _published(context: Context, member: int, floor: int) -> dict[int, tuple[Source, ...]]:
    """Return the posts that a member has written or passed on above the floor, with their reposts of them."""
    brought: dict[int, tuple[Source, ...]] = {}
    for entry in await posts.published(context.db, member, below=None, above=floor, count=PUBLISHED_READ):
        source = (Source(entry.id, member),) if entry.original else ()
        brought[entry.original or entry.id] = brought.get(entry.original or entry.id, ()) + source
    return brought


async def _restated(context: Context, event: Event, member: int, following: set[int], floor: int) -> list[HomeEvent]:
    """Return where all that a member has published stands now that it is seen or heard of, or no longer is."""
    brought = await _published(context, member, floor)
    brought |= await _passed_on_below(context, member, following, floor) if floor else {}
    return await _told(context, event, following, brought, floor)


async def _moved_below(context: Context, event: Event, following: set[int], floor: int) -> list[HomeEvent]:
    """Return the older posts of a newly followed author that reposts had brought: they now stand at their own place."""
    moved = await _passed_on_below(context, event.member, following, floor)
    edges = await standing_edges(context, following, moved, REPOSTS_MERGED, 0)
    return [_put(event, edge) for _, edge in edges if edge and edge.sources and edge.sources[0].repost > floor]


async def _passed_on_below(
    context: Context, member: int, following: set[int], floor: int
) -> dict[int, tuple[Source, ...]]:
    """Return a member's own posts from below the floor that somebody followed has passed on, with their reposts."""
    old = await posts.published(context.db, member, below=floor + 1, above=0, count=PUBLISHED_READ)
    ids = [entry.id for entry in old if not entry.original]
    replies = await context.reader.run([posts.first_reposts(thing, REPOSTS_MERGED) for thing in ids])
    scans = {thing: posts.read_reposts(reply) for thing, reply in zip(ids, replies, strict=True)}
    return {thing: scan for thing, scan in scans.items() if any(source.author in following for source in scan)}


async def _told(
    context: Context, event: Event, following: set[int], brought: Mapping[int, tuple[Source, ...]], floor: int
) -> list[HomeEvent]:
    scanned = REPOSTS_SCANNED if len(brought) == 1 else REPOSTS_MERGED
    edges = await standing_edges(context, following, brought, scanned, floor)
    # What comes anew and does not stand there need not be taken away: whatever did that has an event of its own.
    comes = event.kind in {"post", "repost"}
    return [
        _put(event, edge) if edge else _removed(event, post.id, is_repost=isinstance(post, Repost))
        for post, edge in edges
        if edge or not comes
    ]


def _put(event: Event, edge: TimelineEdge) -> TimelineEntryPut:
    return TimelineEntryPut(event_cursor(event.cursor), event.at, edge)


def _removed(event: Event, thing: int, *, is_repost: bool) -> TimelineEntryRemoved:
    return TimelineEntryRemoved(event_cursor(event.cursor), event.at, identity.post_id(thing, is_repost=is_repost))
