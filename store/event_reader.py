"""The live log: the one reader a process has of what happens on the site, and those whom it hands events to."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Protocol

import structlog
from redis.exceptions import RedisError

from store import events
from store.client.database import Database, Unavailable
from store.client.pubsub import PubSub
from store.client.tasks import stop
from store.events import START, WAKE, Event, newest, position, replay

RETRY_SECONDS = 1  # pause after the log could not be read

log = structlog.get_logger()


class Watcher(Protocol):
    """Who is handed every event."""

    def offer(self, event: Event) -> None:
        """Take an event; must not wait."""

    def lose(self, cursor: str) -> None:
        """Learn that events up to a cursor were lost."""


class Subscriber:
    """One reader's place in the live log: a bounded queue of the events by those it follows."""

    def __init__(self, limit: int, since: str, owner: int | None = None) -> None:
        self.since = since  # events up to this one were dispatched before the queue began
        self.owner = owner  # whose new follows are followed here, too
        self.actors: set[int] = set()
        self._limit = limit
        self._queue: deque[Event] = deque()
        self._lost = ""
        self._is_in_log = True  # whether what was lost can still be read there
        self._filled = asyncio.Event()

    def offer(self, event: Event) -> None:
        """Queue an event; a reader too slow for its queue loses it whole and is told so."""
        if self._lost or len(self._queue) >= self._limit:
            self._drop(event.cursor)
            return
        self._queue.append(event)
        self._filled.set()

    def lose(self, cursor: str) -> None:
        """Let go of everything up to a cursor, to be read in no other way; the reader is told so."""
        self._is_in_log = False
        self._drop(cursor)

    def _drop(self, cursor: str) -> None:
        self._queue.clear()
        self._lost = cursor
        self._filled.set()

    @property
    def has_gap(self) -> bool:
        """Return whether a gap is what the reader gets next, whatever it reads in the log before that."""
        return bool(self._lost) and not self._is_in_log

    def is_past(self, event: Event) -> bool:
        """Return whether an event was dispatched before the queue began."""
        return position(event.cursor) <= position(self.since)

    def reread(self) -> str:
        """Begin the queue anew if it is lost and the log still has it: return up to where to read, or ""."""
        return self._forget() if self._lost and self._is_in_log else ""

    def _forget(self) -> str:
        self.since, self._lost, self._is_in_log = self._lost, "", True
        self._filled.clear()
        return self.since

    async def take(self) -> Event | str:
        """Wait for the next event; a text instead of an event is a gap, and the cursor to go on from."""
        await self._filled.wait()
        if self._lost:
            return self._forget()
        event = self._queue.popleft()
        if not self._queue:
            self._filled.clear()
        return event


async def since(db: Database, subscriber: Subscriber, cursor: str) -> AsyncGenerator[Event | str, None]:
    """Yield what comes after a cursor: all that the log has of it, then what the follower is handed.

    A text instead of an event is a gap, and the cursor to go on from. A queue that overflows while the log is read is
    no gap: that part is read in the log, too.
    """
    to = subscriber.since
    while to:
        async with aclosing(replay(db, cursor, to)) as past:
            async for event in past:
                cursor = event.cursor if event else to
                yield event or to
        to = subscriber.reread()
    while True:
        taken = await subscriber.take()
        if isinstance(taken, str):
            cursor = taken
            yield taken
        elif position(taken.cursor) > position(cursor):
            cursor = taken.cursor
            yield taken


class Log:
    """The process's reader of the log: hands each event to those who follow its actor, and to nobody else."""

    def __init__(self, db: Database, pubsub: PubSub) -> None:
        self._db = db
        self._hearing = pubsub
        self._by_actor: dict[int, set[Subscriber]] = defaultdict(set)
        self._woken = asyncio.Event()
        self._watchers: list[Watcher] = []
        self._task: asyncio.Task[None] | None = None
        self._has_read = False  # whether the log had the event at the cursor
        self.cursor = START

    async def start(self) -> None:
        """Read on from the newest event."""
        await self._skip()
        self._hearing.listen(WAKE, lambda _: self._woken.set())
        self._task = asyncio.create_task(self._read_on(), name="event log")

    async def close(self) -> None:
        """Stop reading."""
        await stop(self._task)

    def watch(self, watcher: Watcher) -> None:
        """Have every event handed to a watcher, and be told of those that were lost."""
        self._watchers.append(watcher)

    def follow(self, actors: Iterable[int], owner: int | None = None) -> Subscriber:
        """Return a place in the log for events of some actors from now on.

        Of an owner, also for events of those they follow from then on: they count from the event of the follow, which
        may be evaluated much later.
        """
        subscriber = Subscriber(self._db.settings.subscriber_queue, self.cursor, owner)
        for actor in actors:
            self.add(subscriber, actor)
        return subscriber

    def add(self, subscriber: Subscriber, actor: int) -> None:
        """Let a follower have the events of one more actor."""
        subscriber.actors.add(actor)
        self._by_actor[actor].add(subscriber)

    def remove(self, subscriber: Subscriber, actor: int) -> None:
        """Let a follower have no more events of an actor."""
        subscriber.actors.discard(actor)
        followers = self._by_actor.get(actor)
        if followers:
            followers.discard(subscriber)
            if not followers:
                del self._by_actor[actor]

    def unfollow(self, subscriber: Subscriber) -> None:
        """Give a place up."""
        for actor in list(subscriber.actors):
            self.remove(subscriber, actor)

    async def _read_on(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                while await self._read_batch():
                    pass  # what comes after a batch that is not full wakes the reader once more
            except (Unavailable, RedisError) as error:
                if isinstance(error, RedisError):  # what is Unavailable has been logged
                    log.warning("event_log_unread", error=str(error))
                self._woken.set()
                await asyncio.sleep(RETRY_SECONDS)

    async def _read_batch(self) -> bool:
        """Hand out the next events; True where there may be more of them."""
        # The event read last is read again: where it has gone from the log, others after it may have gone unread.
        batch = await events.between(self._db, self.cursor, inclusive=True)
        follows_on = bool(batch) and batch[0].cursor == self.cursor
        if follows_on or not self._has_read:
            for event in batch[follows_on:]:
                self._dispatch(event)
            return len(batch) >= events.READ_COUNT
        await self._skip()
        for subscriber in set().union(*self._by_actor.values()):
            subscriber.lose(self.cursor)
        for watcher in self._watchers:
            watcher.lose(self.cursor)
        return False

    async def _skip(self) -> None:
        """Go on from the newest event; of a store that was put back it is older than what was read."""
        cursor = await newest(self._db)
        has_read = bool(await events.between(self._db, cursor, cursor, inclusive=True))
        self.cursor, self._has_read = cursor, has_read  # together: whoever takes a place has the one or the other

    def _dispatch(self, event: Event) -> None:
        self.cursor, self._has_read = event.cursor, True
        for subscriber in list(self._by_actor.get(event.actor, ())):
            if event.kind == "follow" and subscriber.owner == event.actor:
                self.add(subscriber, event.member)
            subscriber.offer(event)
        for watcher in self._watchers:
            watcher.offer(event)
