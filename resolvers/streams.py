"""Subscriptions: computed from the event log against whom the subscriber follows, never from writes to homes."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from resolvers import hydrate, identity, paging
from resolvers.context import Context
from resolvers.entries import TimelineEdge, home_edges
from resolvers.errors import BadUserInput
from resolvers.rules import merging
from store import events, keys, posts, relations, timelines
from store.events import Follower
from store.records import Entry, Event, Post, Source

CURSOR = "event"  # what cursors of the log are marked with
REPOSTS_SCANNED = 1_000  # oldest reposts of a post among which the subscriber's followed ones are looked for
PUBLISHED_READ = 1_000  # entries of a profile read at a time after a follow or unfollow
_ENTRY = re.compile(r"[0-9]{1,15}-[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class StreamGap:
    """Events were lost; the subscriber refetches and goes on from here."""

    cursor: str
    at: datetime


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


@dataclass(frozen=True, slots=True)
class PostActivity:
    """How a post's numbers stand."""

    post: Post

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        post = self.post
        return post.like_count, post.repost_count, post.quote_count, post.comment_count


async def home_timeline(context: Context, after: str | None) -> AsyncGenerator[HomeEvent, None]:
    """Yield what changes in the viewer's home: first what came since `after`, then live, without gap or repetition."""
    viewer = await context.member()
    log = context.services.log
    start = await events.newest(context.db)
    gap = None if after is None else await _gap(context, after, start)
    # Read before the place in the log is taken: what changes in between is replayed below.
    actors = {viewer, *await relations.following(context.db, viewer)}
    follower = log.follow(actors)
    try:
        if gap:
            yield gap
        position = start if after is None or gap else read_event_cursor(after)
        async for event in _replay(context, position, follower):
            position = event.cursor
            for change in await _changes(context, event, follower):
                yield change
        while True:
            taken = await follower.take()
            if isinstance(taken, str):
                yield StreamGap(_cursor(taken), datetime.now(UTC))
                position = taken
                await _refollow(context, viewer, follower)
            elif events.position(taken.cursor) > events.position(position):
                for change in await _changes(context, taken, follower):
                    yield change
    finally:
        log.unfollow(follower)


async def _gap(context: Context, after: str, newest: str) -> StreamGap | None:
    kept = await events.is_kept(context.db, read_event_cursor(after))
    return None if kept else StreamGap(_cursor(newest), datetime.now(UTC))


async def _replay(context: Context, position: str, follower: Follower) -> AsyncIterator[Event]:
    """Yield the events between a cursor and the place where the follower's queue begins."""
    while events.position(position) < events.position(follower.since):
        batch = await events.between(context.db, position, follower.since)
        if not batch:
            return
        for event in batch:
            position = event.cursor
            if event.actor in follower.actors:
                yield event


async def _refollow(context: Context, viewer: int, follower: Follower) -> None:
    """Set right whom the viewer follows, after events that may have changed it were lost."""
    now = {viewer, *await relations.following(context.db, viewer)}
    for member in follower.actors - now:
        context.services.log.remove(follower, member)
    for member in now - follower.actors:
        context.services.log.add(follower, member)


async def _changes(operation: Context, event: Event, follower: Follower) -> list[HomeEvent]:
    """Return what an event changes in the viewer's home."""
    context = operation.fresh(counted=False)
    viewer = await context.member()
    mine = event.actor == viewer
    if event.kind == "delete":
        return [_removed(event, event.post, is_repost=bool(event.original))]
    if event.kind == "post":
        return await _entry(context, event, event.post, follower)
    if event.kind in {"repost", "unrepost"} and not mine:
        return await _entry(context, event, event.original, follower)
    if event.kind == "follow" and mine:
        context.services.log.add(follower, event.member)
        return await _entries_of(context, event, above=0)
    if event.kind == "unfollow" and mine:
        context.services.log.remove(follower, event.member)
        return await _entries_of(context, event, above=await timelines.floor(context.db, viewer) or 0)
    return []


async def _entry(context: Context, event: Event, thing: int, follower: Follower) -> list[HomeEvent]:
    """Return where one post stands in the home now, from who wrote it and who passed it on."""
    viewer = await context.member()
    post = await hydrate.post(context, thing)
    if post is None:
        return []  # its deletion is an event of its own
    following = follower.actors - {viewer}
    reposts = await posts.reposts_before(context.db, thing, None, REPOSTS_SCANNED)
    if event.kind == "repost" and all(source.repost != event.post for source in reposts):
        still = await context.load.post.load(event.post)
        reposts += (Source(event.post, event.actor),) if still else ()
    sources = merging.sources_of(reposts, brings=lambda source: source.author in following)
    place = merging.place(post.id, post.author, viewer, following, sources)
    if place is None:
        return [TimelineEntryRemoved(_cursor(event.cursor), event.at, identity.of(post))]
    if place <= (await timelines.floor(context.db, viewer) or 0):
        return []
    edge = TimelineEdge(paging.cursor("home", place), post, sources)
    return [TimelineEntryPut(_cursor(event.cursor), event.at, edge)]


async def _entries_of(context: Context, event: Event, above: int) -> list[HomeEvent]:
    """Return where all that a member has published stands in the home after it was merged or unmerged."""
    viewer = await context.member()
    found = await posts.published(context.db, event.member, below=None, above=above, count=PUBLISHED_READ)
    ids = list(dict.fromkeys(entry.original or entry.id for entry in found))
    places = await timelines.places(context.db, viewer, ids)
    entries = [Entry(thing, place) for thing, place in places.items()]
    edges = [edge for edge in await home_edges(context, entries) if edge]
    changes: list[HomeEvent] = [TimelineEntryPut(_cursor(event.cursor), event.at, edge) for edge in edges]
    if event.kind == "unfollow":
        standing = {edge.node.id for edge in edges}
        gone = await context.load.post.load_many([thing for thing in ids if thing not in standing])
        changes += [TimelineEntryRemoved(_cursor(event.cursor), event.at, identity.of(post)) for post in gone if post]
    return changes


def _removed(event: Event, thing: int, *, is_repost: bool) -> TimelineEntryRemoved:
    return TimelineEntryRemoved(_cursor(event.cursor), event.at, identity.post_id(thing, is_repost=is_repost))


async def post_activity(context: Context, post_id: str) -> AsyncGenerator[PostActivity, None]:
    """Yield how a post's numbers stand after each change; a slow reader gets the latest only."""
    await context.member()
    kind, thing = identity.expect_argument(post_id, "postId")
    found = await hydrate.post(context, thing) if kind in identity.POSTS else None
    target = await hydrate.post(context, hydrate.acts_for(found)) if found else None
    if target is None:
        raise BadUserInput("postId: there is no such post")
    changed = asyncio.Event()

    def wake(_: str) -> None:
        changed.set()

    channel, hearing, last = keys.activity(target.id), context.services.hearing, PostActivity(target).numbers
    await hearing.listen(channel, wake)
    try:
        while True:
            await changed.wait()
            changed.clear()
            now = await hydrate.post(context.fresh(counted=False), target.id)
            if now is None:
                return
            activity = PostActivity(now)
            if activity.numbers != last:
                last = activity.numbers
                yield activity
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await hearing.ignore(channel, wake)


def _cursor(entry: str) -> str:
    return f"{CURSOR}.{entry}"


def read_event_cursor(text: str) -> str:
    """Return the place in the log that a cursor stands for; raises BadUserInput when it is none."""
    name, _, entry = text.partition(".")
    if name != CURSOR or not _ENTRY.fullmatch(entry):
        raise BadUserInput("after: this is not a cursor of this subscription")
    return entry
