"""Places in the event log as clients hold them, and what every subscription can say: that something was lost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from resolvers.operation.errors import BadUserInput
from store import events
from store.client.database import Database

CURSOR = "event"  # what cursors of the log are marked with
_ENTRY = re.compile(r"[0-9]{1,15}-[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class StreamGap:
    """Events were lost; the subscriber refetches and goes on from here."""

    cursor: str
    at: datetime


def event_cursor(entry: str) -> str:
    """Return the cursor of a place in the log."""
    return f"{CURSOR}.{entry}"


def read_event_cursor(text: str) -> str:
    """Return the place in the log that a cursor stands for; raises BadUserInput when it is none."""
    name, _, entry = text.partition(".")
    if name != CURSOR or not _ENTRY.fullmatch(entry):
        raise BadUserInput("after: this is not a cursor of this subscription")
    return entry


def gap_at(entry: str) -> StreamGap:
    """Return the event that says that what came before a place in the log may have been missed."""
    return StreamGap(event_cursor(entry), datetime.now(UTC))


async def begin(db: Database, after: str | None) -> tuple[str, StreamGap | None]:
    """Return from where in the log a subscription goes on, and the gap it begins with where that is not `after`.

    Raises BadUserInput for what no store can have given. A cursor ahead of the log but not of the clock is of a store
    that lost its last moments, or was put back: that is a gap.
    """
    if after is None:
        return await events.newest(db), None
    entry = read_event_cursor(after)
    place = await events.locate(db, entry)
    if place.is_future:
        raise BadUserInput("after: this cursor is of the future")
    return (entry, None) if place.is_kept else (place.newest, gap_at(place.newest))
