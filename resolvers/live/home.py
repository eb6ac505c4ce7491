"""The live home, computed from the event log and the subscriber's follows, never from writes to stored homes.

A client that applies these events ends with the stored home, however late each event is evaluated. This is why:

1. Each event names the posts that it may concern. The server looks at each of them as it is now, which may be later
   than the event.
2. A change to a post is logged after it is made. So a change that a look has not seen is logged after the event that
   caused the look, and is evaluated later. The last look at each post is right.
3. The subscriber gets the events of everybody who may have added a post to the screen. `following` holds the members
   followed. A new follow counts as soon as its event is handed out, before it is evaluated. `former` holds the members
   unfollowed. The event of an unfollow looks at all of the member's remaining posts. A post deleted before that look
   may be on the screen, so its deletion is still sent, whenever its event arrives.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from resolvers.homes import build
from resolvers.live.cursors import StreamEvent, StreamGap, begin, event_cursor, gap_at
from resolvers.operation.context import Context
from resolvers.reading import global_ids
from resolvers.reading.home_edges import PlacedPost, TimelineEdge, placed
from resolvers.reading.home_timeline import HomeTimeline
from store import follows, posts, timelines
from store.events import log as events
from store.events.log import Event
from store.events.reader import Subscriber, since
from store.records.lists import Source
from store.records.posts import Repost
from store.timelines import Slice

REPOSTS_SCANNED = 1_000  # Oldest reposts of a post that are searched for reposts by followed members.
REPOSTS_MERGED = 100  # The same limit, per post, for an event that concerns many posts.
MAX_CHANGES = 20  # Posts of one member that an event sends one by one. Above that, refetching is cheaper.

ENDS = frozenset({"delete", "unrepost", "hide"})  # Kinds of events that can remove a post.
BEGINS = frozenset({"post", "repost"})  # Kinds of events that can only add a post.

Affected = dict[int, tuple[Source, ...]]  # Posts, each with reposts that the look must include.


@dataclass(frozen=True, slots=True)
class TimelineEntryPut(StreamEvent):
    """A post was added to the home timeline, or changed there. `context` is the context in which that was decided."""

    edge: TimelineEdge
    context: Context = field(repr=False)


@dataclass(frozen=True, slots=True)
class TimelineEntryRemoved(StreamEvent):
    """A post was removed from the home timeline."""

    node_id: str
    context: Context = field(repr=False)


HomeEvent = StreamGap | TimelineEntryPut | TimelineEntryRemoved


@dataclass(slots=True)
class HomeSubscription:
    """The state of one subscription to the home: whose events it gets, and where it can resume."""

    viewer: int
    subscriber: Subscriber
    following: set[int]
    former: dict[int, int]  # Unfollowed members, each with the newest id in their partition when that was read.
    resume: str  # The cursor from which a client can resume.
    held_until: str = "0-0"  # `resume` does not move before this cursor is reached.

    def is_affected_by(self, event: Event) -> bool:
        """Return whether an event can change the home.

        An unfollowed member cannot have added a post newer than the look at the unfollow. So of their events, only
        those that end older posts count.
        """
        if event.actor in self.following or event.actor == self.viewer:
            return True
        newest = self.former.get(event.actor)
        return newest is not None and event.kind in ENDS and event.post <= newest

    def move(self, cursor: str) -> None:
        """Advance `resume` past an event, unless it is held."""
        if events.position(cursor) >= events.position(self.held_until):
            self.resume = cursor


async def home_timeline(context: Context, after: str | None) -> AsyncGenerator[HomeEvent, None]:
    """Yield changes to the viewer's home: first those since `after`, then live, without gaps or repetition."""
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
                    await _refollow(context, subscription)  # before the gap is sent, so that no later event is missed
                    yield gap_at(event)
                    subscription.resume = event
                elif not subscription.subscriber.has_gap and subscription.is_affected_by(event):
                    async with aclosing(_changes(context, event, subscription)) as changes:
                        async for change in changes:
                            yield change
    finally:
        context.services.log.unfollow(subscription.subscriber)


async def _subscribe(context: Context, viewer: int, position: str) -> HomeSubscription:
    """Subscribe to the event log for the members the viewer follows, and those unfollowed since a cursor."""
    # The follows are read before the subscription begins: changes in between are replayed from the log.
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
    """Reread whom the viewer follows, after events that may have changed it were lost."""
    log, subscriber = context.services.log, subscription.subscriber
    following = set(await follows.following(context.db, subscription.viewer))
    subscription.following = following
    subscription.former.clear()
    # No actor is removed from the queue: a follow handed out since may be newer than what was read.
    for member in following - subscriber.actors:
        log.add(subscriber, member)


