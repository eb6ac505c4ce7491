"""Keeps posts' stored scores equal to their counts. A worker does this at most once a second per post."""

from __future__ import annotations

from resolvers.rules import ranking
from store import importance
from store.client.database import Database


async def run_once(db: Database) -> int:
    """Update the scores of posts whose counts have changed; returns how many were due.

    After a crash their lease runs out, and they are taken again. Counts are read after the lease is taken, so they
    are never older than the change that made the post due.
    """
    due = await importance.take_due(db)
    found = await importance.posts(db, [one.post for one in due])
    await importance.rank(db, [(post, ranking.score_of(post)) for post in found])
    await importance.finish(db, due)
    return len(due)
