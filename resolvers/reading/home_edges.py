"""Edges of a home timeline: entries that the viewer may see, with the reposts that are their sources."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from resolvers.loading.dataloader import Lookup
from resolvers.operation.context import Context
from resolvers.reading import hydrate, paging
from resolvers.rules import merging, visibility
from resolvers.rules.visibility import Sight
from store import posts
from store.homes import bounds
from store.ids import LARGEST
from store.promotions import Promotion
from store.records.lists import Entry, Source
from store.records.members import Relationship
from store.records.posts import Comment, Post, Repost

HOME = "home"  # the kind in cursors of the home


class TimelineEdge(Struct, frozen=True):
    """A post in a timeline, a comment among mentions, or a promotion.

    `sources` are the plain reposts that added a post to a home: those since the last lift, then the earlier ones.
    """

    cursor: str
    node: Post | Comment | Promotion
    sources: tuple[Source, ...] = ()


class HomeFacts(Struct, frozen=True):
    """The facts that decide the place of each entry in the viewer's home, and whether it is shown."""

    sight: Sight
    relationships: Mapping[int, Relationship]
    posts: Sequence[Post | None]  # of each entry
    in_store: Sequence[tuple[Source, ...]]  # sources of each entry in the stored home
    not_stored: Sequence[tuple[Source, ...]]  # reposts of each entry that may be sources, too
    stored: Sequence[int | None]  # place of each entry in the stored home
    plain_reposts: frozenset[tuple[int, int]]  # existing plain reposts, each with its original
    big: frozenset[int]
    floor: int | None
    lift: int
    shows_all_replies: bool

    def edges(self, entries: Sequence[Entry]) -> list[TimelineEdge | None]:
        """Return the edges of the entries, None for those not listed at their place or not seen."""
        shown, places = visibility.seen(self.sight, self.posts, wanted=True), [entry.place for entry in entries]
        cursors = paging.cursors(HOME, places)
        rows = zip(cursors, places, shown, self.in_store, self.not_stored, self.stored, strict=True)
        followed = self._followed({post.author for post in shown if post})
        edges: list[TimelineEdge | None] = []
        for cursor, place, post, in_store, others, stored in rows:
            if post is None:
                edges.append(None)
                continue
            has_author = post.author in followed and not post.group
            is_told = has_author and (not post.reply_to_author or self._shows_reply(post))  # shown without any repost
            if has_author and not in_store and not others and place == stored == post.id:
                sources: tuple[Source, ...] | None = ()  # For most entries. The rules give the same.
            else:
                sources = self._sources(post, place, in_store, others, stored, has_author=has_author)
            is_shown = sources is not None and (is_told or sources)
            edges.append(TimelineEdge(cursor, post, sources or ()) if is_shown else None)
        return edges

    def _sources(
        self,
        post: Post,
        place: int,
        in_store: tuple[Source, ...],
        others: Sequence[Source],
        stored: int | None,
        *,
        has_author: bool,
    ) -> tuple[Source, ...] | None:
        """Return the sources of a post that the viewer is shown, None where the post is not listed at this place."""
        existing, own = self._existing(post, (*in_store, *others)), post.id if has_author else None
        if self.floor is not None and place != self._listed_place(post, own, existing, in_store, stored):
            return None
        return shown_sources(self.sight, merging.in_order_of_lifts(existing, place))

    def _followed(self, authors: Iterable[int]) -> set[int]:
        """Return the authors whose posts are in the home: the viewer and members whom they follow."""
        viewer, relationships = self.sight.viewer, self.relationships
        return {author for author in authors if author == viewer or relationships[author].follows}

    def _listed_place(
        self, post: Post, own: int | None, existing: Sequence[Source], in_store: Sequence[Source], stored: int | None
    ) -> int | None:
        """Return the post's place by those sources that pages can find: the others are on their way to the home."""
        floor, known = self.floor or 0, set(in_store)
        pulled = {s.repost for s in existing if s.author in self.big and s not in known}
        sources = [s.repost for s in existing if s.repost <= floor or s.repost in pulled or s in known]
        findable = pulled | {repost for repost in sources if repost <= floor}
        if own is not None and (own <= floor or post.home_author in self.big):
            findable.add(own)
        if self.big:
            findable |= merging.Added(own, False, (), tuple(in_store)).candidates(stored, self.lift)
        return merging.listed_place(merging.PlaceFacts(own, sources, stored, findable, self.lift))

    def _shows_reply(self, post: Post) -> bool:
        return self.shows_all_replies or merging.shows_reply(
            post, self.sight.viewer or 0, lambda member: self.relationships[member].follows
        )

    def _existing(self, post: Post, sources: Sequence[Source]) -> tuple[Source, ...]:
        existing = [source for source in sources if (source.repost, post.id) in self.plain_reposts]
        return merging.oldest_first(source for source in existing if self.relationships[source.author].follows)


