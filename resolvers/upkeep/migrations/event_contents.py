"""Layout 4: the event log only names posts. Before, it kept their texts and places, also when they were deleted."""

from store.client.database import Database
from store.layout import event_contents


async def migrate(db: Database) -> int:
    """Remove the events with texts and places, and those before them; returns their number."""
    return await event_contents.trim(db)
