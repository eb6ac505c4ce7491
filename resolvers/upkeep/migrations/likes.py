"""Layout 5: all likes of a post on a day have one notification. Before, each like had one of its own."""

from store import kinds
from store.client.database import Database
from store.layout import likes
from store.upkeep.scanning import scan


async def migrate(db: Database) -> int:
    """Group the notifications of likes of all members; returns how many were replaced."""
    return sum([await likes.group(db, batch.of(kinds.NOTIFICATIONS)) async for batch in scan(db)])
