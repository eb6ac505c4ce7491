"""Limits on writes: how many of a kind in an hour, and one text to how many others in a day.

Writes are counted in their author's partition, in hours and days of the clock. A script that commits in that partition
counts with the same step. A write to another partition is counted by `count_commands`, in the same round trip.
"""

import time
from collections.abc import Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, script
from store.ids import made_at
from store.limits import windows
from store.limits.windows import DAY_SECONDS, HOUR_SECONDS
from store.records.jobs import Created
from store.refusals import Exceeded, Refusal, Surplus
from store.settings import Settings

NOT_COUNTED = ""  # the limits of a write that has none
_NONE = "-"  # in place of a digest or target that is not limited


class WriteKind(Enum):
    """A kind of write that is limited per hour. Its value is the field that counts it."""

    POSTS = "posts"
    COMMENTS = "comments"
    FOLLOWS = "follows"
    LIKES = "likes"
    MESSAGES = "messages"


AHEAD = (
    WriteKind.COMMENTS,
    WriteKind.LIKES,
    WriteKind.MESSAGES,
)  # written to other partitions, so counts are read before


class Limit(Struct, frozen=True):
    """The limits of one write."""

    kind: WriteKind
    member: int
    most: int  # writes of the kind in an hour
    is_new: bool  # whether `most` is that of a new member
    targets: int  # where the same text may go in a day
    text: str = ""  # digest of the text, "" where it may be repeated
    target: str = ""  # conversation or post that the text goes to
    hour: int = 0  # since 1970, in which the write is counted
    exceeded: Exceeded | None = None  # known before the write

    def packed(self) -> str:
        """Return the limits as scripts take them."""
        return f"{self.kind.value} {self.most} {self.text or _NONE} {self.target or _NONE} {self.targets}"


class WritesMade(Struct, frozen=True):
    """What a member has written so far."""

    counts: dict[WriteKind, int]
    text: str = ""  # the digest of a text
    targets: frozenset[str] = frozenset()  # where that text was sent

    def exceeds(self, limit: Limit) -> Exceeded | None:
        """Return the limit that one more write would exceed."""
        if self.counts.get(limit.kind, 0) >= limit.most:
            return Refusal.HOUR
        is_new_target = limit.text == self.text and limit.target not in self.targets
        if limit.text and is_new_target and len(self.targets) >= limit.targets:
            return Refusal.TEXT
        return None


def limit_of(settings: Settings, member: int, kind: WriteKind, text: str = "", target: str = "") -> Limit:
    """Return the limits of a member's write. `text` is a digest, "" where the text may be repeated."""
    most, is_new = share_of(settings, member, getattr(settings, f"{kind.value}_per_hour"))
    return Limit(kind, member, most, is_new, settings.same_text_targets, text, target if text else "", _hour())


def share_of(settings: Settings, member: int, most: int) -> tuple[int, bool]:
    """Return what a member has of a limit, and whether that is the share of a new member."""
    is_new = time.time() * 1000 - made_at(member) < settings.new_member_hours * HOUR_SECONDS * 1000
    return max(1, most * settings.new_member_percent // 100) if is_new else most, is_new


def script_parameters(member: int, limit: Limit | None) -> dict[str, Any]:
    """Return the script parameters that limit a write in its author's partition."""
    return {
        "writes": keys.writes(member, limit.hour if limit else _hour()),
        "texts": keys.texts(member, _day()),
        "limits": limit.packed() if limit else NOT_COUNTED,
    }


def count_commands(limit: Limit | None) -> list[Command]:
    """Return the commands that count a write to another partition; `read_exceeded` reads their replies.

    The write is counted even if it exceeds a limit, until `uncount_commands` take that back. It is not counted if the
    limit is known to be exceeded before.
    """
    if limit is None or limit.exceeded:
        return []
    key = keys.writes(limit.member, limit.hour)
    counting: list[Command] = [("HINCRBY", key, limit.kind.value, 1), ("EXPIRE", key, HOUR_SECONDS, "NX")]
    if not limit.text:
        return counting
    noting = script(
        "note_text",
        texts=keys.texts(limit.member, _day()),
        digest=limit.text,
        target=limit.target,
        most_targets=limit.targets,
    )
    return [*counting, noting]


def uncount_commands(limit: Limit) -> list[Command]:
    """Return the commands that take a count back, for a write that was refused or had been made before."""
    key = keys.writes(limit.member, limit.hour)  # that of its own hour, which may have ended meanwhile
    return [("HINCRBY", key, limit.kind.value, -1), ("EXPIRE", key, HOUR_SECONDS, "NX")]


def read_exceeded(limit: Limit, replies: Sequence[Any]) -> Exceeded | None:
    """Return the limit that a write exceeds, from the replies to `count_commands`."""
    count, _, *noted = replies
    if count > limit.most:
        return Refusal.HOUR
    return None if all(noted) else Refusal.TEXT


def refused_ahead(limit: Limit | None) -> str:
    """Return the refusal that a script gives to a new write to another partition, "" for none."""
    return limit.exceeded.value if limit and limit.exceeded else ""


def surplus(limit: Limit | None, outcome: Any, counted: Sequence[Any]) -> Surplus[Any] | None:
    """Return a new write as what exceeds a limit, None if it does not, by the replies to `count_commands`."""
    exceeded = read_exceeded(limit, counted) if limit and counted else None
    if exceeded and isinstance(outcome, Created) and outcome.is_new:
        return Surplus(exceeded, outcome)
    return None


def made_commands(member: int, text: str) -> list[Command]:
    """Return the commands that read what a member has written so far; `text` is a digest, or ""."""
    counts = ("HMGET", keys.writes(member, _hour()), *(kind.value for kind in AHEAD))
    return [counts, ("HGET", keys.texts(member, _day()), text)] if text else [counts]


def read_made(text: str, replies: Sequence[Any]) -> WritesMade:
    """Return what a member has written, from the replies to `made_commands`."""
    counts, *of_text = replies
    known = of_text[0] if of_text and of_text[0] else ""
    return WritesMade(
        {kind: int(count or 0) for kind, count in zip(AHEAD, counts, strict=True)}, text, frozenset(known.split())
    )


def seconds_left(exceeded: Exceeded) -> int:
    """Return after how many seconds a limit ends."""
    return windows.rest(HOUR_SECONDS if exceeded is Refusal.HOUR else DAY_SECONDS)


def _hour() -> int:
    return windows.current(HOUR_SECONDS)


def _day() -> int:
    return windows.current(DAY_SECONDS)


def member_keys(member: int) -> list[str]:
    """Return the keys in which a member's writes of now are counted; older ones expire."""
    return [keys.writes(member, _hour()), keys.texts(member, _day())]
