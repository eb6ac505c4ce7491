"""Counts of requests and attempts in this process, for as long as the server refuses to count them."""

from collections import OrderedDict

KEPT = 10_000  # keys; those counted longest ago are evicted first


class LocalCounts:
    """Counts by key. A key names its window of time, so no count has to be reset."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()

    def add(self, key: str, by: int = 1) -> int:
        """Add to a count and return it."""
        count = self._counts.pop(key, 0) + by
        self._counts[key] = count
        if len(self._counts) > KEPT:
            self._counts.popitem(last=False)
        return count