async def _changes(operation: Context, event: Event, subscription: HomeSubscription) -> AsyncGenerator[HomeEvent, None]:
    """Yield the changes to the viewer's home that an event causes; each post is looked at just before it is sent.

    If too much changes, the queue is dropped and the subscriber gets a gap instead.
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
            # A client that resumes in the middle of an event gets all its changes again, and misses none.
            if post == last:
                subscription.move(event.cursor)
            cursor = event_cursor(subscription.resume)
            if found.edge:
                yield TimelineEntryPut(cursor, event.at, found.edge, context)
            elif not (event.kind in BEGINS or (found.post is None and _is_about_member(event))):
                # Another event reports these: the removal of a new post, or a deletion that happened meanwhile.
                is_repost = isinstance(found.post, Repost) if found.post else _is_repost(event)
                yield TimelineEntryRemoved(cursor, event.at, global_ids.post_id(post, is_repost=is_repost), context)
    subscription.move(event.cursor)


async def _affected(operation: Context, event: Event, subscription: HomeSubscription) -> Affected | None:
    """Return the posts that an event may concern, None when there are too many or not all are known."""
    is_own = event.actor == subscription.viewer
    match event.kind:
        case "post" | "delete" | "hide" | "unhide":
            return {event.post: ()}
        case "repost" | "unrepost" if not is_own:
            return {event.original: (Source(event.post, event.actor),)}
        case "relationship" | "suspend" if is_own == (event.kind == "relationship"):
            return await _published(operation, event.member)
        case "follow" | "unfollow" if is_own and await _set_right(operation, event, subscription):
            return _together(await _published(operation, event.member), await _answers(operation, event.member))
        case "follow" | "unfollow" | "group-ban" if is_own:
            return None
    return {}


def _is_about_member(event: Event) -> bool:
    return event.kind in {"relationship", "suspend", "follow", "unfollow"}


def _is_repost(event: Event) -> bool:
    return bool(event.of_quote if event.kind in {"repost", "unrepost"} else event.original)


async def _set_right(operation: Context, event: Event, subscription: HomeSubscription) -> bool:
    """Update whether the viewer follows a member; returns whether the member's remaining posts are all that changes.

    Reads the present state, not the event's. A job left by a crash finishes late, so a follow can be logged after its
    own unfollow.
    """
    member = event.member
    was_followed = member in subscription.subscriber.actors
    operation.services.log.add(subscription.subscriber, member)  # before the look, so that later changes arrive
    context = operation.fresh(counted=False)
    relationship = await context.load.relationship.load(member)
    if relationship.follows:
        subscription.following.add(member)
        subscription.former.pop(member, None)
        return True
    newest, newest_ids = await asyncio.gather(events.newest(context.db), posts.newest_ids(context.db, [member]))
    subscription.following.discard(member)
    subscription.former |= newest_ids
    # The look no longer finds posts deleted by now. A client that resumes here must still get those deletions.
    subscription.held_until = newest
    # False if the subscription began between the unfollow and its event: it missed what the member deleted since.
    return was_followed or event.kind == "follow"


async def _published(operation: Context, member: int) -> Affected | None:
    """Return the posts that a member wrote or reposted, with the member's reposts of them.

    Returns None when there are more than `MAX_CHANGES`.
    """
    affected: Affected = {}
    entries = await timelines.published(operation.db, member, below=None, above=0, count=MAX_CHANGES + 1)
    for entry in entries:
        source = (Source(entry.id, member),) if entry.original else ()
        affected[entry.original or entry.id] = affected.get(entry.original or entry.id, ()) + source
    return affected if len(entries) <= MAX_CHANGES else None


async def _answers(operation: Context, member: int) -> Affected:
    """Return the replies to a member in the viewer's home above the floor: a follow shows them, its end hides them."""
    if operation.settings.home_shows_all_replies:
        return {}
    context = operation.fresh(counted=False)
    home = HomeTimeline(context, context.viewer or 0)
    part = Slice(None, None, newest_first=True, count=context.settings.home_size)
    listed = [entry.entity for entry in await home.ids(part)]
    answered = await posts.answered_authors(context.db, listed)
    return {post: () for post, author in zip(listed, answered, strict=True) if author == member}


def _together(some: Affected | None, others: Affected) -> Affected | None:
    """Return all of these posts, None if there are more than `MAX_CHANGES` or not all are known."""
    if some is None or len(others | some) > MAX_CHANGES:
        return None
    return others | some


async def _look(
    context: Context, event: Event, subscription: HomeSubscription, post: int, sources: tuple[Source, ...]
) -> PlacedPost:
    """Return a post's place in the viewer's home now; three round trips."""
    if event.kind == "delete":
        return PlacedPost(None, None)
    scanned = REPOSTS_MERGED if _is_about_member(event) else REPOSTS_SCANNED
    return await placed(context, subscription.following, post, sources, scanned)
