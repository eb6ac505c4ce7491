"""Timelines of groups: posts whose group is gone, and the logs of changes."""

from collections.abc import Sequence

from msgspec import Struct

from store import keys, kinds
from store.client.database import Database
from store.keys.fields import StatusField
from store.upkeep.lists import existing


class GroupPost(Struct, frozen=True):
    """A post whose group does not exist."""

    id: int
    author: int
    group: int


async def posts_of_nowhere(db: Database, ids: Sequence[int]) -> list[GroupPost]:
    """Return those of some posts whose group does not exist. Two round trips."""
    fields = (StatusField.AUTHOR, StatusField.GROUP)
    replies = await db.ask(*(("HMGET", keys.status(post), *fields) for post in ids))
    found = [GroupPost(post, int(a), int(g)) for post, (a, g) in zip(ids, replies, strict=True) if a and g]
    groups = await existing(db, kinds.GROUP, {post.group for post in found})
    return [post for post in found if post.group not in groups]


async def log_sizes(db: Database, groups: Sequence[int]) -> list[tuple[str, int]]:
    """Return the key of each group's log of changes, and its number of changes. One round trip."""
    logs = [keys.group_changes(group) for group in groups]
    replies = iter(await db.ask(*(c for log in logs for c in (("ZCARD", log), ("ZSCORE", log, "floor")))))
    return [(log, size - (floor is not None)) for log, size, floor in zip(logs, replies, replies, strict=True)]
