"""Where a post stands in a home, and who brought it: decided from facts alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from store.records import Source


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
