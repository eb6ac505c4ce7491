"""Where a post stands in a home, and who brought it: decided from facts alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from store.records import Published, Source


def sources_of(sources: Sequence[Source], *, brings: Callable[[Source], bool]) -> tuple[Source, ...]:
    """Return the plain reposts that bring a post to a home: by followed members, still there, oldest first."""
    return tuple(source for source in sorted(sources, key=lambda s: s.repost) if brings(source))


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
    """A home: where each post stands, who passed it on, and the id at and below which it says nothing."""

    places: dict[int, int]
    sources: dict[int, tuple[Source, ...]]
    floor: int


def pull(member: int, profiles: Mapping[int, Sequence[Published]], horizon: int, size: int) -> Home:
    """Return the home of a member as a pure function of what they and those they follow have published.

    `profiles` holds the member's own and each followed member's; below `horizon` some of them were not read.
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
        stands = place(post, whose[post], member, profiles, bringing)
        assert stands is not None
        places[post] = stands
    return _cut(places, sources, horizon, size)


def _cut(places: dict[int, int], sources: dict[int, tuple[Source, ...]], horizon: int, size: int) -> Home:
    kept = sorted(places, key=places.__getitem__, reverse=True)
    floor = max(places[kept[size]] if len(kept) > size else 0, horizon)
    top = {post: places[post] for post in kept[:size] if places[post] > floor}
    return Home(top, {post: bringing for post, bringing in sources.items() if post in top}, floor)
