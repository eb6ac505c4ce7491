"""Invariants of posts in groups: the group exists and lists each of them, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.posts import delete_command
from store.upkeep import group_timelines as stored
from store.upkeep import lists


async def posts(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each post's group exists and lists it. Without the group, the repair deletes the post."""
    found: list[Finding] = []
    for post in await stored.posts(db, ids):
        if not post.has_group:
            gone = [delete_command(db, post.id, post.author)]
            found.append(Finding(post.key, f"its group {post.group} does not exist", gone))
        elif not post.is_listed:
            found.append(Finding(post.key, f"is not in the timeline of {post.group}", [stored.add(post)]))
    return found


async def timelines(db: Database, groups: Sequence[int]) -> list[Finding]:
    """Each post in a group's timeline exists and is in that group."""
    return [
        Finding(key, f"{post} is gone, or not in this group", [lists.remove_post(key, post)])
        for key, post in await stored.strangers(db, groups)
    ]


async def logs(db: Database, groups: Sequence[int]) -> list[Finding]:
    """Each log of changes is within its bound. The next change trims it."""
    most = db.settings.group_changes_kept
    return [
        Finding(key, f"has {size} changes, at most {most}")
        for key, size in await stored.log_sizes(db, groups)
        if size > most
    ]
