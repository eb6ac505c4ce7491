"""Who of many subscribers wants an event: indexes, so that those whom it does not concern cost nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from resolvers.rules.filters import Facts, Filter
from resolvers.rules.places import Box, Cell, cells_at
from resolvers.rules.words import Phrase, TextTerms
from store.records import Location

S = TypeVar("S", bound=Hashable)  # a subscriber
K = TypeVar("K", bound=Hashable)

# Of the coarsest grid no box touches more than three rows and six columns; the finest has cells of 7 km.
GRIDS = (90.0, 16.0, 4.0, 1.0, 1 / 4, 1 / 16)  # degrees
CELLS_MOST = 25  # cells under which a box is filed: one of up to four by four touches no more, wherever it begins


class PhraseIndex(Generic[S]):
    """Phrases, each filed under one of its terms and looked at only where a text has that term."""

    def __init__(self) -> None:
        self._subscribers: dict[Phrase, set[S]] = {}
        self._term: dict[Phrase, str] = {}
        self._filed: dict[str, set[Phrase]] = {}

    def __bool__(self) -> bool:
        return bool(self._subscribers)

    def add(self, phrase: Phrase, subscriber: S) -> None:
        """Let a subscriber have the texts in which a phrase stands."""
        if phrase not in self._subscribers:
            # How often texts have a term is not known; how often phrases do is, and that bounds what one text costs.
            term = min(phrase.terms, key=lambda one: (len(self._filed.get(one, ())), -len(one), one))
            self._term[phrase] = term
            self._filed.setdefault(term, set()).add(phrase)
        self._subscribers.setdefault(phrase, set()).add(subscriber)

    def remove(self, phrase: Phrase, subscriber: S) -> None:
        """Let a subscriber have them no longer."""
        if _discard(self._subscribers, phrase, subscriber):
            _discard(self._filed, self._term.pop(phrase), phrase)

    def match(self, words: TextTerms) -> set[S]:
        """Return those who have a phrase that stands in a text."""
        found: set[S] = set()
        for term in words.terms:
            for phrase in self._filed.get(term, ()):
                if phrase.stands_in(words):
                    found |= self._subscribers[phrase]
        return found


class BoxIndex(Generic[S]):
    """Boxes, each filed under the cells it touches of the finest grid of which these are few."""

    def __init__(self) -> None:
        self._subscribers: dict[Box, set[S]] = {}
        self._filed: dict[Cell, set[Box]] = {}

    def add(self, box: Box, subscriber: S) -> None:
        """Let a subscriber have the places in a box."""
        if box not in self._subscribers:
            for cell in _cells(box):
                self._filed.setdefault(cell, set()).add(box)
        self._subscribers.setdefault(box, set()).add(subscriber)

    def remove(self, box: Box, subscriber: S) -> None:
        """Let a subscriber have them no longer."""
        if _discard(self._subscribers, box, subscriber):
            for cell in set(_cells(box)):
                _discard(self._filed, cell, box)

    def match(self, place: Location) -> set[S]:
        """Return those who have a box that holds a place."""
        near = {box for size in GRIDS for cell in cells_at(place, size) for box in self._filed.get(cell, ())}
        return {subscriber for box in near if box.holds(place) for subscriber in self._subscribers[box]}


class Filters(Generic[S]):
    """The filters of all subscribers; those without one have every event."""

    def __init__(self) -> None:
        self._filters: dict[S, Filter | None] = {}
        self._all: set[S] = set()
        self._authors: dict[int, set[S]] = {}
        self._phrases = PhraseIndex[S]()
        self._boxes = BoxIndex[S]()

    def add(self, subscriber: S, wanted: Filter | None) -> None:
        """Let a subscriber have what passes a filter, instead of what they had before."""
        self.remove(subscriber)
        self._filters[subscriber] = wanted
        if wanted is None:
            self._all.add(subscriber)
            return
        for member in wanted.follow:
            self._authors.setdefault(member, set()).add(subscriber)
        for phrase in wanted.track:
            self._phrases.add(phrase, subscriber)
        for box in wanted.boxes:
            self._boxes.add(box, subscriber)

    def remove(self, subscriber: S) -> None:
        """Let a subscriber have nothing any more."""
        wanted = self._filters.pop(subscriber, None)
        self._all.discard(subscriber)
        if wanted is None:
            return
        for member in wanted.follow:
            _discard(self._authors, member, subscriber)
        for phrase in wanted.track:
            self._phrases.remove(phrase, subscriber)
        for box in wanted.boxes:
            self._boxes.remove(box, subscriber)

    def match(self, facts: Facts) -> set[S]:
        """Return those who have an event, each once."""
        found = self._all | self._authors.get(facts.author, set())
        if self._phrases:
            found |= self._phrases.match(facts.words)
        if facts.place is not None:
            found |= self._boxes.match(facts.place)
        return found


def _cells(box: Box) -> Iterable[Cell]:
    for size in reversed(GRIDS):
        count, cells = box.cells(size)
        if count <= CELLS_MOST:
            return cells
    raise AssertionError(f"{box} touches too much of the coarsest grid")


def _discard(filed: dict[K, set[S]], key: K, value: S) -> bool:
    """Take a value from under a key; returns whether it was the last one there."""
    filed[key].discard(value)
    if filed[key]:
        return False
    del filed[key]
    return True
