"""Iterates over all keys of the store, while other commands may change them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator

from store.client.database import Database

SCANNED = 2_000  # COUNT: keys scanned per step
_KEY = re.compile(r"([a-z-]+):\{\d+\}:(\d+)")


async def scan(db: Database) -> AsyncIterator[list[str]]:
    """Yield batches of all keys that exist during the whole scan. Some keys may be repeated."""
    cursor = "0"
    while True:
        cursor, found = await db.one("SCAN", cursor, "COUNT", SCANNED)
        yield found
        if cursor == "0":
            return


def named(found: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the kind and id of each key that has an id and nothing else in its name."""
    for key in found:
        match = _KEY.fullmatch(key)
        if match:
            yield match[1], int(match[2])
