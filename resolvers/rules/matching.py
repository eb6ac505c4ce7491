"""Matching of events to subscribers by indexes of their filters: filters that don't match cost almost nothing."""

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from resolvers.rules.filters import Facts, Filter
from resolvers.rules.places import Box, Cell, cells_at
from resolvers.rules.words import Phrase, TextTerms
from store.records.posts import Location

S = TypeVar("S", bound=Hashable)  # A subscriber.
K = TypeVar("K", bound=Hashable)

# No box touches more than three rows and six columns of the coarsest grid. The finest grid has cells of 7 km.
GRIDS = (90.0, 16.0, 4.0, 1.0, 1 / 4, 1 / 16)  # Cell sizes in degrees.
CELLS_MOST = 25  # Cells per box. A box of up to four by four cells touches no more, wherever it begins.


class PhraseIndex(Generic[S]):
    """Inverted index of phrases. Each is indexed by one of its terms, and checked only if a text has that term."""

    def __init__(self) -> None:
        self._subscribers: dict[Phrase, set[S]] = {}
        self._term: dict[Phrase, str] = {}
        self._filed: dict[str, set[Phrase]] = {}

    def __bool__(self) -> bool:
        return bool(self._subscribers)

    def add(self, phrase: Phrase, subscriber: S) -> None:
        """Add a subscriber for the texts that contain a phrase."""
        if phrase not in self._subscribers:
            # The frequency of a term in texts is not known, but its frequency in phrases is. Choosing the term with
            # the fewest phrases bounds the cost of one text.
            term = min(phrase.terms, key=lambda one: (len(self._filed.get(one, ())), -len(one), one))
            self._term[phrase] = term
            self._filed.setdefault(term, set()).add(phrase)
        self._subscribers.setdefault(phrase, set()).add(subscriber)

    def remove(self, phrase: Phrase, subscriber: S) -> None:
        """Remove a subscriber of a phrase."""
        if _discard(self._subscribers, phrase, subscriber):
            _discard(self._filed, self._term.pop(phrase), phrase)

    def match(self, words: TextTerms) -> set[S]:
        """Return the subscribers with a phrase that a text contains."""
        subscribers: set[S] = set()
        for term in words.terms:
            for phrase in self._filed.get(term, ()):
                if phrase.is_in(words):
                    subscribers |= self._subscribers[phrase]
        return subscribers


class BoxIndex(Generic[S]):
    """Grid index of boxes. Each is indexed by the cells that it touches in one grid.

    That grid is the finest in which these are at most `CELLS_MOST`.
    """

    def __init__(self) -> None:
        self._subscribers: dict[Box, set[S]] = {}
        self._filed: dict[Cell, set[Box]] = {}

    def add(self, box: Box, subscriber: S) -> None:
        """Add a subscriber for the places in a box."""
        if box not in self._subscribers:
            for cell in _cells(box):
                self._filed.setdefault(cell, set()).add(box)
        self._subscribers.setdefault(box, set()).add(subscriber)

    def remove(self, box: Box, subscriber: S) -> None:
        """Remove a subscriber of a box."""
        if _discard(self._subscribers, box, subscriber):
            for cell in set(_cells(box)):
                _discard(self._filed, cell, box)

    def match(self, place: Location) -> set[S]:
        """Return the subscribers with a box that holds a place."""
        near = {box for size in GRIDS for cell in cells_at(place, size) for box in self._filed.get(cell, ())}
        return {subscriber for box in near if box.holds(place) for subscriber in self._subscribers[box]}


class Filters(Generic[S]):
    """The filters of all subscribers. A subscriber without a filter matches every event."""

    def __init__(self) -> None:
        self._filters: dict[S, Filter | None] = {}
        self._all: set[S] = set()
        self._authors: dict[int, set[S]] = {}
        self._reads_content: set[S] = set()
        self._phrases = PhraseIndex[S]()
        self._boxes = BoxIndex[S]()

    @property
    def reads_content(self) -> bool:
        """Whether any filter depends on the text or the place of a post."""
        return bool(self._reads_content)

    def add(self, subscriber: S, wanted: Filter | None) -> None:
        """Set a subscriber's filter, in place of an earlier one; None matches every event."""
        self.remove(subscriber)
        self._filters[subscriber] = wanted
        if wanted is None:
            self._all.add(subscriber)
            return
        if wanted.reads_content:
            self._reads_content.add(subscriber)
        for member in wanted.follow:
            self._authors.setdefault(member, set()).add(subscriber)
        for phrase in wanted.track:
            self._phrases.add(phrase, subscriber)
        for box in wanted.boxes:
            self._boxes.add(box, subscriber)

    def remove(self, subscriber: S) -> None:
        """Remove a subscriber; does nothing for an unknown one."""
        wanted = self._filters.pop(subscriber, None)
        self._all.discard(subscriber)
        self._reads_content.discard(subscriber)
        if wanted is None:
            return
        for member in wanted.follow:
            _discard(self._authors, member, subscriber)
        for phrase in wanted.track:
            self._phrases.remove(phrase, subscriber)
        for box in wanted.boxes:
            self._boxes.remove(box, subscriber)

    def match(self, facts: Facts) -> set[S]:
        """Return the subscribers whose filter passes an event, each once."""
        subscribers = self._all | self._authors.get(facts.author, set())
        if facts.is_unknown:
            return subscribers | self._reads_content
        if self._phrases:
            subscribers |= self._phrases.match(facts.words)
        if facts.place is not None:
            subscribers |= self._boxes.match(facts.place)
        return subscribers


def _cells(box: Box) -> Iterable[Cell]:
    for size in reversed(GRIDS):
        count, cells = box.cells(size)
        if count <= CELLS_MOST:
            return cells
    raise AssertionError(f"{box} touches too much of the coarsest grid")


def _discard(filed: dict[K, set[S]], key: K, value: S) -> bool:
    """Remove a value from the set of a key; returns whether it was the last one."""
    filed[key].discard(value)
    if filed[key]:
        return False
    del filed[key]
    return True
