"""Invariants of notifications and mentions: bounds, and that their subjects exist."""

from collections.abc import Iterable, Sequence

from resolvers.upkeep.invariants.findings import Finding
from store import kinds
from store.client.database import Database
from store.notifications import Notification
from store.upkeep import notifications as stored
from store.upkeep.lists import existing
from store.upkeep.notifications import ListedNotification


async def notifications(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each notification's actor, post, comment and group exist, as do its like or repost; its mention is listed."""
    known = await stored.notifications(db, members)
    groups = await existing(db, kinds.GROUP, {one.notification.group for one in known} - {0}) | {0}
    users, posts, comments = await _existing(
        db,
        users={one.notification.actor for one in known},
        posts={one.notification.post for one in known},
        comments={one.notification.comment for one in known},
    )
    left: list[ListedNotification] = []
    about_gone: list[Finding] = []
    for one in known:
        of = one.notification
        if of.actor in users and of.post in posts and of.comment in comments and of.group in groups:
            left.append(one)
        else:
            about_gone.append(_removed(one.key, of, "is about what is gone"))
    return about_gone + await _ended(db, left) + await _lost_mentions(db, left)


async def _ended(db: Database, known: Sequence[ListedNotification]) -> list[Finding]:
    return [_removed(one.key, one.notification, "has ended") for one in await stored.without_cause(db, known)]


async def _lost_mentions(db: Database, known: Sequence[ListedNotification]) -> list[Finding]:
    """Mentions without a notification are not looked for: a block that has ended may have kept them out."""
    return [
        Finding(one.key, f"the mention in {one.notification.post} is not listed", [stored.list_mention(one)])
        for one in await stored.unlisted_mentions(db, known)
    ]


def _removed(key: str, notification: Notification, what: str) -> Finding:
    message = f"{notification.kind.value} by {notification.actor} on {notification.post} {what}"
    return Finding(key, message, [stored.remove(key, notification.id)])


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


async def _existing(
    db: Database, users: Iterable[int] = (), posts: Iterable[int] = (), comments: Iterable[int] = ()
) -> tuple[set[int], set[int], set[int]]:
    """Return which of these users, posts and comments have a record; 0 means none, and always counts as existing."""
    return (
        await existing(db, kinds.USER, set(users) - {0}) | {0},
        await existing(db, kinds.STATUS, set(posts) - {0}) | {0},
        await existing(db, kinds.COMMENT, set(comments) - {0}) | {0},
    )
