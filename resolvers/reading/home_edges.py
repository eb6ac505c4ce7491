"""Edges of a home timeline: entries that the viewer may see, with the reposts that are their sources."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec import Struct

from resolvers.operation.context import Context
from resolvers.operation.dataloader import Lookup
from resolvers.reading import hydrate, paging
from resolvers.rules import merging, visibility
from resolvers.rules.merging import EARLIER_REPOSTS
from resolvers.rules.visibility import Sight
from store import posts
from store.ids import LARGEST
from store.promotions import Promotion
from store.records import Comment, Entry, Post, Relationship, Repost, Source

HOME = "home"  # the kind in cursors of the home
REPOSTS_SHOWN = 100  # oldest reposts of a post below the floor that are searched for those of followed members


class TimelineEdge(Struct, frozen=True):
    """A post in a timeline, a comment among mentions, or a promotion.

    `sources` are the plain reposts that added a post to a home, oldest first.
    """

    cursor: str
    node: Post | Comment | Promotion
    sources: tuple[Source, ...] = ()


class HomeFacts(Struct, frozen=True):
    """The facts that decide the place of each entry in the viewer's home, and whether it is shown."""

    sight: Sight
    relationships: Mapping[int, Relationship]
    posts: Sequence[Post | None]  # of each entry
    sources: Sequence[tuple[Source, ...]]  # of each entry, oldest first
    stored: Sequence[int | None]  # place of each entry in the stored home
    plain_reposts: frozenset[tuple[int, int]]  # existing plain reposts, each with its original
    big: frozenset[int]
    floor: int | None
    shows_all_replies: bool

    def edges(self, entries: Sequence[Entry]) -> list[TimelineEdge | None]:
        """Return the edges of the entries, None for those not listed at their place or not seen."""
        shown = visibility.timeline(self.sight, self.posts)
        return [
            self._edge(entry.place, post, sources, stored) if post else None
            for entry, post, sources, stored in zip(entries, shown, self.sources, self.stored, strict=True)
        ]

    def _edge(self, place: int, post: Post, sources: Sequence[Source], stored: int | None) -> TimelineEdge | None:
        if post.reply_to_author and not self._shows_reply(post):
            return None
        has_author = not post.group and (post.author == self.sight.viewer or self.relationships[post.author].follows)
        if has_author and not sources and place == stored == post.id:
            return TimelineEdge(paging.cursor(HOME, place), post)  # fast path for most entries; same as the rules
        existing = self._existing(post, sources)
        facts = merging.PlaceFacts(
            post=post.id,
            has_author=has_author,
            is_pulled=post.home_author in self.big,
            stored=stored,
            sources=existing,
            pulled=frozenset([source.repost for source in existing if source.author in self.big]),
            floor=self.floor or 0,
        )
        shown = shown_sources(self.sight, existing)
        is_listed = self.floor is None or merging.is_listed_at(place, facts)
        if not is_listed or not (has_author or shown):
            return None
        return TimelineEdge(paging.cursor(HOME, place), post, shown)

    def _shows_reply(self, post: Post) -> bool:
        return self.shows_all_replies or merging.shows_reply(
            post, self.sight.viewer or 0, lambda member: self.relationships[member].follows
        )

    def _existing(self, post: Post, sources: Sequence[Source]) -> tuple[Source, ...]:
        def is_source(source: Source) -> bool:
            return (source.repost, post.id) in self.plain_reposts and self.relationships[source.author].follows

        return merging.sources_of(sources, is_source=is_source)


async def facts(context: Context, found: Sequence[Entry], big: Sequence[int], floor: int | None) -> HomeFacts:
    """Read what decides about home entries; two round trips.

    Sources are checked again here, so that an unfinished delivery or removal shows nothing wrong. `big` are the
    followed big authors, whose posts are not stored: `found` has their entries too. With `floor=None`, a post is shown
    at any place.
    """
    load, ids, places = context.load, [entry.entity for entry in found], [entry.place for entry in found]
    if big or min(places, default=LARGEST) <= (floor or 0):
        more, records = await asyncio.gather(
            _not_stored(context, found, big, floor or 0),
            hydrate.records(context, ids, (load.sources, ids), (load.place, ids)),
        )
        sources = [(*some, *others) for some, others in zip(load.sources.loaded(ids), more, strict=True)]
        stored: Sequence[int | None] = load.place.loaded(ids)
    else:
        records = await hydrate.records(context, ids, (load.sources, ids))
        sources, stored = load.sources.loaded(ids), places
    all_sources = set(chain.from_iterable(sources))
    reposts = [source.repost for source in all_sources]
    answered = [post.reply_to_author for post in records if post and post.reply_to_author]
    lookups: list[Lookup] = [(load.post, reposts), (load.relationship, answered)]
    sight = await hydrate.sight_of_posts(context, records, [source.author for source in all_sources], *lookups)
    plain = frozenset((r.id, r.original_id) for r in load.post.loaded(reposts) if isinstance(r, Repost) and r.is_plain)
    shows_all = context.settings.home_shows_all_replies
    return HomeFacts(sight, load.relationship.found, records, sources, stored, plain, frozenset(big), floor, shows_all)


