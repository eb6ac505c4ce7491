"""Layout 2: a repost lifts a post in homes, and homes have candidates. In layout 1, the first repost decided."""

from resolvers.homes import build
from resolvers.upkeep.invariants.homes import homes_equal
from store.client.database import Database
from store.upkeep import homes


async def migrate(db: Database, p: int) -> int:
    """Build each home of a partition again that differs from what it should be; returns their number."""
    rewritten = 0
    for member in await homes.owners(db, p):
        if await homes_equal(db, [member]):
            await build.rebuild(db, member)
            rewritten += 1
    return rewritten
