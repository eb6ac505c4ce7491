"""Keeps the stored scores of posts equal to their numbers: by a worker, at most once a second per post."""

from __future__ import annotations

from resolvers.rules import ranking
from store import importance
from store.client.database import Database


async def run_once(db: Database) -> int:
    """Rank posts anew whose numbers have changed; returns how many were due.

    A crash on the way leaves them leased: they are taken again. Read after they are leased, their numbers are never
    older than the change that made them due.
    """
    due = await importance.take_due(db)
    found = await importance.posts(db, [one.post for one in due])
    await importance.rank(db, [(post, ranking.score_of(post)) for post in found])
    await importance.finish(db, due)
    return len(due)
