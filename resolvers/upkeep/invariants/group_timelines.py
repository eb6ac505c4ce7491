"""Invariants of posts in groups: the group exists, and its log is bounded."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store import kinds
from store.client.database import Database
from store.posts import delete_command
from store.upkeep import group_timelines as stored


async def posts(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each post's group exists. Without it, the repair deletes the post."""
    return [
        Finding(
            kinds.STATUS.key(post.id),
            f"its group {post.group} does not exist",
            [delete_command(db, post.id, post.author)],
        )
        for post in await stored.posts_of_nowhere(db, ids)
    ]


async def logs(db: Database, groups: Sequence[int]) -> list[Finding]:
    """Each log of changes is within its bound. The next change trims it."""
    most = db.settings.group_changes_kept
    return [
        Finding(key, f"has {size} changes, at most {most}")
        for key, size in await stored.log_sizes(db, groups)
        if size > most
    ]
