"""Notifications and mentions: two bounded lists in the member's own partition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, ClassVar, Literal

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.ids import LARGEST, day_bounds, day_of, instant, partition
from store.keys.fields import NotificationsField
from store.records.lists import Entry
from store.refusals import Refusal, refused
from store.scripts.mailboxes import mailboxes

ACTORS_READ = 20  # newest members behind one notification who are considered


class NotificationKind(Enum):
    """The action that a notification reports."""

    FOLLOW = "FOLLOW"
    FOLLOW_REQUEST = "FOLLOW_REQUEST"
    FOLLOW_APPROVED = "FOLLOW_APPROVED"
    LIKE = "LIKE"
    REPOST = "REPOST"
    QUOTE = "QUOTE"
    COMMENT = "COMMENT"
    REPLY = "REPLY"
    MENTION = "MENTION"
    GROUP_INVITE = "GROUP_INVITE"
    REPORT_RESOLVED = "REPORT_RESOLVED"


class Notification(Struct, frozen=True):
    """A notification of a member; `actor`, `post`, `comment` and `group` are 0 if it has none.

    For a like, repost or comment, the post is the member's own. For a quote, reply or mention in a post, it is the post
    that quotes, answers or mentions. For a mention or answer in a comment, it is the post below which the comment is.

    All likes of a post on a day have one notification. `likers` says who liked it. Before layout 5, each like had one.
    """

    id: int
    kind: NotificationKind
    actor: int
    post: int = 0
    comment: int = 0
    group: int = 0
    likes_of: int | None = None  # day of the likes that it is about
    others: tuple[int, ...] = ()  # newest other members who liked the post on that day, newest first
    actor_count: int = 1

    @property
    def actors(self) -> tuple[int, ...]:
        """Who did it, newest first; nobody for a resolved report."""
        return (self.actor, *self.others) if self.actor else self.others

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @classmethod
    def read(cls, notification: int, text: str) -> "Notification":
        kind, *numbers = text.split(":")
        actor, about, comment = map(int, numbers)
        if kind == NotificationKind.GROUP_INVITE.value:
            return cls(notification, NotificationKind.GROUP_INVITE, actor, group=about)
        if kind == NotificationKind.REPORT_RESOLVED.value:  # its text names the report, which it doesn't show
            return cls(notification, NotificationKind.REPORT_RESOLVED, 0, actor_count=0)
        if kind == NotificationKind.LIKE.value and not actor:
            return cls(notification, NotificationKind.LIKE, 0, about, likes_of=comment, actor_count=0)
        return cls(notification, NotificationKind(kind), actor, about, comment)


def read_notifications(reply: Sequence[str]) -> list[Notification]:
    """Return notifications from a reply WITHSCORES."""
    return [Notification.read(int(score), text) for text, score in zip(reply[::2], reply[1::2], strict=True)]


def look_up(member: int, notifications: Iterable[int]) -> list[Command]:
    """Return the commands that read some notifications of a member by their ids."""
    return [("ZRANGE", keys.notifications(member), n, n, "BYSCORE", "WITHSCORES") for n in notifications]


@dataclass(frozen=True, slots=True)
class Likers:
    """The members who liked a post on a day, but for its author: the newest of them, newest first, and how many."""

    newest: tuple[int, ...]
    count: int

    COMMANDS: ClassVar = 3  # of `likers_commands`


def likers_commands(member: int, notification: Notification) -> list[Command]:
    """Return the commands that read who is behind a notification of likes."""
    assert notification.likes_of is not None
    key, (first, last) = keys.likes(notification.post), day_bounds(notification.likes_of)
    return [
        ("ZRANGE", key, last, first, "BYSCORE", "REV", "LIMIT", 0, ACTORS_READ + 1),
        ("ZCOUNT", key, first, last),
        ("ZSCORE", key, member),
    ]


def read_likers(member: int, notification: Notification, newest: Any, count: Any, own: Any) -> Likers:
    """Return who is behind a notification of likes, from the replies to `likers_commands`."""
    is_among = own is not None and day_of(int(own)) == notification.likes_of
    others = tuple(found for found in map(int, newest) if found != member)
    return Likers(others[:ACTORS_READ], int(count) - is_among)


def read_until_command(member: int) -> Command:
    """Return the command that reads the highest notification that a member has marked read, None without one."""
    return ("HGET", keys.notification_state(member), NotificationsField.READ)


def unread(member: int) -> Command:
    """Return the command that counts a member's unread notifications."""
    return script("unread_notifications", member)


