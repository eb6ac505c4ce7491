"""Places and sources of posts in a home, as pure functions of facts."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import Struct, structs

from store.records.lists import Published, Source
from store.records.posts import Post

EARLIER_REPOSTS = 1_000  # Oldest reposts of a post that are searched for those at or below the floor.


def oldest_first(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return plain reposts, oldest first and each once."""
    return tuple(sorted(set(sources), key=lambda source: source.repost))


def place(sources: Iterable[int], lift: int) -> int | None:
    """Return the place that ascending sources give a post, None if there are none.

    The first source is the place. A later one becomes the place if it is more than `lift` after the present place. With
    a lift of 0, none does.
    """
    place_so_far: int | None = None
    for source in sources:
        if place_so_far is None or 0 < lift < source - place_so_far:
            place_so_far = source
    return place_so_far


def in_order_of_lifts(sources: Sequence[Source], place: int) -> tuple[Source, ...]:
    """Return the sources of a post in the order in which they are named: those since the last lift come first."""
    return (*(s for s in sources if s.repost >= place), *(s for s in sources if s.repost < place))


def shows_reply(post: Post, viewer: int, follows: Callable[[int], bool]) -> bool:
    """Return whether a home shows a post that its author adds, as far as it is a reply: not one to a stranger.

    A reply is shown to its author, and to members who follow, or are, the author of the answered post. A reply to a
    post of one's own counts as a post. A plain repost by somebody followed shows any reply.
    """
    answered = post.reply_to_author
    return answered is None or answered == post.author or viewer in {post.author, answered} or follows(answered)


class Added(Struct, frozen=True):
    """What adds a post to a home: the post itself, and plain reposts, oldest first."""

    own: int | None  # The post's id if that is a source: the member wrote it, or follows its author.
    is_delivered: bool  # Whether the post is in the home without its reposts. Readers pull a big author's posts.
    earlier: tuple[int, ...]  # Reposts up to the floor.
    reposts: tuple[Source, ...]  # Those above the floor.

    def place(self, floor: int, lift: int) -> int | None:
        """Return the post's place in the home, None if it is not listed."""
        own = () if self.own is None else (self.own,)
        listed = place((*own, *self.earlier, *(source.repost for source in self.reposts)), lift)
        is_pulled = listed == self.own and not self.is_delivered
        return None if listed is None or listed <= floor or is_pulled else listed

    def below(self, floor: int, lift: int) -> int | None:
        """Return the place that the sources up to the floor give the post."""
        own = () if self.own is None or self.own > floor else (self.own,)
        return place((*own, *self.earlier), lift)

    def candidates(self, place: int | None, lift: int) -> set[int]:
        """Return the reposts that can be the post's place for readers who add big authors' reposts of it.

        No repost can be the place that is more than the lift before the last one. Nor can one that is within the lift
        after the post.
        """
        if not lift or not self.reposts:
            return set()
        least = max(self.reposts[-1].repost - lift, self.own + lift + 1 if self.own else 0)
        return {source.repost for source in self.reposts if source.repost >= least} - {place}


@dataclass(frozen=True, slots=True)
class Home:
    """A home: the place of each post above the floor, and what is known of posts with plain reposts above the floor.

    These may also be posts at or below the floor.
    """

    places: dict[int, int]
    added: dict[int, Added]
    floor: int
    lift: int

    def what_adds(self, post: int) -> Added:
        """Return what adds a post to the home."""
        is_listed = post in self.places
        return self.added.get(post) or Added(post if is_listed else None, is_listed, (), ())

    def with_earlier(self, earlier: Mapping[int, Sequence[Source]]) -> "Home":
        """Return the home with the reposts up to the floor of some posts that are not above it."""
        added, places = dict(self.added), dict(self.places)
        for post, sources in earlier.items():
            added[post] = structs.replace(added[post], earlier=tuple(source.repost for source in sources))
            _list(places, post, added[post].place(self.floor, self.lift))
        return replace(self, places=places, added=added)

    def above(self, floor: int) -> "Home":
        """Return the home with a higher floor."""
        floor = max(self.floor, floor)
        places = {post: place for post, place in self.places.items() if place > floor}
        added = {post: _above(known, floor) for post, known in self.added.items()}
        return Home(places, {post: known for post, known in added.items() if known.reposts}, floor, self.lift)

    def newest(self, size: int) -> "Home":
        """Return the home with at most `size` posts."""
        kept = sorted(self.places.values(), reverse=True)
        return self if len(kept) <= size else self.above(kept[size])


def _list(places: dict[int, int], post: int, place: int | None) -> None:
    if place is None:
        places.pop(post, None)
    else:
        places[post] = place


def _above(known: Added, floor: int) -> Added:
    passed = tuple(source.repost for source in known.reposts if source.repost <= floor)
    return structs.replace(known, earlier=known.earlier + passed, reposts=known.reposts[len(passed) :])


def pull(
    member: int, following: Collection[int], profiles: Mapping[int, Sequence[Published]], horizon: int, lift: int
) -> Home:
    """Return a member's home as a pure function of what they and the members they follow have published.

    `profiles` holds these members' entries above `horizon`, which is the home's floor. A followed member who is missing
    from `profiles` adds neither posts nor reposts.
    """
    places: dict[int, int] = {}
    reposts: dict[int, list[Source]] = {}
    whose: dict[int, int] = {}
    for author, published in profiles.items():
        for entry in published:
            if entry.group or entry.id <= horizon:
                continue  # a post in a group goes to no home
            if entry.original is None:
                places[entry.id] = entry.id
            elif author != member and entry.original_author is not None:
                reposts.setdefault(entry.original, []).append(Source(entry.id, author))
                whose[entry.original] = entry.original_author
    added: dict[int, Added] = {}
    for post, sources in reposts.items():
        own = post if whose[post] == member or whose[post] in following else None
        in_order = tuple(sorted(sources, key=lambda s: s.repost))
        added[post] = known = Added(own, post in places, (), in_order)
        _list(places, post, known.place(horizon, lift))
    return Home(places, added, horizon, lift)


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
    """The facts that decide the place of a post in a home that is merged when it is read."""

    own: int | None  # The post's id, if the viewer wrote it or follows its author.
    sources: Sequence[int]  # All reposts that are sources, oldest first.
    stored: int | None  # Place in the stored home.
    findable: Collection[int]  # The other places at which pages look for the post.
    lift: int


def listed_place(s: PlaceFacts) -> int | None:
    """Return the place of a post that all its sources give it, the stored one while no page would find it there.

    That is so while a job is unfinished. The post must not be missing meanwhile.
    """
    own = () if s.own is None else (s.own,)
    wanted = place((*own, *s.sources), s.lift)
    return wanted if wanted in s.findable else s.stored
