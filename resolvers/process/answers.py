"""Whole answers, cached as the bytes that were sent, until a value that they were made of is dropped from the cache.

An answer is a function of the viewer, their role, the operation with its variables, the stored values that it was made
of, and the current span of time. The first ones are its key. For the values it has the marks of the cache, which are
emptied when the server reports a change. So an answer is as fresh as the cached values themselves, and is used under
the same condition: only after the round trip that brings all invalidations.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from sys import getsizeof

from msgspec import Struct

from store.client.caching.values import Mark
from store.client.metering import METER

_ENTRY = 1_000  # Bytes of an entry with its key, without its JSON and its marks.
_MARK = 8  # Bytes of a reference to a mark.


class Answer(Struct, frozen=True):
    """A cached answer. `standing` is what the session check had found about the viewer."""

    json: bytes
    marks: Sequence[Mark]
    standing: Hashable

    @property
    def is_current(self) -> bool:
        """Whether no value that the answer was made of has been dropped."""
        return all(self.marks)

    @property
    def weight(self) -> int:
        """The estimated memory, in bytes."""
        return _ENTRY + getsizeof(self.json) + _MARK * len(self.marks)


class Answers:
    """The cached answers of a process, bounded by their estimated memory. Those unused for longest go first."""

    def __init__(self, most: int) -> None:
        """Begin empty; hold at most `most` bytes, none with 0."""
        self._most = most
        self._cached: OrderedDict[Hashable, Answer] = OrderedDict()
        self.size = 0  # Estimated bytes of all answers.

    def __len__(self) -> int:
        return len(self._cached)

    def find(self, key: Hashable) -> Answer | None:
        """Return the answer of a key, None if there is none or one of its values was dropped."""
        found = self._cached.get(key)
        if found is None:
            return None
        if not found.is_current:
            self._drop(key)
            return None
        self._cached.move_to_end(key)
        return found

    def keep(self, key: Hashable, answer: Answer) -> None:
        """Cache an answer."""
        if answer.weight > self._most:
            return
        self._drop(key)
        self._cached[key] = answer
        self.size += answer.weight
        while self.size > self._most:
            self._drop(next(iter(self._cached)))

    def use(self, key: Hashable, standing: Hashable) -> bytes | None:
        """Return the JSON of a current answer for a viewer of the same standing, and count it."""
        found = self.find(key)
        if found is None or found.standing != standing:
            return None
        METER.answers += 1
        return found.json

    def _drop(self, key: Hashable) -> None:
        if dropped := self._cached.pop(key, None):
            self.size -= dropped.weight
