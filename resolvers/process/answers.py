"""Whole answers, cached as the bytes that were sent, until a value that they were made of is dropped from the cache.

An answer is a function of the viewer, their role, the operation with its variables, the stored values that it was made
of, and the current span of time. The first ones are its key. For the values it has the marks of the cache, which are
emptied when the server reports a change. So an answer is as fresh as the cached values themselves, and is used under
the same condition: only after the round trip that brings all invalidations.

Most members who visit a profile get the same answer. It depends on the viewer through facts alone: their relationships
to the members on the page, and whether they like its posts. So it is kept with these facts, for all members with whom
they agree.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from sys import getsizeof
from typing import Any, TypeAlias

from msgspec import Struct

from store.client.caching.values import Mark
from store.client.metering import METER

_ENTRY = 1_000  # Bytes of an entry with its key, without its JSON and its marks.
_MARK = 8  # Bytes of a reference to a mark.
_FACT = 150  # Bytes of a fact.
VARIANTS = 4  # Answers of one key, which differ in their facts. The newest stay.

Facts: TypeAlias = Mapping[str, Mapping[int, Any]]  # by the name of the data loader, and by id

NO_FACTS: Facts = {}


class Answer(Struct, frozen=True):
    """A cached answer. `standing` is what the session check had found about the viewer.

    `facts` are what must be the same for another viewer. Without any, the answer is its viewer's alone.
    """

    json: bytes
    marks: Sequence[Mark]
    standing: Hashable
    facts: Facts = NO_FACTS

    @property
    def is_current(self) -> bool:
        """Whether no value that the answer was made of has been dropped."""
        return all(self.marks)

    @property
    def weight(self) -> int:
        """The estimated memory, in bytes."""
        bare = _ENTRY + getsizeof(self.json) + _MARK * len(self.marks)
        return bare + _FACT * sum(map(len, self.facts.values())) if self.facts else bare


class Answers:
    """The cached answers of a process, bounded by their estimated memory. Those unused for longest go first."""

    def __init__(self, most: int) -> None:
        """Begin empty; hold at most `most` bytes, none with 0."""
        self._most = most
        self._cached: OrderedDict[Hashable, Sequence[Answer]] = OrderedDict()
        self.size = 0  # Estimated bytes of all answers.

    def __len__(self) -> int:
        return sum(map(len, self._cached.values()))

    def find(self, key: Hashable) -> Sequence[Answer]:
        """Return the answers of a key, newest first, without those of which a value was dropped."""
        found = self._cached.get(key)
        if found is None:
            return ()
        for answer in found:
            if not all(answer.marks):  # as `is_current`, without its call
                self._drop(key)
                return self._add(key, [answer for answer in found if answer.is_current]) if len(found) > 1 else ()
        self._cached.move_to_end(key)
        return found

    def keep(self, key: Hashable, answer: Answer) -> None:
        """Cache an answer. Without facts, it replaces that of its key."""
        if answer.weight > self._most:
            return
        others = self.find(key)[: VARIANTS - 1] if answer.facts else ()
        self._drop(key)
        self._add(key, (answer, *others))
        while self.size > self._most:
            self._drop(next(iter(self._cached)))

    def use(self, key: Hashable, standing: Hashable, agrees: Callable[[Facts], bool]) -> bytes | None:
        """Return the JSON of a current answer with a viewer's standing and facts, and count it."""
        for answer in self.find(key):
            if answer.standing == standing and (not answer.facts or agrees(answer.facts)):
                METER.answers += 1
                return answer.json
        return None

    def _add(self, key: Hashable, answers: Sequence[Answer]) -> Sequence[Answer]:
        if answers:
            self._cached[key] = answers
            self.size += sum([answer.weight for answer in answers])
        return answers

    def _drop(self, key: Hashable) -> None:
        for dropped in self._cached.pop(key, ()):
            self.size -= dropped.weight
