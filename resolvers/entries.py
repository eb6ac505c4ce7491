"""Entries of a home as its owner may see them, with who brought each."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from resolvers import hydrate, paging
from resolvers.context import Context
from resolvers.rules import merging, visibility
from resolvers.rules.merging import EARLIER_REPOSTS
from store import keys, posts
from store.promotions import Promotion
from store.records import Entry, Post, Repost, Source

REPOSTS_SHOWN = 100  # first reposts of a post below the floor among which the viewer's followed ones are looked for


@dataclass(frozen=True, slots=True)
class TimelineEdge:
    """A post in a timeline, or a promotion; `sources` are the plain reposts that brought it home, oldest first."""

    cursor: str
    node: Post | Promotion
    sources: tuple[Source, ...] = ()


async def home_edges(
    context: Context, found: Sequence[Entry], *, big: Sequence[int], floor: int | None
) -> list[TimelineEdge | None]:
    """Return what the viewer may see of home entries, with who brought each; two round trips.

    What brought an entry is checked anew, so that a delivery or retraction still under way shows nothing wrong. `big`
    are the followed authors whose posts are not stored: their entries are among those found. Without a `floor` posts
    are shown wherever they stand.
    """
    ids = [entry.thing for entry in found]
    records, stored, known, places = await asyncio.gather(
        context.load.post.load_many(ids),
        context.load.sources.load_many(ids),
        _not_stored(context, found, big, floor or 0),
        context.load.place.load_many(ids) if big or floor else _same_places(found),
    )
    sources = [{*kept, *more} for kept, more in zip(stored, known, strict=True)]
    bringers = {source.author for group in sources for source in group}
    reposts = {source.repost for group in sources for source in group}
    seen, *_ = await asyncio.gather(
        hydrate.posts(context, ids, also=bringers),
        context.load.follows.load_many(list(bringers | {post.author for post in records if post})),
        context.load.post.load_many(list(reposts)),
    )
    return [
        await _home_edge(context, entry, post, list(group), place, set(big), floor)
        for entry, post, group, place in zip(found, seen, sources, places, strict=True)
    ]


async def _same_places(found: Sequence[Entry]) -> list[int | None]:
    return [entry.place for entry in found]


async def _not_stored(
    context: Context, found: Sequence[Entry], big: Sequence[int], floor: int
) -> list[tuple[Source, ...]]:
    """Return plain reposts that the stored sources do not name: by big authors, and at or below the floor."""
    first, theirs = await asyncio.gather(_first_reposts(context, found, big, floor), _reposts_by(context, found, big))
    return [(*first.get(entry, ()), *theirs.get(entry, ())) for entry in found]


async def _first_reposts(
    context: Context, found: Sequence[Entry], big: Sequence[int], floor: int
) -> dict[Entry, tuple[Source, ...]]:
    """Return the first reposts of entries below the floor; of others those there, by which a post stands there."""
    counts = {e: (REPOSTS_SHOWN, None) if e.place <= floor else (EARLIER_REPOSTS, floor + 1) for e in found}
    asked = [entry for entry in found if floor and (big or entry.place <= floor)]
    replies = await context.reader.run([posts.first_reposts(e.thing, *counts[e]) for e in asked]) if asked else []
    return {entry: posts.read_reposts(reply) for entry, reply in zip(asked, replies, strict=True)}


async def _reposts_by(
    context: Context, found: Sequence[Entry], authors: Sequence[int]
) -> dict[Entry, tuple[Source, ...]]:
    if not authors:
        return {}
    replies = await context.reader.run([("ZMSCORE", keys.reposts(entry.thing), *authors) for entry in found])
    return {
        entry: tuple(Source(int(repost), a) for a, repost in zip(authors, scores, strict=True) if repost is not None)
        for entry, scores in zip(found, replies, strict=True)
    }


async def _home_edge(
    context: Context,
    entry: Entry,
    post: Post | None,
    sources: Sequence[Source],
    stored: int | None,
    big: Collection[int],
    floor: int | None,
) -> TimelineEdge | None:
    if post is None:
        return None
    bringing = {source.repost for source in sources if await _brings(context, source, post)}
    standing = merging.sources_of(sources, brings=lambda source: source.repost in bringing)
    has_author = post.author == context.viewer or await context.load.follows.load(post.author)
    facts = merging.Standing(
        post=post.id,
        has_author=has_author,
        is_pulled=post.author in big,
        stored=stored,
        sources=standing,
        pulled=frozenset(source.repost for source in standing if source.author in big),
        floor=floor or 0,
    )
    stands = has_author or standing if floor is None else merging.stands_at(entry.place, facts)
    return TimelineEdge(paging.cursor("home", entry.place), post, standing) if stands else None


async def _brings(context: Context, source: Source, post: Post) -> bool:
    repost = await context.load.post.load(source.repost)
    stands = isinstance(repost, Repost) and repost.is_plain and repost.original_id == post.id
    if not stands or not await context.load.follows.load(source.author):
        return False
    return visibility.sees_user(await context.load.user.load(source.author))


async def standing_edges(
    context: Context, following: set[int], brought: Mapping[int, tuple[Source, ...]], scanned: int, floor: int
) -> list[tuple[Post, TimelineEdge | None]]:
    """Return where posts stand in the viewer's home whatever is stored there, None for nowhere; three round trips.

    Left out are those gone, and those not above the floor. `brought` has the posts, each with reposts that must not be
    overlooked; others are looked for among the oldest `scanned` and those stored at home.
    """
    viewer = context.viewer or 0  # proved by the first round trip
    seen, sources = await asyncio.gather(
        hydrate.posts(context, list(brought)), _sources(context, following, brought, scanned)
    )
    edges: list[tuple[Post, TimelineEdge | None]] = []
    for post in seen:
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
        context.reader.run([posts.first_reposts(thing, scanned) for thing in things]),
        context.load.sources.load_many(things),
    )
    scans = [posts.read_reposts(reply) for reply in replies]
    reposts = [{*scan, *kept, *brought[thing]} for thing, scan, kept in zip(things, scans, stored, strict=True)]
    standing = {source for scan in scans for source in scan}
    unsure = [source for source in set().union(*reposts) - standing if source.author in following]
    bringers = {source.author for group in reposts for source in group if source.author in following}
    records, users = await asyncio.gather(
        context.load.post.load_many([source.repost for source in unsure]), hydrate.users(context, list(bringers))
    )
    standing |= {source for source, record in zip(unsure, records, strict=True) if record}
    seen = {user.id for user in users if user}

    def brings(source: Source) -> bool:
        return source.author in seen and source in standing

    return {thing: merging.sources_of(list(s), brings=brings) for thing, s in zip(things, reposts, strict=True)}
