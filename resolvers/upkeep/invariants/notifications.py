"""Invariants of notifications and mentions: bounds, and that their subjects exist."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resolvers.upkeep.invariants.findings import Finding, existing
from store import keys
from store import notifications as stored
from store.client.database import Database

TOLD = (keys.notifications, keys.withdrawn_notifications, keys.notification_state, keys.mentions)


async def notifications(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each notification's actor, post and comment exist."""
    replies = await db.ask(*(("ZRANGE", keys.notifications(member), 0, -1, "WITHSCORES") for member in members))
    found = [(m, told) for m, reply in zip(members, replies, strict=True) for told in stored.read_notifications(reply)]
    users, posts, comments = await _there(
        db,
        users={told.actor for _, told in found},
        posts={told.post for _, told in found},
        comments={told.comment for _, told in found},
    )
    return [
        Finding(
            keys.notifications(member),
            f"{told.kind.value} by {told.actor} is about what is gone",
            (("ZREMRANGEBYSCORE", keys.notifications(member), told.id, told.id),),
        )
        for member, told in found
        if told.actor not in users or told.post not in posts or told.comment not in comments
    ]


async def mentions(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each post and comment in a member's mentions exists."""
    replies = await db.ask(*(("ZRANGE", keys.mentions(member), 0, -1, "WITHSCORES") for member in members))
    found = [(m, named) for m, reply in zip(members, replies, strict=True) for named in stored.read_mentions(reply)]
    _, posts, comments = await _there(
        db,
        posts={named.below or named.thing for _, named in found},
        comments={named.thing for _, named in found if named.below},
    )
    return [
        Finding(
            keys.mentions(member),
            f"{named.thing} is gone",
            (("ZREMRANGEBYSCORE", keys.mentions(member), named.place, named.place),),
        )
        for member, named in found
        if (named.below or named.thing) not in posts or (named.below and named.thing not in comments)
    ]


async def owners(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each list of notifications or mentions has an owner, and is within its bound."""
    exists = await existing(db, members, keys.user)
    gone = [listing(member) for member in members if member not in exists for listing in TOLD]
    left = await db.ask(*(("EXISTS", key) for key in gone))
    found = [Finding(key, "belongs to nobody", (("DEL", key),)) for key, there in zip(gone, left, strict=True) if there]
    for listing, most in (
        (keys.notifications, db.settings.notifications_kept),
        (keys.withdrawn_notifications, db.settings.notifications_kept),
        (keys.mentions, db.settings.mentions_kept),
    ):
        counts = await db.ask(*(("ZCARD", listing(member)) for member in members))
        found += [
            Finding(listing(member), f"has {count} entries, at most {most}", stored.trim(db, member))
            for member, count in zip(members, counts, strict=True)
            if count > most
        ]
    return found


async def _there(
    db: Database, users: Iterable[int] = (), posts: Iterable[int] = (), comments: Iterable[int] = ()
) -> tuple[set[int], set[int], set[int]]:
    """Return which of these users, posts and comments have a record; 0 means none, and always counts as existing."""
    return (
        await existing(db, set(users) - {0}, keys.user) | {0},
        await existing(db, set(posts) - {0}, keys.status) | {0},
        await existing(db, set(comments) - {0}, keys.comment) | {0},
    )
