"""Layout 3: a `#` is before each hashtag of a post, since hashtags may contain spaces. Before, spaces were between."""

from store import kinds
from store.client.database import Database
from store.layout import hashtags
from store.upkeep.scanning import scan


async def migrate(db: Database) -> int:
    """Rewrite the hashtags of all posts that have them in the old form; returns the number of these posts."""
    return sum([await hashtags.rewrite(db, batch.of(kinds.STATUS)) async for batch in scan(db)])
