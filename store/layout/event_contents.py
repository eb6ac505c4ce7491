"""Events as layout 3 had them: with the texts and places of posts, which then stayed after the posts."""

from __future__ import annotations

from typing import Any

from store import keys
from store.client.database import Database
from store.records import read_pairs

CONTENT = {"text", "latitude", "longitude"}  # fields of an event
READ_COUNT = 500  # events read at a time


async def trim(db: Database) -> int:
    """Remove the newest event that has a text or a place, and all before it; returns the number of removed events.

    A stream's entry cannot be changed. A client that resumes from a removed event is told of a gap.
    """
    newest, last = "", "-"
    while batch := await _read(db, last):
        last = f"({batch[-1][0]}"
        newest = next((cursor for cursor, pairs in reversed(batch) if CONTENT & read_pairs(pairs).keys()), newest)
    if not newest:
        return 0
    milliseconds, number = newest.split("-")
    return int(await db.one("XTRIM", keys.events(), "MINID", f"{milliseconds}-{int(number) + 1}"))


async def _read(db: Database, since: str) -> list[tuple[str, list[Any]]]:
    found: list[tuple[str, list[Any]]] = await db.one("XRANGE", keys.events(), since, "+", "COUNT", READ_COUNT)
    return found
