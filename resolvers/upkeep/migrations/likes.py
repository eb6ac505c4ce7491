"""Layout 5: all likes of a post on a day have one notification. Before, each like had one of its own."""

from __future__ import annotations

from store.client.database import Database
from store.layout import likes
from store.upkeep.kinds import Kind
from store.upkeep.scanning import scan


async def migrate(db: Database) -> int:
    """Group the notifications of likes of all members; returns how many were replaced."""
    return sum([await likes.group(db, batch.of(Kind.NOTIFICATIONS)) async for batch in scan(db)])
