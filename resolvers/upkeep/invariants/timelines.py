"""Invariants of public timelines and their rankings, which compare the stored scores with the computed ones."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from resolvers.rules import ranking
from store import importance, kinds
from store.client.database import Database
from store.records.posts import Post, is_plain_repost
from store.upkeep import posts as stored_posts
from store.upkeep import timelines as stored
from store.upkeep.findings import Finding
from store.upkeep.timelines import Coverage, StoredTimeline


async def rankings(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each ranking is bounded, holds only existing posts of its timeline, and has the scores that their counts give."""
    return [finding for key in found for finding in await _ranked(db, key, StoredTimeline.of(key))]


async def _ranked(db: Database, key: str, timeline: StoredTimeline) -> list[Finding]:
    found = await stored.entries(db, key, db.settings.important_size)
    scores = await stored.scores(db, timeline)
    stray = await stored.unlisted(db, timeline, list(scores)) if scores else []
    if stray:
        message = f"has {len(stray)} posts that {timeline.listed} has not"
        found.append(Finding(key, message, [stored.unrank(timeline, stray)]))
    outdated = await _outdated(db, {post: score for post, score in scores.items() if post not in stray})
    if outdated:
        message = f"has {len(outdated)} posts with a score that is not theirs"
        found.append(Finding(key, message, stored.rescore(timeline, outdated)))
    return found


async def _outdated(db: Database, scores: Mapping[int, float]) -> dict[int, float]:
    """Return the right scores of posts whose stored score is wrong, except posts that a worker will rescore."""
    records = await importance.posts(db, list(scores))
    due = await stored.due(db, [post.id for post in records])
    right = {post.id: ranking.score_of(post) for post in records if post.id not in due}
    return {post: score for post, score in right.items() if not math.isclose(score, scores[post], rel_tol=1e-12)}


async def unlisted(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each public post is in the public timeline and in those of its hashtags, and ranked there.

    A full list has dropped the oldest posts, and a full ranking the worst. If posts are deleted then, it has room, and
    those that were dropped stay away. So what is below everything in a list may be missing, unless half of the list is.
    """
    wanted = await _public(db, await stored_posts.posts(db, ids))
    asked = {key: [post.id for post in some] for of, some in wanted.items() for key in (of.listed, of.ranked)}
    lists = await stored.coverage(db, asked)
    missing = [
        (timeline, post, key)
        for timeline, some in wanted.items()
        for post in some
        if (key := _lacking(db, timeline, post, lists[timeline.listed], lists[timeline.ranked]))
    ]
    due = await stored.due(db, [post.id for _, post, _ in missing])
    return [
        Finding(
            kinds.STATUS.key(post.id),
            f"is missing in {key}",
            [stored.add(db, timeline, post.id, ranking.score_of(post))],
        )
        for timeline, post, key in missing
        if key == timeline.listed or post.id not in due
    ]


async def _public(db: Database, posts: Sequence[Post]) -> dict[StoredTimeline, list[Post]]:
    """Return the public ones among some posts, by the timelines that they belong into. One round trip."""
    shown = [post for post in posts if not (post.is_hidden or post.group or is_plain_repost(post))]
    apart = await stored.apart(db, {post.author for post in shown})
    public: dict[StoredTimeline, list[Post]] = defaultdict(list)
    for post in shown:
        if post.author not in apart:
            for timeline in stored.timelines_of(post.hashtags):
                public[timeline].append(post)
    return public


def _lacking(db: Database, timeline: StoredTimeline, post: Post, listed: Coverage, ranked: Coverage) -> str:
    """Return which list of a timeline lacks a post, "" if none does. The end of a full ranking changes too often."""
    if post.id not in listed.has:
        size = timeline.size(db.settings)
        return timeline.listed if size and (post.id > listed.lowest or listed.size * 2 < size) else ""
    size = db.settings.important_size
    is_full = ranked.size * 2 >= size and listed.size > size
    is_missing = post.id not in ranked.has and (not is_full or ranking.score_of(post) > ranked.middle)
    return timeline.ranked if is_missing else ""
