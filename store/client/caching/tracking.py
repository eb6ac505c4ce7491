"""Connections on which a node tracks what is read, and readings that are spread over several of them."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from store import keys
from store.client.breaker import CircuitBreaker
from store.client.caching.values import Changed, Owner, Reading, hand_out
from store.client.connection import Commands, RedisConnection
from store.client.outages import Redirected, Unavailable
from store.client.slots import key_of, tag_of

PRESENT = "1"  # The value of each marker.


class Invalidated(Protocol):
    """The caches that a connection invalidates."""

    clearings: int  # how often everything was dropped

    def drop(self, key: str) -> tuple[str, Owner] | None:
        """Drop every value read from a changed key; returns its kind and owner, None for a kind without a cache."""

    def clear(self) -> None:
        """Drop everything."""

    def forget(self, spread: "Spread") -> None:
        """Note that a reading on several nodes has ended."""


class Tracked(RedisConnection):
    """A connection on which the server tracks reads and pushes invalidations."""

    def __init__(
        self, connection: AbstractConnection, reply_seconds: float, cache: Invalidated, breaker: CircuitBreaker
    ) -> None:
        super().__init__(connection, reply_seconds, breaker)
        self._breaker: CircuitBreaker = breaker
        self._cache = cache
        self._changed: Changed | None = set()  # Since the first reply of the oldest batch awaited. None: everything.
        self._checking: asyncio.Future[list[Any]] | None = None
        self.marked: dict[str, str] = {}  # Markers that are tracked, by the tag of their slot.

    @property
    def is_usable(self) -> bool:
        """Whether it is open, and its server has not left any connection of this process without an answer."""
        return self.is_open and not self._breaker.is_open

    def read(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]]:
        """Send the commands of some readings; their `take` is called in the order in which replies arrive."""

        def take(replies: list[Any]) -> None:
            changed, self._changed = self._changed, set()
            hand_out(readings, replies, changed)

        return self.send([command for reading in readings for command in reading.commands], take)

    def check(self) -> asyncio.Future[list[Any]]:
        """Send the check; callers in the same turn of the event loop share it."""
        if self._checking is None:
            marker = next(iter(self.marked.values()), None)
            self._checking = self.send([("GET", marker) if marker else ("PING",)])
            asyncio.get_running_loop().call_soon(self._checked)
        return self._checking

    def _checked(self) -> None:
        self._checking = None

    def mark(self, tags: Iterable[str]) -> None:
        """Track the markers of the slots of some tags, unless they are tracked already."""
        new = {tag: keys.slot(tag) for tag in tags if tag not in self.marked}
        if not new:
            return
        clearings = self._cache.clearings

        def note(replied: asyncio.Future[list[Any]]) -> None:
            if replied.cancelled() or replied.exception():
                return
            if set(replied.result()[1::2]) != {PRESENT}:
                self._cache.clear()
            elif clearings == self._cache.clearings:
                self.marked |= new

        steps = [step for marker in new.values() for step in (("SET", marker, PRESENT, "NX"), ("GET", marker))]
        self.send(steps).add_done_callback(note)

    def _take_push(self, push: Sequence[Any], *, is_overtaking: bool) -> None:
        if push[0] != "invalidate":
            return
        names = push[1]
        if names is None:  # the whole database was emptied
            self._cache.clear()
            self._changed = None if is_overtaking else self._changed
            return
        for name in names:
            dropped = self._cache.drop(name)
            if dropped and is_overtaking and self._changed is not None:
                self._changed.add(dropped)

    def _end(self, error: Exception) -> None:
        self._cache.clear()
        super()._end(error)


class Spread:
    """Readings whose commands go to several nodes. They get their replies once all have arrived."""

    def __init__(self, cache: Invalidated, readings: Sequence[Reading], commands: Commands) -> None:
        self._cache = cache
        self._readings = readings
        self._commands = commands
        self._replies: list[Any] = [None] * len(commands)
        self._changed: Changed | None = set()  # Since this was sent. None: everything.
        self._left = 0  # Parts without replies.
        self._refusal: Unavailable | None = None
        self.done: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def note(self, changed: tuple[str, Owner] | None) -> None:
        """Note the kind and owner of a changed key, None for all keys."""
        if changed is None:
            self._changed = None
        elif self._changed is not None:
            self._changed.add(changed)

    def send(self, parts: Mapping[Tracked, list[int]]) -> None:
        """Send the commands at some places to each node, and a check where there are none."""
        self._left = len(parts)
        for connection, places in parts.items():
            commands = [self._commands[i] for i in places]
            connection.mark({tag_of(key_of(command) or "") for command in commands})
            replied = connection.send(commands) if commands else connection.check()
            replied.add_done_callback(partial(self._receive, places))
        if not parts:
            self._end(None)

    def _receive(self, places: list[int], replied: asyncio.Future[list[Any]]) -> None:
        self._left -= 1
        error = RedisConnectionError("cancelled") if replied.cancelled() else replied.exception()
        if error:
            self._end(error)
            return
        replies = replied.result()
        refusals = [reply for reply in replies if type(reply) in (Redirected, Unavailable)]
        if not places and replies != [PRESENT]:
            refusals.append(Redirected("MOVED: a marker is gone", "MOVED"))
        if refusals:
            self._refusal = refusals[0]
            self._cache.clear()
        for i, reply in zip(places, replies, strict=False):  # the reply to a check has no place
            self._replies[i] = reply
        if not self._left:
            self._end(None)

    def _end(self, error: BaseException | None) -> None:
        self._cache.forget(self)
        if self.done.done():
            return
        if error:
            self.done.set_exception(error)
            self.done.exception()  # marks it as retrieved: the caller may have been cancelled
        elif self._refusal:
            self.done.set_result([self._refusal])
        else:
            hand_out(self._readings, self._replies, self._changed)
            self.done.set_result(self._replies)
