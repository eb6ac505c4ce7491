"""What lists in Redis hold: entries, sources and pairs of fields."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from store.ids import instant

Fields = Mapping[str, str]


class Source(Struct, frozen=True):
    """A plain repost that added a post to a home, and its author."""

    repost: int
    author: int

    @property
    def reposted_at(self) -> datetime:
        return instant(self.repost)


def read_pairs(reply: Sequence[str]) -> dict[str, str]:
    """Return the fields of a hash or stream entry from Redis's flat list."""
    parts = iter(reply)
    return dict(zip(parts, parts, strict=True))


def read_entries(reply: Sequence[str]) -> "list[Entry]":
    """Return the entries of a sorted set from a reply WITHSCORES."""
    parts = iter(reply)
    return [Entry(int(entity.partition(":")[0]), int(place)) for entity, place in zip(parts, parts, strict=True)]


NOBODY = 0  # The author of the source that says that the post itself was delivered.


def read_sources(text: str | None) -> tuple[Source, ...]:
    """Return the plain reposts among the sources of a home entry, oldest first."""
    if not text:
        return ()
    sources = [Source(*map(int, pair.split(":"))) for pair in text.split()]
    return tuple(sources if sources[0].author != NOBODY else sources[1:])


def write_sources(sources: Iterable[Source]) -> str:
    """Return the text of sources, as a home stores it."""
    return " ".join(f"{source.repost}:{source.author}" for source in sources)


class Published(Struct, frozen=True):
    """An entry of a profile. A plain repost has its original and the original's author.

    The author is 0 for an original in a group, which no follow of an author adds to a home.
    """

    id: int
    original: int | None = None
    original_author: int | None = None
    group: int | None = None  # the group that the post is in


class Entry(Struct, frozen=True):
    """An entry of a sorted list: the id that is listed, and the id it is sorted by."""

    entity: int
    place: int
