"""Where a post stands in a home, and who brought it: decided from facts alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import Struct

from store.records import Published, Source

EARLIER_REPOSTS = 1_000  # first reposts of a post among which one at or below a floor is looked for


def sources_of(sources: Iterable[Source], *, brings: Callable[[Source], bool]) -> tuple[Source, ...]:
    """Return the plain reposts that bring a post to a home: by followed members, still there, oldest first."""
    return tuple(source for source in sorted(set(sources), key=lambda s: s.repost) if brings(source))


def place(post: int, author: int, member: int, following: Collection[int], sources: Sequence[Source]) -> int | None:
    """Return the smallest id that brings a post to a member's home, None when nothing does.

    The post's own when its author is followed or is the member, else that of the first repost by a followed member.
    """
    if author == member or author in following:
        return post
    bringing = [source.repost for source in sources if source.author in following]
    return min(bringing, default=None)


@dataclass(frozen=True, slots=True)
class Home:
    """A home: where each post stands above the floor, and the plain reposts above it of these and of older posts."""

    places: dict[int, int]
    sources: dict[int, tuple[Source, ...]]
    floor: int

    def without(self, posts: Collection[int]) -> Home:
        """Return the home without posts that stand below its floor after all."""
        places = {post: place for post, place in self.places.items() if post not in posts}
        return replace(self, places=places)

    def above(self, floor: int) -> Home:
        """Return the home with a higher floor."""
        floor = max(self.floor, floor)
        sources = {post: tuple(s for s in bringing if s.repost > floor) for post, bringing in self.sources.items()}
        return Home(
            {post: place for post, place in self.places.items() if place > floor},
            {post: bringing for post, bringing in sources.items() if bringing},
            floor,
        )


def pull(
    member: int, following: Collection[int], profiles: Mapping[int, Sequence[Published]], horizon: int, size: int | None
) -> Home:
    """Return the home of a member as a pure function of what they and those they follow have published.

    `profiles` holds what they have published above `horizon`, newest first. Posts by those followed who are left out
    have no place, whoever passed them on.
    """
    places: dict[int, int] = {}
    reposts: dict[int, list[Source]] = {}
    whose: dict[int, int] = {}
    for author, published in profiles.items():
        for entry in published:
            if entry.original is None:
                places[entry.id] = entry.id
            elif author != member and entry.original_author is not None:
                reposts.setdefault(entry.original, []).append(Source(entry.id, author))
                whose[entry.original] = entry.original_author
    sources = {post: tuple(sorted(bringing, key=lambda s: s.repost)) for post, bringing in reposts.items()}
    for post, bringing in sources.items():
        if whose[post] in profiles:
            places[post] = post
        elif whose[post] not in following:
            places[post] = bringing[0].repost
    kept = sorted(places.values(), reverse=True)
    floor = horizon if size is None or len(kept) <= size else max(kept[size], horizon)
    return Home(places, sources, 0).above(floor)


def horizon(member: int, profiles: Mapping[int, Sequence[Published]], size: int) -> int:
    """Return an id above which these profiles alone bring `size` posts to a home, 0 where they do not."""
    entries = [e for author, found in profiles.items() for e in found if e.original is None or author != member]
    brought: set[int] = set()
    for entry in sorted(entries, key=lambda e: e.id, reverse=True):
        if len(brought) == size and (entry.original or entry.id) not in brought:
            return entry.id
        brought.add(entry.original or entry.id)
    return 0


class PlaceFacts(Struct, frozen=True):
    """What decides whether a post stands at a place of a home that is put together when it is read."""

    post: int
    has_author: bool  # the author is the member, or followed
    is_pulled: bool  # the author is one whose posts are not pushed
    stored: int | None  # where the stored home has it
    sources: tuple[Source, ...]  # all that bring it, oldest first
    pulled: frozenset[int]  # those of the sources that are not pushed
    floor: int


def stands_at(place: int, s: PlaceFacts) -> bool:
    """Return whether a post stands at one of the places where it was found.

    A stored place is taken as it is, unless what is not pushed brings the post earlier: where work is still to be done
    the place may be late, and the post must not be missing meanwhile.
    """
    if place == s.stored:
        if s.has_author:
            return not s.is_pulled or place == s.post
        return bool(s.sources) and not any(repost < place for repost in s.pulled)
    if place == s.post:
        return s.has_author and (place > s.floor or s.stored is None or s.is_pulled)
    if s.has_author or (s.stored is not None and s.stored < place):
        return False
    early = (source.repost for source in s.sources if source.repost in s.pulled or source.repost <= s.floor)
    return min(early, default=0) == place
