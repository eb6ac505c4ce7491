"""Places and sources of posts in a home, as pure functions of facts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import Struct

from store.records import Post, Published, Source

EARLIER_REPOSTS = 1_000  # Oldest reposts of a post that are searched for one at or below the floor.


def sources_of(sources: Iterable[Source], *, is_source: Callable[[Source], bool]) -> tuple[Source, ...]:
    """Return the plain reposts that add a post to a home, oldest first and each once.

    `is_source` says whether a repost still exists and its author is followed.
    """
    return tuple(source for source in sorted(set(sources), key=lambda s: s.repost) if is_source(source))


def place(post: int, author: int, member: int, following: Collection[int], sources: Sequence[Source]) -> int | None:
    """Return a post's place in a member's home: its smallest source; None if it has none.

    The place is the post's own id if the member wrote it or follows its author. Otherwise it is the id of the first
    repost by a followed member.
    """
    if author == member or author in following:
        return post
    reposts = [source.repost for source in sources if source.author in following]
    return min(reposts, default=None)


def shows_reply(post: Post, viewer: int, follows: Callable[[int], bool]) -> bool:
    """Return whether a home shows a post, as far as it is a reply: not one between two members of whom it knows one.

    A reply is shown to its author, and to members who follow, or are, the author of the answered post. A reply to a
    post of one's own counts as a post.
    """
    answered = post.reply_to_author
    return answered is None or answered == post.author or viewer in {post.author, answered} or follows(answered)


@dataclass(frozen=True, slots=True)
class Home:
    """A home: the place of each post above the floor, and the plain reposts above the floor.

    The reposts may also be of posts at or below the floor.
    """

    places: dict[int, int]
    sources: dict[int, tuple[Source, ...]]
    floor: int

    def without(self, posts: Collection[int]) -> Home:
        """Return the home without some posts that turned out to have a place below the floor."""
        places = {post: place for post, place in self.places.items() if post not in posts}
        return replace(self, places=places)

    def above(self, floor: int) -> Home:
        """Return the home with a higher floor."""
        floor = max(self.floor, floor)
        sources = {
            post: tuple(s for s in post_sources if s.repost > floor) for post, post_sources in self.sources.items()
        }
        return Home(
            {post: place for post, place in self.places.items() if place > floor},
            {post: post_sources for post, post_sources in sources.items() if post_sources},
            floor,
        )


def pull(
    member: int, following: Collection[int], profiles: Mapping[int, Sequence[Published]], horizon: int, size: int | None
) -> Home:
    """Return a member's home as a pure function of what they and the members they follow have published.

    `profiles` holds these members' entries above `horizon`, newest first. Posts of a followed member who is missing
    from `profiles` get no place, even if somebody reposted them. `size` limits the number of posts.
    """
    places: dict[int, int] = {}
    reposts: dict[int, list[Source]] = {}
    whose: dict[int, int] = {}
    for author, published in profiles.items():
        for entry in published:
            if entry.group:
                continue  # a post in a group goes to no home
            if entry.original is None:
                places[entry.id] = entry.id
            elif author != member and entry.original_author is not None:
                reposts.setdefault(entry.original, []).append(Source(entry.id, author))
                whose[entry.original] = entry.original_author
    sources = {post: tuple(sorted(post_sources, key=lambda s: s.repost)) for post, post_sources in reposts.items()}
    for post, post_sources in sources.items():
        if whose[post] in profiles:
            places[post] = post
        elif whose[post] not in following:
            places[post] = post_sources[0].repost
    kept = sorted(places.values(), reverse=True)
    floor = horizon if size is None or len(kept) <= size else max(kept[size], horizon)
    return Home(places, sources, 0).above(floor)


def horizon(member: int, profiles: Mapping[int, Sequence[Published]], size: int) -> int:
    """Return an id above which these profiles alone add `size` posts to a home; 0 if they have no more posts."""
    entries = [
        entry
        for author, found in profiles.items()
        for entry in found
        if not entry.group and (entry.original is None or author != member)
    ]
    added: set[int] = set()
    for entry in sorted(entries, key=lambda e: e.id, reverse=True):
        if len(added) == size and (entry.original or entry.id) not in added:
            return entry.id
        added.add(entry.original or entry.id)
    return 0


class PlaceFacts(Struct, frozen=True):
    """The facts that decide whether a post is listed at a place, in a home that is merged when it is read."""

    post: int
    has_author: bool  # The author is the member, or is followed.
    is_pulled: bool  # The author is a big author, whose posts are not pushed.
    stored: int | None  # Place in the stored home.
    sources: tuple[Source, ...]  # All reposts that are sources, oldest first.
    pulled: frozenset[int]  # Reposts among the sources that are not pushed.
    floor: int


def is_listed_at(place: int, s: PlaceFacts) -> bool:
    """Return whether a post is listed at one of the places where it was found.

    A stored place is accepted, unless a source that is not pushed gives an earlier one. While a job is unfinished, the
    stored place may be too late, but the post must not be missing meanwhile.
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
