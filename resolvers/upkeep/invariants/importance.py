"""Invariants of stored rankings."""

from __future__ import annotations

import math

from resolvers.rules import ranking
from resolvers.upkeep.invariants.findings import Finding
from resolvers.upkeep.invariants.lists import timeline_entries
from store import importance, keys
from store.client.database import Command, Database
from store.ids import partition
from store.records import read_pairs


async def ranked_entries(db: Database, key: str) -> list[Finding]:
    """Each ranking is bounded, holds only existing posts of its timeline, and has the scores that their counts give."""
    timeline = keys.public() if key == keys.important_public() else key.removeprefix("important:")
    found = await timeline_entries(db, key, db.settings.important_size)
    reply = await db.one("ZRANGE", key, 0, -1, "WITHSCORES")
    stored = {int(post): float(score) for post, score in read_pairs(reply).items()}
    if not stored:
        return found
    listed = await db.one("ZMSCORE", timeline, *stored)
    stray = [post for post, place in zip(stored, listed, strict=True) if place is None]
    if stray:
        found.append(Finding(key, f"has {len(stray)} posts that {timeline} has not", (("ZREM", key, *stray),)))
    outdated = await _outdated(db, {post: score for post, score in stored.items() if post not in stray})
    if outdated:
        mend: list[Command] = [("ZADD", key, "XX", score, post) for post, score in outdated.items()]
        found.append(Finding(key, f"has {len(outdated)} posts with a score that is not theirs", tuple(mend)))
    return found


async def _outdated(db: Database, stored: dict[int, float]) -> dict[int, float]:
    """Return the right scores of posts whose stored score is wrong, except posts that a worker will rescore."""
    records = await importance.posts(db, list(stored))
    due = await db.ask(*(("ZSCORE", keys.rescore(partition(post.id)), post.id) for post in records))
    settled = [post for post, at in zip(records, due, strict=True) if at is None]
    scores = {post.id: ranking.score_of(post) for post in settled}
    return {post: score for post, score in scores.items() if not math.isclose(score, stored[post], rel_tol=1e-12)}
