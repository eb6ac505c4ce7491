"""Notifications and mentions: their subjects exist, and each mention that a notification names is listed."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from store import keys, kinds
from store.client.database import Command, Database
from store.kinds import Record
from store.notifications import (
    Notification,
    NotificationKind,
    likers_commands,
    read_likers,
    read_mentions,
    read_notifications,
)
from store.upkeep.findings import Finding, ask_each, existing


class ListedNotification(Struct, frozen=True):
    """A notification of a member."""

    member: int
    notification: Notification

    def removed(self, what: str) -> Finding:
        """Return the finding that the notification should not be there."""
        key, of = keys.notifications(self.member), self.notification
        return Finding(key, f"{of.kind.value} by {of.actor} on {of.post} {what}", [_remove(key, of.id)])

    @property
    def mention(self) -> tuple[int, str]:
        """The place and the text of what a mention is about in the member's list of mentions."""
        post, comment = self.notification.post, self.notification.comment
        return (comment, f"{comment}:{post}") if comment else (post, str(post))


async def notifications(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each notification's actor, post, comment and group exist, as do its like or repost; its mention is listed."""
    looks = {member: [("ZRANGE", keys.notifications(member), 0, -1, "WITHSCORES")] for member in members}
    listed = [
        ListedNotification(member, one)
        for member, (reply,) in await ask_each(db, looks)
        for one in read_notifications(reply)
    ]
    every = [one.notification for one in listed]
    users = await _existing(db, kinds.USER, (one.actor for one in every))
    posts = await _existing(db, kinds.STATUS, (one.post for one in every))
    comments = await _existing(db, kinds.COMMENT, (one.comment for one in every))
    groups = await _existing(db, kinds.GROUP, (one.group for one in every))
    left: list[ListedNotification] = []
    about_gone: list[Finding] = []
    for one in listed:
        of = one.notification
        if of.actor in users and of.post in posts and of.comment in comments and of.group in groups:
            left.append(one)
        else:
            about_gone.append(one.removed("is about what is gone"))
    return about_gone + await _ended(db, left) + await _lost_mentions(db, left)


async def _ended(db: Database, listed: Sequence[ListedNotification]) -> list[Finding]:
    """Return the notifications of likes and plain reposts that are no more. At most two round trips."""
    likes = {one: likers_commands(one.member, of) for one in listed if (of := one.notification).likes_of is not None}
    reposts = {
        one: [("ZSCORE", keys.reposts(of.post), of.actor)]
        for one in listed
        if (of := one.notification).kind is NotificationKind.REPOST
    }
    unliked = [
        one
        for one, replies in await ask_each(db, likes)
        if not read_likers(one.member, one.notification, *replies).count
    ]
    undone = [one for one, (score,) in await ask_each(db, reposts) if score is None]
    return [one.removed("has ended") for one in unliked + undone]


async def _lost_mentions(db: Database, listed: Sequence[ListedNotification]) -> list[Finding]:
    """Return the notifications of mentions that the member's list of mentions lacks. One round trip.

    A full list has dropped its oldest mentions. They stay away, even if it has room after a deletion. Mentions without
    a notification are not looked for: a block that has ended may have kept them out.
    """
    looks: dict[ListedNotification, list[Command]] = {
        one: [("ZSCORE", key, one.mention[1]), ("ZCARD", key), ("ZRANGE", key, 0, 0, "WITHSCORES")]
        for one in listed
        if one.notification.kind is NotificationKind.MENTION and (key := keys.mentions(one.member))
    }
    half = db.settings.mentions_kept / 2
    return [
        Finding(
            keys.notifications(one.member),
            f"the mention in {one.notification.post} is not listed",
            [("ZADD", keys.mentions(one.member), *one.mention)],
        )
        for one, (place, size, lowest) in await ask_each(db, looks)
        if place is None and (size < half or one.mention[0] > int(lowest[1] if lowest else 0))
    ]


async def mentions(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each post and comment in a member's mentions exists."""
    looks = {key: [("ZRANGE", key, 0, -1, "WITHSCORES")] for key in map(keys.mentions, members)}
    found = [(key, named) for key, (reply,) in await ask_each(db, looks) for named in read_mentions(reply)]
    posts = await _existing(db, kinds.STATUS, (named.below or named.entity for _, named in found))
    comments = await _existing(db, kinds.COMMENT, (named.entity for _, named in found if named.below))
    return [
        Finding(key, f"{named.entity} is gone", [_remove(key, named.place)])
        for key, named in found
        if (named.below or named.entity) not in posts or (named.below and named.entity not in comments)
    ]


async def _existing(db: Database, record: Record, ids: Iterable[int]) -> set[int]:
    """Return which of some ids have a record; 0 means none, and always counts as existing."""
    return await existing(db, record, {*ids} - {0}) | {0}


def _remove(key: str, place: int) -> Command:
    """Return the command that removes the entry at a place from a list of notifications or mentions."""
    return ("ZREMRANGEBYSCORE", key, place, place)
