"""Entries of a home as its owner may see them, with who brought each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolvers import hydrate, paging
from resolvers.context import Context
from resolvers.rules import merging
from store import posts, timelines
from store.records import Entry, Post, Repost, Source


@dataclass(frozen=True, slots=True)
class TimelineEdge:
    """A post in a timeline; `sources` are the plain reposts that brought it home, oldest first."""

    cursor: str
    node: Post
    sources: tuple[Source, ...] = ()


async def home_edges(context: Context, entries: Sequence[Entry]) -> list[TimelineEdge | None]:
    """Return what the viewer may see of home entries, with who brought each; three round trips.

    What brought an entry is checked anew, so that a delivery or retraction still under way shows nothing wrong.
    """
    ids = [entry.thing for entry in entries]
    found, sources = await asyncio.gather(context.load.post.load_many(ids), context.load.sources.load_many(ids))
    bringers = {source.author for group in sources for source in group}
    reposts = [source.repost for group in sources for source in group]
    shown, *_ = await asyncio.gather(
        hydrate.posts(context, ids, also=bringers),
        context.load.follows.load_many(list(bringers | {post.author for post in found if post})),
        context.load.post.load_many(reposts),
    )
    return [
        await _home_edge(context, entry, post, group)
        for entry, post, group in zip(entries, shown, sources, strict=True)
    ]


async def _home_edge(
    context: Context, entry: Entry, post: Post | None, sources: Sequence[Source]
) -> TimelineEdge | None:
    if post is None:
        return None
    bringing = {source.repost for source in sources if await _brings(context, source, post)}
    standing = merging.sources_of(sources, brings=lambda source: source.repost in bringing)
    if not standing and post.author != context.viewer and not await context.load.follows.load(post.author):
        return None
    return TimelineEdge(paging.cursor("home", entry.place), post, standing)


async def _brings(context: Context, source: Source, post: Post) -> bool:
    repost = await context.load.post.load(source.repost)
    stands = isinstance(repost, Repost) and repost.is_plain and repost.original_id == post.id
    return stands and await context.load.follows.load(source.author)


async def standing_edges(
    context: Context, following: set[int], brought: Mapping[int, tuple[Source, ...]], scanned: int
) -> list[tuple[Post, TimelineEdge | None]]:
    """Return where posts stand in the viewer's home whatever is stored there, None for nowhere.

    Left out are those gone, and those below the floor. `brought` has the posts, each with reposts that must not be
    overlooked; the others are looked for among the oldest `scanned`.
    """
    viewer = await context.member()
    floor = await timelines.floor(context.db, viewer) or 0
    found = {post.id: post for post in await hydrate.posts(context, list(brought)) if post}
    sources = await _sources(context, following, {thing: brought[thing] for thing in found}, scanned)
    edges: list[tuple[Post, TimelineEdge | None]] = []
    for thing, post in found.items():
        place = merging.place(thing, post.author, viewer, following, sources[thing])
        if place is None:
            edges.append((post, None))
        elif place > floor:
            edges.append((post, TimelineEdge(paging.cursor("home", place), post, sources[thing])))
    return edges


async def _sources(
    context: Context, following: set[int], brought: Mapping[int, tuple[Source, ...]], scanned: int
) -> dict[int, tuple[Source, ...]]:
    """Return by whom the viewer has posts: of the oldest reposts, of those stored at home, and of those named."""
    things = list(brought)
    scans, stored = await asyncio.gather(
        posts.first_reposts(context.db, things, scanned), context.load.sources.load_many(things)
    )
    reposts = [{*scan, *kept, *brought[thing]} for thing, scan, kept in zip(things, scans, stored, strict=True)]
    standing = {source for scan in scans for source in scan}
    unsure = [source for source in set().union(*reposts) - standing if source.author in following]
    records = await context.load.post.load_many([source.repost for source in unsure])
    standing |= {source for source, record in zip(unsure, records, strict=True) if record}

    def brings(source: Source) -> bool:
        return source.author in following and source in standing

    return {thing: merging.sources_of(list(s), brings=brings) for thing, s in zip(things, reposts, strict=True)}
