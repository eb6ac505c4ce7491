"""Layout 6: messages of a muted member do not make a conversation unread. Before, they did."""

from store import kinds
from store.client.database import Database
from store.upkeep import conversations
from store.upkeep.scanning import scan


async def migrate(db: Database) -> int:
    """Apply the conversations of members who mute participants to these members' entries; returns their number."""
    return sum([await conversations.reapply_muting(db, batch.of(kinds.CONVERSATION)) async for batch in scan(db)])
