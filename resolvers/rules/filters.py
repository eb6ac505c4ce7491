"""Filters of the site's stream: members, phrases and boxes. An event passes if any of these matches."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from resolvers.rules import places
from resolvers.rules.places import Box
from resolvers.rules.text import TextRefused, normalise
from resolvers.rules.words import Phrase, TextTerms, phrase_of, words_of
from store.records.posts import Location

FOLLOW_MOST = 5_000  # members of a filter
TRACK_MOST = 400  # phrases of a filter
PHRASE_MOST = 60  # characters of a phrase, after normalisation and trimming
BOXES_MOST = 25  # boxes of a filter


class FilterRefused(ValueError):
    """A filter breaks a rule; the text names the argument and the rule."""


class Bounds(Protocol):
    """A box as a client sends it, in degrees."""

    @property
    def south(self) -> float: ...
    @property
    def west(self) -> float: ...
    @property
    def north(self) -> float: ...
    @property
    def east(self) -> float: ...


@dataclass(frozen=True)
class Facts:
    """The facts of an event that filters decide on. An event about no post has neither text nor place.

    Of a post that is deleted, they may be unknown. Every filter for text or places passes the end of such a post.
    """

    author: int
    text: str = ""
    place: Location | None = None
    is_unknown: bool = False  # whether text and place are

    @cached_property
    def words(self) -> TextTerms:
        """The words of the text, split on first use."""
        return words_of(self.text)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that passes events by some members, with some phrases, or in some boxes."""

    follow: frozenset[int] = frozenset()
    track: frozenset[Phrase] = frozenset()
    boxes: frozenset[Box] = frozenset()

    @property
    def reads_content(self) -> bool:
        """Whether it depends on the text or the place of a post."""
        return bool(self.track or self.boxes)

    def passes(self, facts: Facts) -> bool:
        """Return whether an event matches any part of the filter."""
        return (
            facts.author in self.follow
            or (facts.is_unknown and self.reads_content)
            or any(phrase.is_in(facts.words) for phrase in self.track)
            or (facts.place is not None and any(box.holds(facts.place) for box in self.boxes))
        )


def read(follow: Collection[int] | None, track: Sequence[str] | None, locations: Sequence[Bounds] | None) -> Filter:
    """Return the filter that a client sent; None for a part means that it was left out. Raises FilterRefused.

    At least one part is required. A filter without parts would match nothing, but no filter at all matches everything.
    """
    if follow is None and track is None and locations is None:
        raise FilterRefused("filter: must have follow, track or locations")
    _counted("follow", follow, FOLLOW_MOST)
    _counted("track", track, TRACK_MOST)
    _counted("locations", locations, BOXES_MOST)
    return Filter(
        frozenset(follow or ()),
        frozenset(_phrase(f"filter.track[{i}]", text) for i, text in enumerate(track or ())),
        frozenset(_box(f"filter.locations[{i}]", box) for i, box in enumerate(locations or ())),
    )


def _counted(name: str, part: Collection[object] | None, most: int) -> None:
    if part is not None and not 1 <= len(part) <= most:
        raise FilterRefused(f"filter.{name}: must have 1 to {most} entries, has {len(part)}")


def _phrase(name: str, text: str) -> Phrase:
    try:
        phrase = phrase_of(normalise(text, limit=PHRASE_MOST))
    except TextRefused as refusal:
        raise FilterRefused(f"{name}: {refusal}") from None
    if not phrase.terms:
        raise FilterRefused(f"{name}: must have a word")
    return phrase


def _box(name: str, box: Bounds) -> Box:
    edges = {"south": box.south, "west": box.west, "north": box.north, "east": box.east}
    for edge, degrees in edges.items():
        most = places.LATITUDE_MOST if edge in {"south", "north"} else places.LONGITUDE_MOST
        if flaw := places.flaw(degrees, most):
            raise FilterRefused(f"{name}.{edge}: {flaw}")
    if box.south > box.north:
        raise FilterRefused(f"{name}: south must not be above north")
    return Box(**edges)
