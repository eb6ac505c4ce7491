"""Invariants of posts' lists (comments, quotes, replies, reposts) and of public timelines."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Check, Finding
from store.client.database import Database
from store.upkeep import comments as stored_comments
from store.upkeep import lists, timelines
from store.upkeep.kinds import Kind


def hanging(kind: Kind) -> Check:
    """Return a check that the post of each list exists."""

    async def check(db: Database, posts: Sequence[int]) -> list[Finding]:
        gone = await lists.without_post(db, kind, posts)
        return [Finding(key, "its post is gone", [lists.drop(key)]) for key in gone]

    return check


def listed(kind: Kind) -> Check:
    """Return a check that each listed comment, quote or reply exists."""

    async def check(db: Database, posts: Sequence[int]) -> list[Finding]:
        return [
            Finding(entry.key, f"{entry.entity} is gone", lists.remove(entry))
            for entry in await lists.entries(db, kind, posts)
            if not entry.exists
        ]

    return check


async def reposts(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each listed plain repost exists."""
    return [
        Finding(entry.key, f"{entry.place} by {entry.entity} is gone", lists.remove(entry))
        for entry in await lists.entries(db, Kind.REPOSTS, posts)
        if not entry.exists
    ]


async def comments(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each comment is listed at its post."""
    found: list[Finding] = []
    for comment in await stored_comments.places(db, ids):
        if not comment.is_listed:
            mend = stored_comments.relist(comment) if comment.post_exists else [stored_comments.drop(comment)]
            found.append(Finding(comment.key, f"is not listed at {comment.post}", mend))
    return found


async def timeline_entries(db: Database, key: str, size: int) -> list[Finding]:
    """Each public timeline is bounded, and holds only posts that exist, belong there, and that everybody may see."""
    posts = await timelines.entries(db, key)
    gone = [post.id for post in posts if not post.exists]
    kept = [post.id for post in posts if post.exists and not post.is_seen_by_all]
    strange = [post.id for post in posts if post.exists and not post.is_here]
    found: list[Finding] = []
    if len(posts) > size:
        message = f"has {len(posts)} entries, at most {size}"
        found.append(Finding(key, message, [timelines.trim_entries(key, size)]))
    for these, what in (
        (gone, "that are gone"),
        (kept, "that not all may see"),
        (strange, "that do not belong there"),
    ):
        if these:
            found.append(Finding(key, f"has {len(these)} posts {what}", [timelines.remove_entries(key, these)]))
    return found
