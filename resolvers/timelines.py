"""Home, profile, public, hashtag, group and mention timelines. They differ only in where the ids come from."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from typing import Unpack

from msgspec import Struct

from resolvers.loading.dataloader import DataLoader
from resolvers.operation.context import Context
from resolvers.operation.payloads import ViewerPayload
from resolvers.process.errors import BadUserInput, Unauthenticated
from resolvers.process.tokens import Claims
from resolvers.reading import groups, hydrate, paging, snapshots, timeline_page
from resolvers.reading.home_edges import HOME, TimelineEdge
from resolvers.reading.home_timeline import HomeTimeline
from resolvers.reading.paging import Page, PageArguments, Present
from resolvers.reading.promoted_page import promoted
from resolvers.reading.timeline_page import Posts
from resolvers.rules import ranking
from store import importance, kinds
from store.groups.records import Group
from store.homes import stored
from store.ids import CLOCK_SKEW, instant, partition
from store.importance import read_counts
from store.notifications import Mentioned, read_mentions
from store.public_timelines import hashtag_lists, public_lists
from store.records.lists import Entry
from store.records.members import User
from store.records.posts import Status
from store.timelines import Slice, read_slice

UNREAD_SEEN = 100  # newest entries of a home that are counted as unread only if the viewer would be shown them


class TimelineOrder(Enum):
    """The order of a timeline."""

    RECENT = "RECENT"
    IMPORTANT = "IMPORTANT"


async def home(context: Context, *, order: TimelineOrder | None, **asked: Unpack[PageArguments]) -> Page[TimelineEdge]:
    """Return a page of the viewer's home timeline; raises Unauthenticated for an anonymous request."""
    if context.viewer is None:
        raise Unauthenticated("sign in first: a home timeline belongs to a member")
    if order is TimelineOrder.IMPORTANT:
        ranked = HomeTimeline(context, context.viewer, at_any_place=True)

        async def newest() -> list[int]:
            part = Slice(above=None, below=None, newest_first=True, count=context.settings.important_home)
            return [entry.entity for entry in await ranked.ids(part)]

        return await _ranked(context, HOME, str(context.viewer), newest, partial(timeline_page.edges, ranked), asked)
    window = paging.window(context.settings, HOME, **asked)
    return await promoted(context, window, timeline_page.page(window, HomeTimeline(context, context.viewer)))


async def mark_home_read(context: Context, *, cursor: str) -> ViewerPayload:
    """Mark the viewer's home as read up to an entry; one round trip. The mark never falls.

    Raises BadUserInput for a cursor of another list, and for one of the future.
    """
    viewer = await context.member()
    place = paging.read_cursor(HOME, cursor, "cursor")
    if instant(place) > datetime.now(UTC) + CLOCK_SKEW:
        raise BadUserInput("cursor: this cursor is of the future")
    await context.batcher.run([stored.mark_read(viewer, place)])
    context.forget()
    return ViewerPayload(viewer=context.claims)


async def home_read_up_to(context: Context, who: Claims) -> str | None:
    """Return the cursor up to which the viewer has marked their home as read, None before the first mark."""
    (place,) = await context.batcher.run([stored.read_up_to_command(who.member)])
    return paging.cursor(HOME, int(place)) if place else None


async def home_unread_count(context: Context, who: Claims) -> int:
    """Return how many entries of the viewer's home lie above the mark, at most `HOME_SIZE`; four round trips.

    The newest `UNREAD_SEEN` are counted only if the viewer would be shown them, and all others in any case. One's own
    posts never count.
    """
    (mark,) = await context.batcher.run([stored.read_up_to_command(who.member)])
    timeline = HomeTimeline(context, who.member)
    above = Slice(int(mark or 0), None, newest_first=True, count=context.settings.home_size)
    entries = await timeline.ids(above)
    newest, others = entries[:UNREAD_SEEN], [entry.entity for entry in entries[UNREAD_SEEN:]]
    # A member's posts lie in their partition, and most posts of others do not.
    near = [post for post in others if partition(post) == partition(who.member)]
    shown, records = await asyncio.gather(timeline_page.edges(timeline, newest), context.load.post.load_many(near))
    seen = [post for edge in shown if edge and isinstance(post := edge.node, Status)]
    own = [post for post in (*seen, *records) if post and post.author == who.member]
    return len(seen) + len(others) - len(own)


async def profile(context: Context, user: User, **asked: Unpack[PageArguments]) -> Page[TimelineEdge]:
    """Return a page of a member's own posts; an empty page if the viewer does not see them."""
    if not await hydrate.shows_posts(context, user):
        return paging.empty(context.settings, "profile", **asked)
    return await _posts(context, "profile", kinds.PROFILE.key(user.id), asked, newest=context.load.published(user.id))


async def public(
    context: Context, *, order: TimelineOrder | None, **asked: Unpack[PageArguments]
) -> Page[TimelineEdge]:
    """Return a page of the public timeline: all public posts that it keeps."""
    return await _read_by_all(context, "public", "", *public_lists(), order, asked)


