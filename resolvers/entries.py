"""Entries of a home as its owner may see them, with who brought each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolvers import hydrate, paging
from resolvers.context import Context
from resolvers.rules import merging
from store.posts import first_reposts, read_first_reposts
from store.records import Entry, Post, Repost, Source


@dataclass(frozen=True, slots=True)
class TimelineEdge:
    """A post in a timeline; `sources` are the plain reposts that brought it home, oldest first."""

    cursor: str
    node: Post
    sources: tuple[Source, ...] = ()


async def home_edges(context: Context, entries: Sequence[Entry]) -> list[TimelineEdge | None]:
    """Return what the viewer may see of home entries, with who brought each; two round trips.

    What brought an entry is checked anew, so that a delivery or retraction still under way shows nothing wrong.
    """
    ids = [entry.thing for entry in entries]
    found, sources = await asyncio.gather(context.load.post.load_many(ids), context.load.sources.load_many(ids))
    bringers = {source.author for group in sources for source in group}
    reposts = [source.repost for group in sources for source in group]
    posts, *_ = await asyncio.gather(
        hydrate.posts(context, ids, also=bringers),
        context.load.follows.load_many(list(bringers | {post.author for post in found if post})),
        context.load.post.load_many(reposts),
    )
    return [
        await _home_edge(context, entry, post, group)
        for entry, post, group in zip(entries, posts, sources, strict=True)
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
    context: Context, following: set[int], brought: Mapping[int, tuple[Source, ...]], scanned: int, floor: int
) -> list[tuple[Post, TimelineEdge | None]]:
    """Return where posts stand in the viewer's home whatever is stored there, None for nowhere; three round trips.

    Left out are those gone, and those not above the floor. `brought` has the posts, each with reposts that must not be
    overlooked; others are looked for among the oldest `scanned` and those stored at home.
    """
    viewer = context.viewer or 0  # proved by the first round trip
    posts, sources = await asyncio.gather(
        hydrate.posts(context, list(brought)), _sources(context, following, brought, scanned)
    )
    edges: list[tuple[Post, TimelineEdge | None]] = []
    for post in posts:
        if post is None:
            continue
        place = merging.place(post.id, post.author, viewer, following, sources[post.id])
        if place is None:
            edges.append((post, None))
        elif place > floor:
            edges.append((post, TimelineEdge(paging.cursor("home", place), post, sources[post.id])))
    return edges


async def _sources(
    context: Context, following: set[int], brought: Mapping[int, tuple[Source, ...]], scanned: int
) -> dict[int, tuple[Source, ...]]:
    """Return by whom the viewer has posts."""
    things = list(brought)
    replies, stored = await asyncio.gather(
        context.reader.run([first_reposts(thing, scanned) for thing in things]), context.load.sources.load_many(things)
    )
    scans = [read_first_reposts(reply) for reply in replies]
    reposts = [{*scan, *kept, *brought[thing]} for thing, scan, kept in zip(things, scans, stored, strict=True)]
    standing = {source for scan in scans for source in scan}
    unsure = [source for source in set().union(*reposts) - standing if source.author in following]
    records = await context.load.post.load_many([source.repost for source in unsure])
    standing |= {source for source, record in zip(unsure, records, strict=True) if record}

    def brings(source: Source) -> bool:
        return source.author in following and source in standing

    return {thing: merging.sources_of(list(s), brings=brings) for thing, s in zip(things, reposts, strict=True)}