async def _not_stored(
    context: Context, found: Sequence[Entry], big: Sequence[int], floor: int
) -> list[tuple[Source, ...]]:
    """Return the plain reposts that stored sources lack, by entry: those of big authors, and those up to the floor."""
    first, theirs = await asyncio.gather(_first_reposts(context, found, big, floor), _reposts_by(context, found, big))
    return [(*first.get(entry, ()), *theirs.get(entry, ())) for entry in found]


async def _first_reposts(
    context: Context, found: Sequence[Entry], big: Sequence[int], floor: int
) -> dict[Entry, tuple[Source, ...]]:
    """Return the oldest reposts of entries at or below the floor; of other entries, only their reposts down there.

    A repost at or below the floor gives a post a place there.
    """
    counts = {e: (REPOSTS_SHOWN, None) if e.place <= floor else (EARLIER_REPOSTS, floor + 1) for e in found}
    asked = [entry for entry in found if floor and (big or entry.place <= floor)]
    replies = await context.batcher.run([posts.first_reposts(e.entity, *counts[e]) for e in asked]) if asked else []
    return {entry: posts.read_reposts(reply) for entry, reply in zip(asked, replies, strict=True)}


async def _reposts_by(
    context: Context, found: Sequence[Entry], authors: Sequence[int]
) -> dict[Entry, tuple[Source, ...]]:
    if not authors:
        return {}
    replies = await context.batcher.run([posts.reposts_by_command(entry.entity, authors) for entry in found])
    return {
        entry: tuple(Source(int(repost), a) for a, repost in zip(authors, scores, strict=True) if repost is not None)
        for entry, scores in zip(found, replies, strict=True)
    }


def shown_sources(sight: Sight, existing: Sequence[Source]) -> tuple[Source, ...]:
    """Return the sources whose members the viewer wants to see. The others still decide a post's place."""
    return tuple(source for source in existing if sight.of(source.author).is_wanted)


class Placed(Struct, frozen=True):
    """A post and its edge in a home. `post` is None if it was deleted, `edge` if the home does not list it."""

    post: Post | None
    edge: TimelineEdge | None
    repost: int = 0  # the repost that gives the place, if the viewer neither is nor follows the author


async def placed(
    context: Context, following: set[int], post_id: int, required: tuple[Source, ...], scanned: int
) -> Placed:
    """Return a post's place in the viewer's home, without relying on the stored home; three round trips.

    There is no edge for a post that the viewer does not see, or has muted. `required` are reposts that must be
    considered. Other reposts are searched among the post's oldest `scanned` and the sources stored at home.
    """
    viewer = context.viewer or 0  # authenticated by the first round trip
    record, (post,), (sources, sight) = await asyncio.gather(
        context.load.post.load(post_id),
        hydrate.timeline_posts(context, [post_id]),
        _sources(context, following, post_id, required, scanned),
    )
    if record is None:
        return Placed(None, None)
    place = merging.place(record.id, record.home_author, viewer, following, sources)
    shown = shown_sources(sight, sources)
    has_author = record.home_author == viewer or record.home_author in following
    is_shown = context.settings.home_shows_all_replies or merging.shows_reply(record, viewer, following.__contains__)
    if post is None or place is None or not (has_author or shown) or not is_shown:
        return Placed(record, None)
    edge = TimelineEdge(paging.cursor(HOME, place), post, shown)
    return Placed(record, edge, 0 if has_author else place)


async def _sources(
    context: Context, following: set[int], post_id: int, required: tuple[Source, ...], scanned: int
) -> tuple[tuple[Source, ...], Sight]:
    """Return the sources of a post for the viewer, and the facts that decide which of them the viewer sees."""
    (reply,), stored = await asyncio.gather(
        context.batcher.run([posts.first_reposts(post_id, scanned)]), context.load.sources.load(post_id)
    )
    existing = set(posts.read_reposts(reply))
    reposts = {*existing, *stored, *required}
    unsure = [source for source in reposts - existing if source.author in following]
    reposters = {source.author for source in reposts if source.author in following}
    records, sight = await asyncio.gather(
        context.load.post.load_many([source.repost for source in unsure]), hydrate.sight_of(context, reposters)
    )
    there = {user.id for user in context.load.user.loaded(reposters) if user}
    existing |= {source for source, record in zip(unsure, records, strict=True) if record}

    def is_source(source: Source) -> bool:
        return source.author in there and source in existing

    return merging.sources_of(reposts, is_source=is_source), sight
