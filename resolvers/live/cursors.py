"""Event cursors as clients hold them, and the event that reports a gap in a stream."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from resolvers.process.errors import BadUserInput
from resolvers.reading import paging
from store.client.database import Database
from store.events import log
from store.ids import CLOCK_SKEW, instant, partition

CURSOR = "event"  # prefix of cursors of the event log
_ENTRY = re.compile(r"[0-9]{1,15}-[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event of a subscription, which can be continued after its cursor."""

    cursor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class StreamGap(StreamEvent):
    """Events were lost. The subscriber refetches, and the stream continues at this cursor."""


def event_cursor(entry: str) -> str:
    """Return the cursor of an entry of the event log."""
    return f"{CURSOR}.{entry}"


def read_event_cursor(text: str) -> str:
    """Return the log entry of a cursor. Raises BadUserInput when the text is no event cursor."""
    name, _, entry = text.partition(".")
    if name != CURSOR or not _ENTRY.fullmatch(entry):
        raise BadUserInput("after: this is not a cursor of this subscription")
    return entry


def gap_at(entry: str) -> StreamGap:
    """Return the gap event: events before this log entry may have been lost."""
    return StreamGap(event_cursor(entry), datetime.now(UTC))


async def begin(db: Database, after: str | None) -> tuple[str, StreamGap | None]:
    """Return the log entry after which a subscription starts, and a gap if that is not `after`.

    Raises BadUserInput for a cursor that no store can have issued. A cursor can be ahead of the log and not of the
    clock: the store lost its last moments or was restored from a backup. That is a gap.
    """
    if after is None:
        return await log.newest(db), None
    entry = read_event_cursor(after)
    place = await log.locate(db, entry)
    if place.is_future:
        raise BadUserInput("after: this cursor is of the future")
    return (entry, None) if place.is_kept else (place.newest, gap_at(place.newest))


def read_position(kind: str, after: str | None, newest: int, member: int | None = None) -> int:
    """Return the id in a cursor of a list of changes, that of the newest change without a cursor.

    Raises BadUserInput for a malformed cursor, one from the future, and one of another member than `member`.
    """
    if after is None:
        return newest
    position = paging.read_cursor(kind, after, "after")
    if position and member is not None and partition(position) != partition(member):  # 0 is before all changes
        raise BadUserInput("after: this cursor is of another member")
    if position > newest and instant(position) > datetime.now(UTC) + CLOCK_SKEW:
        raise BadUserInput("after: this cursor is of the future")
    return position
