"""The event log: what happened on the site in one total order, and the one reader a process has of it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Protocol, cast

import structlog
from redis.exceptions import RedisError

from store import keys
from store.connection import Database, Unavailable
from store.hearing import Hearing
from store.records import Location, read_pairs
from store.tasks import stop

WAKE = "events"  # channel: the log has grown
READ_COUNT = 500  # events read at a time
RETRY_SECONDS = 1  # pause after the log could not be read

log = structlog.get_logger()


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
    member: int = 0
    is_public: int = 0  # whether all may hear of it who see its actor
    text: str = ""
    latitude: str = ""
    longitude: str = ""

    @property
    def place(self) -> Location | None:
        return Location(float(self.latitude), float(self.longitude)) if self.latitude else None

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(int(self.cursor.split("-")[0]) / 1000, UTC)


_WORDS = {"text", "latitude", "longitude"}
_NUMBERS = {f.name for f in fields(Event)} - {"cursor", "kind", *_WORDS}


async def append(db: Database, name: str, kind: str, actor: int, **about: int | str) -> str | None:
    """Append an event once, whatever repeats the work; `name` is what makes it the same event."""
    pairs = [part for pair in about.items() if pair[1] for part in pair]
    kept, now = db.settings.events_kept, time.time_ns() // 1_000_000
    args = [name, kept, db.channel(WAKE), now, "kind", kind, "actor", actor, *pairs]
    return cast("str | None", await db.call("append_event", [keys.events(), keys.event_ids()], *args))


async def between(db: Database, after: str, to: str = "+", *, inclusive: bool = False) -> list[Event]:
    """Return a batch of the events after one cursor, or from it on, up to another, oldest first."""
    found = await db.one("XRANGE", keys.events(), after if inclusive else f"({after}", to, "COUNT", READ_COUNT)
    return [_read(entry, pairs) for entry, pairs in found]


async def replay(db: Database, after: str, to: str) -> AsyncIterator[Event]:
    """Yield the events after one cursor up to another, oldest first."""
    while position(after) < position(to) and (batch := await between(db, after, to)):
        for event in batch:
            yield event
        after = batch[-1].cursor


async def newest(db: Database) -> str:
    """Return the cursor of the newest event ever appended."""
    (info,) = await db.run([("XINFO", "STREAM", keys.events())])
    return "0-0" if isinstance(info, Exception) else str(read_pairs(info)["last-generated-id"])


async def is_kept(db: Database, cursor: str) -> bool:
    """Return whether everything after a cursor is still in the log, and the cursor is not from elsewhere."""
    first, info = await db.run([("XRANGE", keys.events(), "-", "+", "COUNT", 1), ("XINFO", "STREAM", keys.events())])
    if isinstance(info, Exception):
        return cursor == "0-0"  # nothing has ever happened
    facts = read_pairs(info)
    nothing_trimmed = facts["entries-added"] == facts["length"]
    oldest = first[0][0] if first else facts["last-generated-id"]
    return position(cursor) <= position(facts["last-generated-id"]) and (
        nothing_trimmed or position(cursor) >= position(oldest)
    )


def position(cursor: str) -> tuple[int, int]:
    """Return a cursor as what it is ordered by: milliseconds and number; raises ValueError where it is none."""
    milliseconds, _, number = cursor.partition("-")
    return int(milliseconds), int(number)


def _read(entry: str, pairs: Sequence[str]) -> Event:
    told = read_pairs(pairs)
    # A newer process may tell more than this one knows of.
    about: dict[str, Any] = {name: int(value) for name, value in told.items() if name in _NUMBERS}
    about |= {name: value for name, value in told.items() if name in _WORDS}
    return Event(cursor=entry, kind=told["kind"], **about)


class Watcher(Protocol):
    """Who is handed every event."""

    def offer(self, event: Event) -> None:
        """Take an event; must not wait."""

    def lose(self, cursor: str) -> None:
        """Learn that events up to a cursor were lost."""


class Follower:
    """One reader's place in the live log: a bounded queue of the events by those it follows."""

    def __init__(self, limit: int, since: str) -> None:
        self.since = since  # events up to this one were dispatched before the queue began
        self.actors: set[int] = set()
        self._limit = limit
        self._queue: deque[Event] = deque()
        self._lost = ""
        self._filled = asyncio.Event()

    def offer(self, event: Event) -> None:
        """Queue an event; a reader too slow for its queue loses it whole and is told so."""
        if self._lost or len(self._queue) >= self._limit:
            self.lose(event.cursor)
            return
        self._queue.append(event)
        self._filled.set()

    def lose(self, cursor: str) -> None:
        """Let go of everything up to a cursor; the reader is told so."""
        self._queue.clear()
        self._lost = cursor
        self._filled.set()

    async def take(self) -> Event | str:
        """Wait for the next event; a text instead of an event is a gap, and the cursor to go on from."""
        await self._filled.wait()
        if self._lost:
            lost, self._lost = self._lost, ""
            self._filled.clear()
            return lost
        event = self._queue.popleft()
        if not self._queue:
            self._filled.clear()
        return event


