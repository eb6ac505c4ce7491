"""Invariants of public posts: the timelines that everybody reads list each of them."""

from collections import defaultdict
from collections.abc import Sequence

from resolvers.rules import ranking
from resolvers.upkeep.invariants.findings import Finding
from store import kinds
from store.client.database import Database
from store.records.posts import Post, is_plain_repost
from store.upkeep import timelines
from store.upkeep.timelines import Coverage, StoredTimeline


async def unlisted(db: Database, posts: Sequence[Post]) -> list[Finding]:
    """Each public post is in the public timeline and in those of its hashtags, and ranked there.

    A full list has dropped the oldest posts, and a full ranking the worst. If posts are deleted then, it has room, and
    those that were dropped stay away. So what is below everything in a list may be missing, unless half of the list is.
    """
    shown = [post for post in posts if not (post.is_hidden or post.group or is_plain_repost(post))]
    apart = await timelines.apart(db, {post.author for post in shown})
    wanted: dict[StoredTimeline, list[Post]] = defaultdict(list)
    for post in shown:
        if post.author not in apart:
            for timeline in timelines.timelines_of(post.hashtags):
                wanted[timeline].append(post)
    ids = {key: [post.id for post in some] for of, some in wanted.items() for key in (of.listed, of.ranked)}
    lists = await timelines.coverage(db, ids)
    missing = [
        (timeline, post, key)
        for timeline, some in wanted.items()
        for post in some
        if (key := _lacking(db, timeline, post, lists[timeline.listed], lists[timeline.ranked]))
    ]
    due = await timelines.due(db, [post.id for _, post, _ in missing])
    return [
        Finding(
            kinds.STATUS.key(post.id),
            f"is missing in {key}",
            [timelines.add(db, timeline, post.id, ranking.score_of(post))],
        )
        for timeline, post, key in missing
        if key == timeline.listed or post.id not in due
    ]


def _lacking(db: Database, timeline: StoredTimeline, post: Post, listed: Coverage, ranked: Coverage) -> str:
    """Return which list of a timeline lacks a post, "" if none does. The end of a full ranking changes too often."""
    if post.id not in listed.has:
        size = timeline.size(db.settings)
        return timeline.listed if size and (post.id > listed.lowest or listed.size * 2 < size) else ""
    size = db.settings.important_size
    is_full = ranked.size * 2 >= size and listed.size > size
    is_missing = post.id not in ranked.has and (not is_full or ranking.score_of(post) > ranked.middle)
    return timeline.ranked if is_missing else ""
