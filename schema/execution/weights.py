"""Upper estimates of the memory that documents take. Tests compare them with the memory that is allocated."""

from collections.abc import Iterable
from sys import getsizeof

from graphql import DocumentNode, GraphQLError

_DOCUMENT = 5_800  # bytes of a document without tokens, with its cache entry and its errors
_TOKEN = 600  # bytes of a token with its nodes and costs


class Total:
    """The memory of all cached documents, in bytes."""

    __slots__ = ("size",)

    def __init__(self) -> None:
        self.size = 0


class Weight:
    """The memory of one document, in bytes. It grows while the document is used, since plans are made later."""

    __slots__ = ("_total", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._total: Total | None = None

    def grow(self, size: int) -> None:
        """Add bytes, or take some off."""
        self.size += size
        if self._total:
            self._total.size += size

    def count_in(self, total: Total) -> None:
        """Count towards a total from now on."""
        self._total = total
        total.size += self.size

    def count_out(self) -> None:
        """Stop counting towards a total."""
        if self._total:
            self._total.size -= self.size
            self._total = None


def weigh(text: str, node: DocumentNode | None, errors: Iterable[GraphQLError] = ()) -> Weight:
    """Return the weight of a document that has not been used yet."""
    tokens = 0
    token = node.loc.start_token if node and node.loc else None
    while token:
        tokens += 1
        token = token.next
    messages = sum(getsizeof(error.message) for error in errors)
    return Weight(_DOCUMENT + 2 * getsizeof(text) + _TOKEN * tokens + 2 * messages)
