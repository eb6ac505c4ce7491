"""Keys of the whole store, on whichever node each of them is."""

from __future__ import annotations

from store import keys
from store.client.database import Database


async def find(db: Database, pattern: str = "*") -> list[str]:
    """Return all keys that match a pattern, without the markers of slots: processes make them at any time."""
    found = [str(key) for (some,) in await db.each_node(("KEYS", pattern)) for key in some]
    return [key for key in found if not key.startswith(keys.slot("").partition(":")[0] + ":")]


async def delete(db: Database, *names: str) -> None:
    """Delete keys of any slots."""
    await db.ask(*(("DEL", name) for name in names))


async def exist(db: Database, *names: str) -> int:
    """Return how many keys of any slots exist."""
    return sum(await db.ask(*(("EXISTS", name) for name in names)))


async def empty(db: Database) -> None:
    """Delete all keys."""
    await db.each_node(("FLUSHDB",))