async def tagged(
    context: Context, tag: str, *, order: TimelineOrder | None, **asked: Unpack[PageArguments]
) -> Page[TimelineEdge]:
    """Return a page of the posts with a hashtag."""
    return await _read_by_all(context, "hashtag", tag, *hashtag_lists(tag), order, asked)


async def in_group(context: Context, group: Group, **asked: Unpack[PageArguments]) -> Page[TimelineEdge] | None:
    """Return a page of the posts in a group; None where the viewer does not see what is in it."""
    window = paging.window(context.settings, "group", **asked)
    if not await groups.is_open(context, group):
        return None
    return await timeline_page.page(window, Posts(context, window.kind, kinds.GROUP_TIMELINE.key(group.id)))


async def mentions(context: Context, who: Claims, **asked: Unpack[PageArguments]) -> Page[TimelineEdge]:
    """Return a page of the posts and comments that mention the viewer."""
    window, key = paging.window(context.settings, "mentions", **asked), kinds.MENTIONS.key(who.member)

    async def fetch(part: Slice) -> list[Mentioned]:
        (reply,) = await context.batcher.run([read_slice(key, part)])
        return read_mentions(reply)

    async def present(entries: Sequence[Mentioned]) -> list[TimelineEdge | None]:
        comments = [entry.entity for entry in entries if entry.below]
        post_ids = [entry.entity for entry in entries if not entry.below]
        said, posts, _ = await asyncio.gather(
            hydrate.timeline_comments(context, comments),
            hydrate.timeline_posts(context, post_ids),
            context.load.post.load_many([entry.below for entry in entries if entry.below]),  # in the same round trip
        )
        found = {**dict(zip(post_ids, posts, strict=True)), **dict(zip(comments, said, strict=True))}
        cursors = paging.cursors("mentions", [entry.place for entry in entries])
        return [
            TimelineEdge(cursor, node) if (node := found[entry.entity]) else None
            for cursor, entry in zip(cursors, entries, strict=True)
        ]

    return await paging.page(window, fetch, present, goes_on=paging.beyond(context, key, window))


async def _read_by_all(
    context: Context, kind: str, name: str, key: str, important: str, order: TimelineOrder | None, asked: PageArguments
) -> Page[TimelineEdge]:
    if order is not TimelineOrder.IMPORTANT:
        return await _posts(context, kind, key, asked)

    async def best() -> list[int]:
        (reply,) = await context.batcher.run([importance.best(important, context.settings.important_size)])
        return [int(post) for post in reply]

    return await _ranked(context, kind, name, best, partial(timeline_page.edges, Posts(context, kind, key)), asked)


async def _ranked(
    context: Context,
    kind: str,
    name: str,
    candidates: Callable[[], Awaitable[list[int]]],
    show: Present[TimelineEdge],
    asked: PageArguments,
) -> Page[TimelineEdge]:
    """Return a page of a timeline, most important first; raises BadUserInput, which names the argument and the rule.

    Current counts rank the candidates, not stored scores. Deleted posts are left out.
    """
    if asked.get("last") is not None or asked.get("before") is not None:
        argument = "before" if asked.get("last") is None else "last"
        raise BadUserInput(f"{argument}: the order IMPORTANT pages forward only, with first and after")

    async def rank() -> list[int]:
        posts = await candidates()
        replies = await context.batcher.run([importance.counts(post) for post in posts])
        counts = {post: found for post, reply in zip(posts, replies, strict=True) if (found := read_counts(reply))}
        return ranking.best_first({post: ranking.score(instant(post), **found) for post, found in counts.items()})

    listing = snapshots.Listing(f"important-{kind}", name, rank, show)
    return await snapshots.page(context, listing, asked.get("first"), asked.get("after"))


async def _posts(
    context: Context, kind: str, key: str, asked: PageArguments, newest: DataLoader[list[Entry]] | None = None
) -> Page[TimelineEdge]:
    window = paging.window(context.settings, kind, **asked)
    return await promoted(context, window, timeline_page.page(window, Posts(context, kind, key, newest)))


class RepostSource(Struct, frozen=True):
    """A member whose plain repost is a source of a post in a home, and the time of that repost."""

    user: User
    reposted_at: datetime


async def reposted_by(context: Context, edges: Sequence[TimelineEdge], first: int | None) -> list[list[RepostSource]]:
    """Return the first members whose plain reposts are sources of each post.

    Raises BadUserInput if `first` is out of range.
    """
    asked = paging.window(context.settings, "sources", first=first)
    sources = [edge.sources[: asked.count] for edge in edges]
    if not any(sources):  # as on most pages
        return [[] for _ in edges]
    users = iter(await hydrate.users(context, [source.author for each in sources for source in each]))
    return [
        [RepostSource(user, source.reposted_at) for source in each if (user := next(users)) is not None]
        for each in sources
    ]