async def facts(
    context: Context, found: Sequence[Entry], big: Sequence[int], floor: int | None, following: Collection[int] | None
) -> HomeFacts:
    """Read what decides about home entries; two round trips.

    Sources are checked again here, so that an unfinished delivery or removal shows nothing wrong. `big` are the
    followed big authors, whose posts are not stored: `found` has their entries too. With `floor=None`, a post is shown
    at any place. `following` are the members followed, if they have been read.
    """
    load, ids, places = context.load, [entry.entity for entry in found], [entry.place for entry in found]
    # Without big authors, an entry above the floor was read where it is stored.
    unsure = ids if big else [entry.entity for entry in found if entry.place <= (floor or 0)]
    if big or min(ids, default=LARGEST) <= (floor or 0):
        not_stored, records = await asyncio.gather(
            _not_stored(context, found, big, floor or 0, following),
            hydrate.records(context, ids, (load.sources, ids), (load.place, unsure)),
        )
        known = dict(zip(unsure, load.place.loaded(unsure), strict=True))
        stored: Sequence[int | None] = [known.get(entry.entity, entry.place) for entry in found]
    else:
        records = await hydrate.records(context, ids, (load.sources, ids))
        not_stored, stored = [()] * len(ids), places
    in_store = load.sources.loaded(ids)
    all_sources = set(chain.from_iterable((*in_store, *not_stored)))
    reposts = [source.repost for source in all_sources]
    answered = [post.reply_to_author for post in records if post and post.reply_to_author]
    lookups: list[Lookup] = [(load.post, reposts), (load.relationship, answered)]
    sight = await hydrate.sight_of_posts(context, records, [source.author for source in all_sources], *lookups)
    plain = frozenset((r.id, r.original_id) for r in load.post.loaded(reposts) if isinstance(r, Repost) and r.is_plain)
    return HomeFacts(
        sight=sight,
        relationships=load.relationship.found,
        posts=records,
        in_store=in_store,
        not_stored=not_stored,
        stored=stored,
        plain_reposts=plain,
        big=frozenset(big),
        floor=floor,
        lift=bounds.lift(context.db),
        shows_all_replies=context.settings.home_shows_all_replies,
    )


async def _not_stored(
    context: Context, found: Sequence[Entry], big: Sequence[int], floor: int, following: Collection[int] | None
) -> list[tuple[Source, ...]]:
    """Return the plain reposts that stored sources lack, by entry: those of big authors, and those up to the floor."""
    first, theirs = await asyncio.gather(_first_reposts(context, found, floor), _reposts_by(context, found, big))
    return [
        (*(s for s in first.get(entry, ()) if following is None or s.author in following), *theirs.get(entry, ()))
        for entry in found
    ]


async def _first_reposts(context: Context, found: Sequence[Entry], floor: int) -> dict[Entry, tuple[Source, ...]]:
    """Return the oldest reposts of entries at or below the floor; of other entries, only their reposts down there."""
    asked = [entry for entry in found if 0 < entry.entity <= floor]
    whole, lower = context.load.first_reposts(None), context.load.first_reposts(floor + 1)
    loaders = [whole if entry.place <= floor else lower for entry in asked]
    wanted = [(one, [e.entity for e, its in zip(asked, loaders, strict=True) if its is one]) for one in (whole, lower)]
    await context.load.all(*wanted)
    return {entry: one.loaded([entry.entity])[0] for entry, one in zip(asked, loaders, strict=True)}


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
    """Return the sources whose members the viewer wants to see, and whose reposts they see.

    The others still decide a post's place.
    """
    shown = [(source, sight.of(source.author)) for source in existing]
    return tuple(source for source, permissions in shown if permissions.is_wanted and permissions.posts)


class PlacedPost(Struct, frozen=True):
    """A post and its edge in a home. `post` is None if it was deleted, `edge` if the home does not list it."""

    post: Post | None
    edge: TimelineEdge | None


async def placed(
    context: Context, following: set[int], post_id: int, required: tuple[Source, ...], scanned: int
) -> PlacedPost:
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
    if record is None or post is None:
        return PlacedPost(record, None)
    has_author = record.home_author == viewer or record.home_author in following
    own = [record.id] if has_author else []
    place = merging.place((*own, *(source.repost for source in sources)), bounds.lift(context.db))
    shows_reply = context.settings.home_shows_all_replies or merging.shows_reply(record, viewer, following.__contains__)
    if place is None:
        return PlacedPost(record, None)
    shown = shown_sources(sight, merging.in_order_of_lifts(sources, place))
    is_told = has_author and shows_reply
    return PlacedPost(record, TimelineEdge(paging.cursor(HOME, place), post, shown) if is_told or shown else None)


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

    return merging.oldest_first(source for source in existing if source.author in there), sight
