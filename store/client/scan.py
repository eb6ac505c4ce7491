"""A walk over all keys of the store, beside whatever changes them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator

from store.client.database import Database

SCANNED = 2_000  # keys looked for per step
_KEY = re.compile(r"([a-z-]+):\{\d+\}:(\d+)")


async def scan(db: Database) -> AsyncIterator[list[str]]:
    """Yield all keys that are there from beginning to end, some of them more than once, in batches."""
    cursor = "0"
    while True:
        cursor, found = await db.one("SCAN", cursor, "COUNT", SCANNED)
        yield found
        if cursor == "0":
            return


def named(found: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield kind and thing of the keys that are named by a thing alone."""
    for key in found:
        match = _KEY.fullmatch(key)
        if match:
            yield match[1], int(match[2])
