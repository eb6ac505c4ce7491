"""The event log: what happened on the site in one total order.

The log only names posts and members. Filters also decide on the text and the place of a post. They are published with a
new event, and read from the post for an event of the log. So nothing of a deleted post stays in the log.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

from store import keys
from store.client.database import Command, Database, script
from store.ids import CLOCK_SKEW
from store.keys.fields import StatusField
from store.records.lists import read_pairs
from store.records.posts import Location

CHANNEL = keys.events_channel()
START = "0-0"  # the cursor before all events
READ_COUNT = 500  # events read at a time
_POSITIONS = 4_096  # cursors whose positions are remembered: each subscriber compares those of the newest events


@dataclass(frozen=True, slots=True)
class EventContent:
    """The text and the place of a post."""

    text: str = ""
    latitude: str = ""
    longitude: str = ""

    @property
    def place(self) -> Location | None:
        return Location(float(self.latitude), float(self.longitude)) if self.latitude else None


NOTHING = EventContent()  # of an event about no post, or about a plain repost


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the site; `cursor` is its place in the log."""

    cursor: str
    kind: str
    actor: int
    post: int = 0
    original: int = 0
    original_author: int = 0
    of_quote: int = 0
    is_quote: int = 0  # 1 if the post quotes its original
    member: int = 0
    is_public: int = 0  # 1 if everybody who may see the actor may see the event
    content: EventContent | None = NOTHING  # None while it is not read, and when the post is gone

    @property
    def is_plain(self) -> bool:
        """Whether the post is a plain repost, which has no content."""
        return bool(self.original) and not self.is_quote

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(int(self.cursor.split("-")[0]) / 1000, UTC)


_CONTENT = [f.name for f in fields(EventContent)]
_NUMBERS = {f.name for f in fields(Event)} - {"cursor", "kind", "content"}
_LOOK = (StatusField.TEXT, StatusField.LATITUDE, StatusField.LONGITUDE)


async def append(
    db: Database, name: str, kind: str, actor: int, content: EventContent = NOTHING, /, **about: int
) -> str | None:
    """Append an event once, even if the work is repeated; `name` identifies the event."""
    return cast("str | None", await db.one(*append_command(db, name, kind, actor, content, **about)))


def append_command(
    db: Database, name: str, kind: str, actor: int, content: EventContent = NOTHING, /, **about: int
) -> Command:
    """Return the command that appends an event once. The content is published with it, and not stored."""
    pairs = [part for pair in about.items() if pair[1] for part in pair]
    words = [part for name in _CONTENT if (value := getattr(content, name)) for part in (name, value)]
    return script(
        "append_event",
        events=keys.events(),
        event_ids=keys.event_ids(),
        event=name,
        events_kept=db.settings.events_kept,
        channel=db.channel(CHANNEL),
        content=json.dumps(words),
        fields=["kind", kind, "actor", actor, *pairs],
    )


def announced(message: str) -> tuple[str, Event]:
    """Return the cursor of the event before an announced one, "" without one in the log, and the announced event."""
    before, cursor, pairs = json.loads(message)
    return before, _read(cursor, pairs, is_announced=True)


async def between(db: Database, after: str, to: str = "+", *, inclusive: bool = False) -> list[Event]:
    """Return a batch of the events after one cursor, or from it on if `inclusive`, up to another, oldest first."""
    entries = await db.one("XRANGE", keys.events(), after if inclusive else f"({after}", to, "COUNT", READ_COUNT)
    return [_read(entry, pairs) for entry, pairs in entries]


async def with_content(db: Database, found: Sequence[Event]) -> list[Event]:
    """Return events with the contents that their posts have now. At most one round trip.

    The content of an event stays None if its post is deleted.
    """
    posts = list(dict.fromkeys(event.post for event in found if event.content is None))
    replies = await db.ask(*(("HMGET", keys.status(post), *_LOOK) for post in posts)) if posts else []
    contents = {
        post: EventContent(text, latitude or "", longitude or "")
        for post, (text, latitude, longitude) in zip(posts, replies, strict=True)
        if text is not None
    }
    return [replace(event, content=event.content or contents.get(event.post)) for event in found]


async def replay(db: Database, after: str, to: str, *, has_content: bool = False) -> AsyncGenerator[Event | None, None]:
    """Yield the events after one cursor up to another, oldest first; ends with None if some were trimmed by then.

    With `has_content`, each batch takes a round trip more, which reads the contents of its posts.
    """
    while position(after) < position(to):
        # The last event is read again: while it is in the log, no later one has been trimmed.
        batch = await between(db, after, to, inclusive=True)
        is_whole = after == START or (bool(batch) and batch[0].cursor == after)
        if not is_whole:
            yield None
        batch = [event for event in batch if is_whole and event.cursor != after]
        if has_content:
            batch = await with_content(db, batch)
        for event in batch:
            yield event
        if not batch:
            return
        after = batch[-1].cursor


async def newest(db: Database) -> str:
    """Return the cursor of the newest event ever appended."""
    (info,) = await db.run([("XINFO", "STREAM", keys.events())])
    return START if isinstance(info, Exception) else str(read_pairs(info)["last-generated-id"])


async def oldest(db: Database) -> datetime | None:
    """Return the time of the oldest event that is kept, None without any."""
    entries = await db.one("XRANGE", keys.events(), "-", "+", "COUNT", 1)
    return _read(*entries[0]).at if entries else None


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A cursor's position: `is_kept` if the log has all events after it, `is_future` if no clock has reached it."""

    newest: str  # cursor of the newest event ever appended
    is_kept: bool
    is_future: bool


async def locate(db: Database, cursor: str) -> LogPosition:
    """Return a cursor's position. A cursor that the log does not have, from an older or lost store, is not kept."""
    commands = [("XRANGE", keys.events(), cursor, cursor), ("XINFO", "STREAM", keys.events()), ("TIME",)]
    found, info, time = await db.run(commands)
    facts = {"last-generated-id": START} if isinstance(info, Exception) else read_pairs(info)
    last, is_trimmed = str(facts["last-generated-id"]), facts.get("entries-added") != facts.get("length")
    return LogPosition(
        last,
        is_kept=bool(found) or cursor == last or (cursor == START and not is_trimmed),
        is_future=position(cursor) > max(((int(time[0]) + CLOCK_SKEW.seconds) * 1000, 0), position(last)),
    )


@lru_cache(maxsize=_POSITIONS)
def position(cursor: str) -> tuple[int, int]:
    """Return a cursor's sort key: milliseconds and number; raises ValueError for a malformed cursor."""
    milliseconds, _, number = cursor.partition("-")
    return int(milliseconds), int(number)


def _read(entry: str, pairs: Sequence[str], *, is_announced: bool = False) -> Event:
    stored = read_pairs(pairs)
    # A newer version of Perch may append fields that this one does not have.
    about: dict[str, Any] = {name: int(value) for name, value in stored.items() if name in _NUMBERS}
    event = Event(cursor=entry, kind=stored["kind"], **about)
    if is_announced:
        return replace(event, content=EventContent(**{name: stored[name] for name in _CONTENT if name in stored}))
    return replace(event, content=None) if event.is_public and not event.is_plain else event
