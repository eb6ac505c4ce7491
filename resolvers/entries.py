"""Entries of a home as its owner may see them, with who brought each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from resolvers import hydrate, paging
from resolvers.context import Context
from resolvers.rules import merging
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