class Log:
    """The process's reader of the log: hands each event to those who follow its actor, and to nobody else."""

    def __init__(self, db: Database, hearing: Hearing) -> None:
        self._db = db
        self._hearing = hearing
        self._by_actor: dict[int, set[Follower]] = defaultdict(set)
        self._woken = asyncio.Event()
        self._watchers: list[Watcher] = []
        self._task: asyncio.Task[None] | None = None
        self._has_read = False  # whether the event at the cursor was in the log
        self.cursor = "0-0"

    async def start(self) -> None:
        """Read on from the newest event."""
        self.cursor = await newest(self._db)
        await self._hearing.listen(WAKE, lambda _: self._woken.set())
        self._task = asyncio.create_task(self._read_on(), name="event log")

    async def close(self) -> None:
        """Stop reading."""
        await stop(self._task)

    def watch(self, watcher: Watcher) -> None:
        """Have every event handed to a watcher, and be told of those that were lost."""
        self._watchers.append(watcher)

    def follow(self, actors: Iterable[int]) -> Follower:
        """Return a place in the log for events of some actors from now on."""
        follower = Follower(self._db.settings.subscriber_queue, self.cursor)
        for actor in actors:
            self.add(follower, actor)
        return follower

    def add(self, follower: Follower, actor: int) -> None:
        """Let a follower have the events of one more actor."""
        follower.actors.add(actor)
        self._by_actor[actor].add(follower)

    def remove(self, follower: Follower, actor: int) -> None:
        """Let a follower have no more events of an actor."""
        follower.actors.discard(actor)
        followers = self._by_actor.get(actor)
        if followers:
            followers.discard(follower)
            if not followers:
                del self._by_actor[actor]

    def unfollow(self, follower: Follower) -> None:
        """Give a place up."""
        for actor in list(follower.actors):
            self.remove(follower, actor)

    async def _read_on(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                while batch := await self._read_batch():
                    for event in batch:
                        self._dispatch(event)
            except (Unavailable, RedisError) as error:
                log.warning("event_log_unread", error=str(error))
                self._woken.set()
                await asyncio.sleep(RETRY_SECONDS)

    async def _read_batch(self) -> list[Event]:
        # The event read last is read again: where it has gone from the log, others after it may have gone unread.
        batch = await between(self._db, self.cursor, inclusive=True)
        if batch and batch[0].cursor == self.cursor:
            return batch[1:]
        if self._has_read:
            self._has_read = False
            for follower in set().union(*self._by_actor.values()):
                follower.lose(self.cursor)
            for watcher in self._watchers:
                watcher.lose(self.cursor)
        return batch

    def _dispatch(self, event: Event) -> None:
        self.cursor, self._has_read = event.cursor, True
        for follower in list(self._by_actor.get(event.actor, ())):
            follower.offer(event)
        for watcher in self._watchers:
            watcher.offer(event)
