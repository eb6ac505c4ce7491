"""Timelines of groups: the posts that they list, and the logs of their changes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.keys.fields import StatusField
from store.upkeep.kinds import Kind, existing


class GroupPost(Struct, frozen=True):
    """A post with a group, and whether the group exists and lists it."""

    id: int
    author: int
    group: int
    has_group: bool
    is_listed: bool

    @property
    def key(self) -> str:
        """Return the key of the post."""
        return Kind.STATUS.key(self.id)


async def posts(db: Database, ids: Sequence[int]) -> list[GroupPost]:
    """Return those of some posts that are in a group. Three round trips."""
    fields = (StatusField.AUTHOR, StatusField.GROUP)
    replies = await db.ask(*(("HMGET", keys.status(post), *fields) for post in ids))
    found = [(post, int(a), int(g)) for post, (a, g) in zip(ids, replies, strict=True) if a and g]
    groups = await existing(db, Kind.GROUP, {group for *_, group in found})
    places = await db.ask(*(("ZSCORE", keys.group_timeline(group), post) for post, _, group in found))
    return [
        GroupPost(post, author, group, group in groups, place is not None)
        for (post, author, group), place in zip(found, places, strict=True)
    ]


def add(post: GroupPost) -> Command:
    """Return the command that lists a post in its group."""
    return ("ZADD", keys.group_timeline(post.group), post.id, post.id)


async def strangers(db: Database, groups: Sequence[int]) -> list[tuple[str, int]]:
    """Return the posts in groups' timelines that are gone or not in that group, each with the timeline's key."""
    replies = await db.ask(*(("ZRANGE", keys.group_timeline(group), 0, -1) for group in groups))
    pairs = [(group, int(post)) for group, reply in zip(groups, replies, strict=True) for post in reply]
    own = await db.ask(*(("HGET", keys.status(post), StatusField.GROUP) for _, post in pairs))
    return [
        (keys.group_timeline(group), post) for (group, post), of in zip(pairs, own, strict=True) if of != str(group)
    ]


async def log_sizes(db: Database, groups: Sequence[int]) -> list[tuple[str, int]]:
    """Return the key of each group's log of changes, and its number of changes. One round trip."""
    logs = [keys.group_changes(group) for group in groups]
    replies = iter(await db.ask(*(c for log in logs for c in (("ZCARD", log), ("ZSCORE", log, "floor")))))
    return [(log, size - (floor is not None)) for log, size, floor in zip(logs, replies, replies, strict=True)]
