"""Receives the events of the log, once per process, and hands them to subscribers and watchers.

An announcement carries its event, and the cursor of the event before it. So an event that follows on the last one is
handed out at once. The log is read only when an event is missing: at the start, or after a lost message or connection.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Protocol

import structlog
from redis.exceptions import RedisError

from store.client.database import Database, Unavailable
from store.client.metering import METER
from store.client.pubsub import PubSub
from store.client.tasks import stop
from store.events import log as events
from store.events.log import CHANNEL, START, Event, newest, position, replay

RETRY_SECONDS = 1  # pause after the log could not be read

log = structlog.get_logger()


class Watcher(Protocol):
    """A receiver of every event."""

    @property
    def reads_content(self) -> bool:
        """Whether it needs the contents of posts."""

    def offer(self, event: Event) -> None:
        """Take an event, without waiting."""

    def lose(self, cursor: str) -> None:
        """Note that events up to a cursor were lost."""


class Subscriber:
    """One subscriber to the event log: a bounded queue of the events by the actors it follows."""

    def __init__(self, limit: int, since: str, owner: int | None = None) -> None:
        self.since = since  # events up to this one were dispatched before the queue began
        self.owner = owner  # the member whose new follows are added to `actors`
        self.actors: set[int] = set()
        self._limit = limit
        self._queue: deque[Event] = deque()
        self._lost = ""
        self._is_in_log = True  # whether the lost events can still be read from the log
        self._waiting: asyncio.Future[None] | None = None  # the one caller of `take`

    def offer(self, event: Event) -> None:
        """Queue an event. A full queue is dropped whole, and the subscriber learns that from `take` or `reread`."""
        self.hold(event)
        self.wake()

    def hold(self, event: Event) -> None:
        """Queue an event as `offer` does, but leave an idle subscriber idle: the caller skips the event or wakes it."""
        if self._lost or len(self._queue) >= self._limit:
            self._drop(event.cursor)
        else:
            self._queue.append(event)

    def lose(self, cursor: str) -> None:
        """Drop everything up to a cursor, which the log cannot supply either; `take` reports it as a gap."""
        self._is_in_log = False
        self._drop(cursor)

    def _drop(self, cursor: str) -> None:
        self._queue.clear()
        self._lost = cursor
        self.wake()

    def wake(self) -> None:
        """Let `take` look at the queue again."""
        # An Event would take more time for each of many subscribers.
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    @property
    def is_idle(self) -> bool:
        """Whether the caller of `take` waits, and nothing has woken it yet. So it has handled all earlier events."""
        return self._waiting is not None and not self._waiting.done()

    def is_next(self, event: Event) -> bool:
        """Return whether the subscriber is idle, and an event that it holds is the first of its queue."""
        return self.is_idle and bool(self._queue) and self._queue[0] is event

    def skip(self) -> None:
        """Remove the first event of the queue, which `take` then does not return."""
        self._queue.popleft()

    @property
    def has_gap(self) -> bool:
        """Return whether `take` reports a gap next, even if the subscriber still reads the log before that."""
        return bool(self._lost) and not self._is_in_log

    def is_past(self, event: Event) -> bool:
        """Return whether an event was dispatched before the queue began."""
        return position(event.cursor) <= position(self.since)

    def reread(self) -> str:
        """Restart a queue that was dropped if the log still has its events.

        Returns the cursor up to which to read the log, "" if there is nothing to read.
        """
        return self._forget() if self._lost and self._is_in_log else ""

    def _forget(self) -> str:
        self.since, self._lost, self._is_in_log = self._lost, "", True
        return self.since

    async def take(self) -> Event | str:
        """Wait for the next event and return it; a text instead is a gap, and the cursor from which to continue."""
        while not self._lost and not self._queue:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        if self._lost:
            METER.gaps += 1
            return self._forget()
        return self._queue.popleft()


async def since(
    db: Database, subscriber: Subscriber, cursor: str, *, has_content: bool = False
) -> AsyncGenerator[Event | str, None]:
    """Yield the events after a cursor: first from the log, then from the subscriber's queue.

    A text instead of an event is a gap, and the cursor from which to continue. A queue that overflows while the log is
    read is no gap: those events are read from the log, too. `has_content` is that of `replay`.
    """
    to = subscriber.since
    while to:
        async with aclosing(replay(db, cursor, to, has_content=has_content)) as past:
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
    """The process's place in the event log. It hands each event to the subscribers that follow its actor."""

    def __init__(self, db: Database, pubsub: PubSub) -> None:
        self._db = db
        self._pubsub = pubsub
        self._by_actor: dict[int, set[Subscriber]] = defaultdict(set)
        self._woken = asyncio.Event()
        self._watchers: list[Watcher] = []
        self._task: asyncio.Task[None] | None = None
        self._has_read = False  # whether the log had the event at the cursor
        self._is_reading = False  # whether the log is being read, so that events must not be handed out past it
        self.cursor = START

    async def start(self) -> None:
        """Begin to read, after the newest event."""
        await self._skip()
        self._pubsub.listen(CHANNEL, self._hear)
        self._task = asyncio.create_task(self._read_on(), name="event log")

    async def close(self) -> None:
        """Stop reading."""
        await stop(self._task)

    def watch(self, watcher: Watcher) -> None:
        """Hand every event to a watcher, and report lost events to it."""
        self._watchers.append(watcher)

    def follow(self, actors: Iterable[int], owner: int | None = None) -> Subscriber:
        """Return a subscriber to the events of some actors from now on.

        With an owner, each member whom the owner follows later is added as an actor. That takes effect at the event of
        the follow in the log, even when the subscriber takes that event much later.
        """
        subscriber = Subscriber(self._db.settings.subscriber_queue, self.cursor, owner)
        for actor in actors:
            self.add(subscriber, actor)
        return subscriber

    def add(self, subscriber: Subscriber, actor: int) -> None:
        """Subscribe a subscriber to one more actor."""
        subscriber.actors.add(actor)
        self._by_actor[actor].add(subscriber)

    def remove(self, subscriber: Subscriber, actor: int) -> None:
        """Unsubscribe a subscriber from an actor."""
        subscriber.actors.discard(actor)
        followers = self._by_actor.get(actor)
        if followers:
            followers.discard(subscriber)
            if not followers:
                del self._by_actor[actor]

    def unfollow(self, subscriber: Subscriber) -> None:
        """Remove a subscriber."""
        for actor in list(subscriber.actors):
            self.remove(subscriber, actor)

    def _hear(self, message: str) -> None:
        """Hand out an announced event if it comes next; otherwise wake the reader of the log."""
        if message and not self._is_reading:
            before, event = events.announced(message)
            if before == self.cursor:
                self._dispatch(event)
                return
        self._woken.set()

    async def _read_on(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            self._is_reading = True
            try:
                while await self._read_batch():
                    pass  # an event appended after a batch that is not full wakes the reader again
            except (Unavailable, RedisError) as error:
                if isinstance(error, RedisError):  # Unavailable has been logged already
                    log.warning("event_log_unread", error=str(error))
                self._woken.set()
                await asyncio.sleep(RETRY_SECONDS)
            finally:
                self._is_reading = False

    async def _read_batch(self) -> bool:
        """Hand out the next events; True if there may be more of them."""
        # The last event is read again: if it is gone from the log, later events may have been trimmed unread.
        batch = await events.between(self._db, self.cursor, inclusive=True)
        follows_on = bool(batch) and batch[0].cursor == self.cursor
        if follows_on or not self._has_read:
            new = batch[follows_on:]
            if any(watcher.reads_content for watcher in self._watchers):
                new = await events.with_content(self._db, new)
            for event in new:
                self._dispatch(event)
            return len(batch) >= events.READ_COUNT
        await self._skip()
        for subscriber in set().union(*self._by_actor.values()):
            subscriber.lose(self.cursor)
        for watcher in self._watchers:
            watcher.lose(self.cursor)
        return False

    async def _skip(self) -> None:
        """Continue after the newest event. In a store restored from a backup, it is older than the last one read."""
        cursor = await newest(self._db)
        has_read = bool(await events.between(self._db, cursor, cursor, inclusive=True))
        # Without an await in between: a new subscriber must not see one without the other.
        self.cursor, self._has_read = cursor, has_read

    def _dispatch(self, event: Event) -> None:
        self.cursor, self._has_read = event.cursor, True
        METER.events += 1
        for subscriber in list(self._by_actor.get(event.actor, ())):
            if event.kind == "follow" and subscriber.owner == event.actor:
                self.add(subscriber, event.member)
            subscriber.offer(event)
        for watcher in self._watchers:
            watcher.offer(event)