def channel(member: int) -> str:
    """Return the Pub/Sub channel on which changes to a member's notifications are published."""
    return keys.notifications_channel(member)


async def mark_read(db: Database, member: int, until: int | None) -> Literal[Refusal.GONE] | None:
    """Mark notifications read, up to one or all of them. GONE says that the member has none with that id."""
    return refused(await db.call("mark_read", member, notification="" if until is None else until))


@dataclass(frozen=True, slots=True)
class NotificationChanges:
    """Changes to a member's notifications after an id, oldest first: `came` were added, `withdrawn` were removed.

    `newest` is the newest id of all changes. Changes at or below the floor may be missing.
    """

    newest: int
    floor: int
    came: list[Notification]
    withdrawn: list[Entry]


async def newest(db: Database, member: int) -> int:
    """Return the id of the newest change in a member's notifications, 0 without any."""
    return (await changes_after(db, member, LARGEST, 0)).newest


async def changes_after(db: Database, member: int, last: int, count: int) -> NotificationChanges:
    """Return the changes to a member's notifications after an id, at most `count` of each kind."""
    newest, floor, came, gone = await db.call("notification_changes", member, after=last, limit=count)
    withdrawn = [Entry(int(entity), int(score)) for entity, score in zip(gone[::2], gone[1::2], strict=True)]
    return NotificationChanges(int(newest), int(floor), read_notifications(came), withdrawn)


@dataclass(frozen=True, slots=True)
class MentionSource:
    """A post or comment that mentions members; `private` is the private member whose followers alone may see it."""

    author: int
    post: int
    comment: int = 0
    private: int | None = None


async def mention(db: Database, named: MentionSource, members: Iterable[int]) -> None:
    """Add a mention to each member's list, and notify those who may see it."""
    await db.ask(*(_mention_command(db, named, member) for member in members))


async def unmention(db: Database, named: MentionSource, members: Iterable[int]) -> None:
    """Remove the mentions in a post or comment that is gone, and their notifications, from some members."""
    await db.ask(*(script("unmention", member, **_mention(db, named, member)) for member in members))


def _mention_command(db: Database, named: MentionSource, member: int) -> Command:
    return script(
        "mention",
        member,
        **_mention(db, named, member),
        private=named.private or "",
        mentions_kept=db.settings.mentions_kept,
    )


def _mention(db: Database, named: MentionSource, member: int) -> dict[str, Any]:
    """Return the script parameters that name a mention of a member."""
    return {
        "mailboxes": mailboxes(db, partition(member)),
        "member": member,
        "author": named.author,
        "post": named.post,
        "comment": named.comment,
    }


async def withdraw_about(db: Database, member: int, post: int) -> None:
    """Withdraw all of a member's notifications about a post that is gone."""
    p = partition(member)
    await db.call("withdraw_about", partition=p, mailboxes=mailboxes(db, p), member=member, post=post)


def trim(db: Database, member: int) -> tuple[Command, ...]:
    """Return the commands that trim a member's notifications and mentions."""
    p = partition(member)
    return (
        script("trim_notifications", partition=p, mailboxes=mailboxes(db, p), member=member),
        ("ZREMRANGEBYRANK", keys.mentions(member), 0, -db.settings.mentions_kept - 1),
    )


def read_mentions(reply: Sequence[str]) -> "list[Mentioned]":
    """Return the entries of a member's list of mentions from a reply WITHSCORES."""
    return [_read_mention(text, int(score)) for text, score in zip(reply[::2], reply[1::2], strict=True)]


class Mentioned(Entry, frozen=True):
    """An entry of a list of mentions. For a comment, `below` is the post that it comments on; for a post, it is 0."""

    below: int = 0


def _read_mention(text: str, place: int) -> Mentioned:
    entity, _, below = text.partition(":")
    return Mentioned(int(entity), place, int(below or 0))
