"""Notifications and mentions of members: what is listed, and how much."""

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.notifications import (
    Likers,
    Mentioned,
    Notification,
    NotificationKind,
    likers_commands,
    read_likers,
    read_mentions,
    read_notifications,
)


class ListedNotification(Struct, frozen=True):
    """A notification of a member and the key of the list that has it."""

    member: int
    key: str
    notification: Notification


async def notifications(db: Database, members: Sequence[int]) -> list[ListedNotification]:
    """Return all notifications of some members. One round trip."""
    replies = await db.ask(*(("ZRANGE", keys.notifications(member), 0, -1, "WITHSCORES") for member in members))
    return [
        ListedNotification(member, keys.notifications(member), notification)
        for member, reply in zip(members, replies, strict=True)
        for notification in read_notifications(reply)
    ]


async def without_cause(db: Database, listed: Sequence[ListedNotification]) -> list[ListedNotification]:
    """Return the notifications of likes and plain reposts that are no more. At most two round trips."""
    likes = [one for one in listed if one.notification.likes_of is not None]
    reposts = [one for one in listed if one.notification.kind is NotificationKind.REPOST]
    replies = await db.ask(*(command for one in likes for command in likers_commands(one.member, one.notification)))
    rows = [replies[i : i + Likers.COMMANDS] for i in range(0, len(replies), Likers.COMMANDS)]
    named = [(keys.reposts(one.notification.post), one.notification.actor) for one in reposts]
    scores = await db.ask(*(("ZSCORE", key, actor) for key, actor in named))
    return [
        *(o for o, row in zip(likes, rows, strict=True) if not read_likers(o.member, o.notification, *row).count),
        *(one for one, score in zip(reposts, scores, strict=True) if score is None),
    ]


async def unlisted_mentions(db: Database, listed: Sequence[ListedNotification]) -> list[ListedNotification]:
    """Return the notifications of mentions that the member's list of mentions lacks. One round trip.

    A full list has dropped its oldest mentions. They stay away, even if it has room after a deletion.
    """
    asked = [one for one in listed if one.notification.kind is NotificationKind.MENTION]
    looks: list[Command] = []
    for one in asked:
        key = keys.mentions(one.member)
        looks += [("ZSCORE", key, _mention(one)[1]), ("ZCARD", key), ("ZRANGE", key, 0, 0, "WITHSCORES")]
    replies = iter(await db.ask(*looks))
    return [
        one
        for one, place, size, lowest in zip(asked, *[replies] * 3, strict=True)
        if place is None
        and (size * 2 < db.settings.mentions_kept or _mention(one)[0] > int(lowest[1] if lowest else 0))
    ]


def list_mention(one: ListedNotification) -> Command:
    """Return the command that lists what a notification of a mention is about among the member's mentions."""
    return ("ZADD", keys.mentions(one.member), *_mention(one))


def _mention(one: ListedNotification) -> tuple[int, str]:
    """Return the place and the text of a mention in the list of mentions."""
    post, comment = one.notification.post, one.notification.comment
    return (comment, f"{comment}:{post}") if comment else (post, str(post))


class ListedMention(Struct, frozen=True):
    """A mention and the key of the list that has it."""

    key: str
    mention: Mentioned


async def mentions(db: Database, members: Sequence[int]) -> list[ListedMention]:
    """Return all mentions of some members. One round trip."""
    listed = [keys.mentions(member) for member in members]
    replies = await db.ask(*(("ZRANGE", key, 0, -1, "WITHSCORES") for key in listed))
    return [
        ListedMention(key, mention)
        for key, reply in zip(listed, replies, strict=True)
        for mention in read_mentions(reply)
    ]


def remove(key: str, place: int) -> Command:
    """Return the command that removes the entry at a place from a list of notifications or mentions."""
    return ("ZREMRANGEBYSCORE", key, place, place)
