"""Client-side cache of records and relations, invalidated by the server (CLIENT TRACKING).

Most pages show the same posts and members again, so most of what a page needs is cached already. The cache reads
through one connection of its own, on which the server tracks the keys that it sends. When such a key changes, the
server pushes an invalidation with its name.

Invalidations and replies share one connection, in order. So after any round trip, every cached value is at least as
fresh as a read made when the operation began. `Cache.begin` makes that round trip. It sends the reads that an operation
needs. Where there are none, it sends a PING, shared by all operations that begin in the same turn of the event loop.

Invariants:
- A cached value equals the stored one, or its invalidation is on its way behind the replies that have arrived.
- An invalidation between the replies of one batch overtakes them. The values of its keys go to the callers, but not
  into the cache.
- Losing the connection empties the cache.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import structlog
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from store.client.connection import Commands, RedisConnection, connect
from store.client.outages import Unavailable

RELATIONS_KEPT = 500  # Cached relations of one member.
OWNERS_KEPT = 1_000  # Members whose relations are cached, in each cache of relations.

Owner: TypeAlias = int | str  # The owner of a key is the id that ends it, or else the text in the braces that end it.
Changed: TypeAlias = set[tuple[str, Owner]]  # Kind and owner of each changed key.

log = structlog.get_logger(__name__)


class CachedValues(Protocol):
    """A cache of values by id."""

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the cached values among some ids."""

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache values that were read, except those that have changed since."""


class Reading(Protocol):
    """Commands whose replies may be cached."""

    @property
    def commands(self) -> Commands:
        """The commands to send."""

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        """Take the replies, without waiting; where `changed` is None, nothing may be cached."""


def hand_out(readings: Iterable[Reading], replies: list[Any], changed: Changed | None) -> None:
    """Give each reading the replies to its own commands."""
    start = 0
    for reading in readings:
        end = start + len(reading.commands)
        reading.take(replies[start:end], changed)
        start = end


class Records:
    """Cached records of one kind. Those cached longest ago are evicted first."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind = kind
        self._most = most
        self._cached: OrderedDict[Owner, Any] = OrderedDict()

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the cached records among some ids."""
        cached = self._cached
        return {entity_id: cached[entity_id] for entity_id in ids if entity_id in cached}

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache records that were read, except those that have changed since."""
        cached = self._cached
        for entity_id, value in values.items():
            if (self._kind, entity_id) not in changed:
                cached[entity_id] = value
        while len(cached) > self._most:
            cached.popitem(last=False)

    def drop(self, owner: Owner) -> None:
        """Drop the record of a changed key."""
        self._cached.pop(owner, None)

    def clear(self) -> None:
        """Drop everything."""
        self._cached.clear()


