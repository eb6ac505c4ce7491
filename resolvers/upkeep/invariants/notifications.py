"""Invariants of notifications and mentions: bounds, and that their subjects exist."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.notifications import trim
from store.upkeep import notifications as stored
from store.upkeep.kinds import Kind, existing


async def notifications(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each notification's actor, post, comment and group exist."""
    found = [(listed.key, listed.notification) for listed in await stored.notifications(db, members)]
    groups = await existing(db, Kind.GROUP, {notification.group for _, notification in found} - {0}) | {0}
    users, posts, comments = await _existing(
        db,
        users={notification.actor for _, notification in found},
        posts={notification.post for _, notification in found},
        comments={notification.comment for _, notification in found},
    )
    return [
        Finding(
            key,
            f"{notification.kind.value} by {notification.actor} is about what is gone",
            [stored.remove(key, notification.id)],
        )
        for key, notification in found
        if notification.actor not in users
        or notification.post not in posts
        or notification.comment not in comments
        or notification.group not in groups
    ]


async def likes(db: Database, members: Sequence[int]) -> list[Finding]:
    """Somebody likes the post of each notification of likes, and did so on its day."""
    return [
        Finding(
            listed.key,
            f"nobody likes {listed.notification.post} since the day of the notification",
            [stored.remove(listed.key, listed.notification.id)],
        )
        for listed in await stored.without_likes(db, members)
    ]


async def mentions(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each post and comment in a member's mentions exists."""
    found = [(listed.key, listed.mention) for listed in await stored.mentions(db, members)]
    _, posts, comments = await _existing(
        db,
        posts={named.below or named.entity for _, named in found},
        comments={named.entity for _, named in found if named.below},
    )
    return [
        Finding(key, f"{named.entity} is gone", [stored.remove(key, named.place)])
        for key, named in found
        if (named.below or named.entity) not in posts or (named.below and named.entity not in comments)
    ]


async def owners(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each list of notifications or mentions has an owner, and is within its bound."""
    exists = await existing(db, Kind.USER, members)
    left = await stored.left_of(db, [member for member in members if member not in exists])
    found = [Finding(key, "belongs to nobody", [stored.drop(key)]) for key in left]
    for kind, most in stored.bounds(db.settings).items():
        found += [
            Finding(kind.key(member), f"has {count} entries, at most {most}", trim(db, member))
            for member, count in zip(members, await stored.sizes(db, kind, members), strict=True)
            if count > most
        ]
    return found


async def _existing(
    db: Database, users: Iterable[int] = (), posts: Iterable[int] = (), comments: Iterable[int] = ()
) -> tuple[set[int], set[int], set[int]]:
    """Return which of these users, posts and comments have a record; 0 means none, and always counts as existing."""
    return (
        await existing(db, Kind.USER, set(users) - {0}) | {0},
        await existing(db, Kind.STATUS, set(posts) - {0}) | {0},
        await existing(db, Kind.COMMENT, set(comments) - {0}) | {0},
    )
