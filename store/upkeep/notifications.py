"""Notifications and mentions of members: what is listed, and how much."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.notifications import (
    Likers,
    Mentioned,
    Notification,
    likers_commands,
    read_likers,
    read_mentions,
    read_notifications,
)
from store.settings import Settings
from store.upkeep.kinds import Kind

_OWNED = (Kind.NOTIFICATIONS, Kind.WITHDRAWN_NOTIFICATIONS, Kind.NOTIFICATION_STATE, Kind.MENTIONS)


class ListedNotification(Struct, frozen=True):
    """A notification and the key of the list that has it."""

    key: str
    notification: Notification


async def notifications(db: Database, members: Sequence[int]) -> list[ListedNotification]:
    """Return all notifications of some members. One round trip."""
    listed = [keys.notifications(member) for member in members]
    replies = await db.ask(*(("ZRANGE", key, 0, -1, "WITHSCORES") for key in listed))
    return [
        ListedNotification(key, notification)
        for key, reply in zip(listed, replies, strict=True)
        for notification in read_notifications(reply)
    ]


async def without_likes(db: Database, members: Sequence[int]) -> list[ListedNotification]:
    """Return the notifications of likes of some members for which there are none. Two round trips."""
    found = await db.ask(*(("ZRANGE", keys.notifications(member), 0, -1, "WITHSCORES") for member in members))
    listed = [
        (member, notification)
        for member, reply in zip(members, found, strict=True)
        for notification in read_notifications(reply)
        if notification.likes_of is not None
    ]
    replies = await db.ask(*(command for one in listed for command in likers_commands(*one)))
    rows = [replies[i : i + Likers.COMMANDS] for i in range(0, len(replies), Likers.COMMANDS)]
    return [
        ListedNotification(keys.notifications(member), notification)
        for (member, notification), row in zip(listed, rows, strict=True)
        if not read_likers(member, notification, *row).count
    ]


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


async def left_of(db: Database, members: Sequence[int]) -> list[str]:
    """Return the keys that these members have of notifications and mentions. One round trip."""
    owned = [kind.key(member) for member in members for kind in _OWNED]
    found = await db.ask(*(("EXISTS", key) for key in owned))
    return [key for key, exists in zip(owned, found, strict=True) if exists]


def drop(key: str) -> Command:
    """Return the command that removes a key of notifications or mentions."""
    return ("DEL", key)


def bounds(settings: Settings) -> dict[Kind, int]:
    """Return the most entries that each kind of list may have."""
    return {
        Kind.NOTIFICATIONS: settings.notifications_kept,
        Kind.WITHDRAWN_NOTIFICATIONS: settings.notifications_kept,
        Kind.MENTIONS: settings.mentions_kept,
    }


async def sizes(db: Database, kind: Kind, members: Sequence[int]) -> list[int]:
    """Return the number of entries in one kind of list of each member. One round trip."""
    return list(await db.ask(*(("ZCARD", kind.key(member)) for member in members)))
