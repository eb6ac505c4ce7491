"""Invariants of stored rankings."""

import math
from collections.abc import Mapping

from resolvers.rules import ranking
from resolvers.upkeep.invariants.findings import Finding
from resolvers.upkeep.invariants.lists import timeline_entries
from store import importance
from store.client.database import Database
from store.upkeep import timelines
from store.upkeep.timelines import StoredTimeline


async def ranked_entries(db: Database, timeline: StoredTimeline) -> list[Finding]:
    """Each ranking is bounded, holds only existing posts of its timeline, and has the scores that their counts give."""
    key = timeline.ranked
    found = await timeline_entries(db, key, db.settings.important_size)
    stored = await timelines.scores(db, timeline)
    if not stored:
        return found
    stray = await timelines.unlisted(db, timeline, list(stored))
    if stray:
        message = f"has {len(stray)} posts that {timeline.listed} has not"
        found.append(Finding(key, message, [timelines.remove_entries(key, stray)]))
    outdated = await _outdated(db, {post: score for post, score in stored.items() if post not in stray})
    if outdated:
        message = f"has {len(outdated)} posts with a score that is not theirs"
        found.append(Finding(key, message, timelines.rescore(timeline, outdated)))
    return found


async def _outdated(db: Database, stored: Mapping[int, float]) -> dict[int, float]:
    """Return the right scores of posts whose stored score is wrong, except posts that a worker will rescore."""
    records = await importance.posts(db, list(stored))
    due = await timelines.due(db, [post.id for post in records])
    scores = {post.id: ranking.score_of(post) for post in records if post.id not in due}
    return {post: score for post, score in scores.items() if not math.isclose(score, stored[post], rel_tol=1e-12)}
