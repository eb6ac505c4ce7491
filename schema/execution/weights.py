"""Upper estimates of the memory that documents take. Tests compare them with the memory that is allocated."""

from collections.abc import Iterable
from enum import Enum
from sys import getsizeof
from types import NoneType
from typing import TypeVar

from graphql import DocumentNode, GraphQLError

K = TypeVar("K")
V = TypeVar("V")

CHARACTERS_KEPT = 200  # Longest cached string. Cursors are shorter, and a text that a member writes is not sent again.
IMMUTABLE = (str, int, float, bool, NoneType, Enum)  # Classes of values that a cache may hold: nobody changes them.

_DOCUMENT = 5_800  # bytes of a document without tokens, with its cache entry and its errors
_TOKEN = 600  # bytes of a token with its nodes and costs


class Weight:
    """The memory of one thing, in bytes, which counts towards the weight of the whole that it is a part of."""

    __slots__ = ("_whole", "size")

    def __init__(self, size: int = 0, whole: "Weight | None" = None) -> None:
        self.size = size
        self._whole = whole

    def grow(self, size: int) -> None:
        """Add bytes, or take some off."""
        self.size += size
        if self._whole:
            self._whole.grow(size)

    def count_in(self, whole: "Weight") -> None:
        """Count towards a whole from now on."""
        self._whole = whole
        whole.grow(self.size)

    def count_out(self) -> None:
        """Stop counting towards the whole."""
        if self._whole:
            self._whole.grow(-self.size)
            self._whole = None


class WeighedCache(dict[K, V]):
    """A cache of few entries, which is emptied when it is full."""

    __slots__ = ("_most", "weight")

    def __init__(self, most: int, whole: Weight) -> None:
        super().__init__()
        self._most = most
        self.weight = Weight(0, whole)  # Entries may refer to it and grow. They don't refer to the cache, a cycle.

    def make_room(self, size: int) -> None:
        """Count the bytes of an entry that is added next. Empty the cache before that, if it is full."""
        if len(self) == self._most:
            self.clear()
            self.weight.grow(-self.weight.size)
        self.weight.grow(size)


def weigh(text: str, node: DocumentNode | None, errors: Iterable[GraphQLError] = ()) -> Weight:
    """Return the weight of a document that has not been used yet."""
    tokens = 0
    token = node.loc.start_token if node and node.loc else None
    while token:
        tokens += 1
        token = token.next
    messages = sum(getsizeof(error.message) for error in errors)
    return Weight(_DOCUMENT + 2 * getsizeof(text) + _TOKEN * tokens + 2 * messages)