class Relations:
    """Cached relations of each owner. A change to any of the owner's keys drops all of them."""

    def __init__(self, kinds: Sequence[str], owners: int, most: int) -> None:
        self._kinds = kinds
        self._owners = owners
        self._most = most
        self._cached: OrderedDict[Owner, dict[Hashable, Any]] = OrderedDict()

    def of(self, owner: Owner) -> CachedValues:
        """Return the cache of one owner's relations."""
        return _Own(self, owner)

    def find(self, owner: Owner, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the owner's cached relations among some ids."""
        cached = self._cached.get(owner)
        return {entity_id: cached[entity_id] for entity_id in ids if entity_id in cached} if cached else {}

    def keep(self, owner: Owner, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache relations that were read, unless one of the owner's keys has changed since."""
        if changed and any((kind, owner) in changed for kind in self._kinds):
            return
        cached = self._cached.get(owner, {})
        self._cached[owner] = {**cached, **values} if len(cached) + len(values) <= self._most else dict(values)
        while len(self._cached) > self._owners:
            self._cached.popitem(last=False)

    def drop(self, owner: Owner) -> None:
        """Drop the relations of an owner."""
        self._cached.pop(owner, None)

    def clear(self) -> None:
        """Drop everything."""
        self._cached.clear()


class _Own:
    """The cache of one owner's relations."""

    def __init__(self, relations: Relations, owner: Owner) -> None:
        self._relations = relations
        self._owner = owner

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        return self._relations.find(self._owner, ids)

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        self._relations.keep(self._owner, values, changed)


class Cache:
    """The caches of this process, and the tracked connection that invalidates them."""

    def __init__(self, make: Callable[[], AbstractConnection], most: int, reply_seconds: float) -> None:
        self._make = make
        self._most = most
        self._reply_seconds = reply_seconds
        self._caches: dict[str, list[Records | Relations]] = {}
        self._tracked: _Tracked | None = None
        self._opening = asyncio.Lock()
        self._synchronising: asyncio.Future[list[Any]] | None = None
        self.is_on = most > 0

    def records(self, kind: str) -> Records:
        """Return a new cache of the records whose keys are of one kind."""
        cached = Records(kind, self._most)
        self._caches.setdefault(kind, []).append(cached)
        return cached

    def relations(self, *kinds: str, owners: int = OWNERS_KEPT, most: int = RELATIONS_KEPT) -> Relations:
        """Return a new cache of relations that are read from keys of some kinds.

        It holds the relations of at most `owners` owners. A batch that takes an owner beyond `most` replaces what is
        cached of that owner.
        """
        cached = Relations(kinds, owners, most)
        for kind in kinds:
            self._caches.setdefault(kind, []).append(cached)
        return cached

    async def begin(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        """Send the commands of some readings; once the future is done, every cached value is as fresh as this call.

        Returns None where the server does not support tracking, so that nothing may be cached.
        Raises redis-py's ConnectionError and TimeoutError, and OSError.
        """
        connection = self._tracked
        if connection is None or not connection.is_open:
            await self._open()
        return self.begin_at_once(readings)

    def begin_at_once(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        """Do what `begin` does, without waiting; returns None also where the connection must be opened first."""
        connection = self._tracked
        if not self.is_on or connection is None or not connection.is_open:
            return None
        return connection.read(readings) if readings else self._synchronise(connection)

    def _synchronise(self, connection: _Tracked) -> asyncio.Future[list[Any]]:
        if self._synchronising is None:
            self._synchronising = connection.send([("PING",)])
            asyncio.get_running_loop().call_soon(self._synchronised)
        return self._synchronising

    def _synchronised(self) -> None:
        self._synchronising = None

    async def _open(self) -> _Tracked:
        async with self._opening:
            if not self.is_on:
                raise RedisConnectionError("the connections were closed")
            if self._tracked is not None:  # not by its truth: a connection has a length, which may be 0
                if self._tracked.is_open:
                    return self._tracked  # another caller has opened it meanwhile
                await self._tracked.close()
            connection = await connect(self._make, lambda made: _Tracked(made, self._reply_seconds, self))
            try:
                (answer,) = await connection.send([("CLIENT", "TRACKING", "ON")])
            except BaseException:
                await connection.close()
                raise
            if type(answer) is Unavailable:
                await connection.close()
                raise RedisConnectionError(str(answer))
            if isinstance(answer, Exception):
                log.warning("nothing_is_kept", reason=f"the store does not track what is read: {answer}")
                self.is_on = False
            self._tracked = connection  # only now: nothing may be read through it before tracking is on
            return connection

    def drop(self, key: str) -> tuple[str, Owner] | None:
        """Drop every value read from a changed key; returns its kind and owner, None for a kind without a cache."""
        kind, _, rest = key.partition(":")
        caches = self._caches.get(kind)
        if caches is None:
            return None
        tail = rest.rpartition(":")[2]
        owner = tail[1:-1] if tail.startswith("{") else int(tail)
        for cached in caches:
            cached.drop(owner)
        return kind, owner

    def clear(self) -> None:
        """Drop everything."""
        for caches in self._caches.values():
            for cached in caches:
                cached.clear()

    async def close(self) -> None:
        """Close the connection once all commands have been answered. It cannot be opened again."""
        async with self._opening:
            self.is_on = False
            if self._tracked is not None:
                await self._tracked.close()
            self.clear()


class _Tracked(RedisConnection):
    """The connection on which the server tracks reads and pushes invalidations."""

    def __init__(self, connection: AbstractConnection, reply_seconds: float, cache: Cache) -> None:
        super().__init__(connection, reply_seconds)
        self._cache = cache
        self._changed: Changed | None = set()  # Since the first reply of the oldest batch awaited. None: everything.

    def read(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]]:
        """Send the commands of some readings; their `take` is called in the order in which replies arrive."""

        def take(replies: list[Any]) -> None:
            changed, self._changed = self._changed, set()
            hand_out(readings, replies, changed)

        return self.send([command for reading in readings for command in reading.commands], take)

    def _take_push(self, push: Sequence[Any], *, is_overtaking: bool) -> None:
        if push[0] != "invalidate":
            return
        keys = push[1]
        if keys is None:  # the whole database was emptied
            self._cache.clear()
            self._changed = None if is_overtaking else self._changed
            return
        for key in keys:
            dropped = self._cache.drop(key)
            if dropped and is_overtaking and self._changed is not None:
                self._changed.add(dropped)

    def _end(self, error: Exception) -> None:
        self._cache.clear()
        super()._end(error)
