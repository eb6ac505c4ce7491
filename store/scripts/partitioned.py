"""Script arguments for many owners at once: one call for each partition, of a length that holds up nobody else."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from store.ids import partition

WORDS = 1_000  # arguments of one call: a script of so many takes the store about a millisecond


def by_partition(items: Iterable[tuple[int, Sequence[Any]]]) -> Iterator[tuple[int, list[Any]]]:
    """Yield a partition, and for owners in it: the owner, the number of words, and the words themselves.

    The items are owners and their words. An owner with very many words must be in several items.
    """
    calls: dict[int, list[Any]] = {}
    for owner, words in items:
        p = partition(owner)
        call = calls.setdefault(p, [])
        call.append(owner)
        call.append(len(words))
        call += words
        if len(call) >= WORDS:
            yield p, calls.pop(p)
    yield from calls.items()
