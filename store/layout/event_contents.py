"""Events as layout 3 had them: with the texts and places of posts, which then stayed after the posts."""

from typing import Any

from store import keys
from store.client.database import Database
from store.records.lists import read_pairs

CONTENT = {"text", "latitude", "longitude"}  # fields of an event
FORMER_KIND = "bond"  # of events about relationships, in the oldest stores
READ_COUNT = 500  # events read at a time


async def trim(db: Database) -> int:
    """Remove the newest event that has a text, a place or a former kind, and all before it; returns their number.

    A stream's entry cannot be changed. A client that resumes from a removed event is told of a gap.
    """
    newest, last = "", "-"
    while batch := await _read(db, last):
        last = f"({batch[-1][0]}"
        newest = next((cursor for cursor, pairs in reversed(batch) if _is_old(read_pairs(pairs))), newest)
    if not newest:
        return 0
    milliseconds, number = newest.split("-")
    return int(await db.one("XTRIM", keys.events(), "MINID", f"{milliseconds}-{int(number) + 1}"))


def _is_old(event: dict[str, str]) -> bool:
    return bool(CONTENT & event.keys()) or event["kind"] == FORMER_KIND


async def _read(db: Database, since: str) -> list[tuple[str, list[Any]]]:
    found: list[tuple[str, list[Any]]] = await db.one("XRANGE", keys.events(), since, "+", "COUNT", READ_COUNT)
    return found
