"""Records and relations that were read, kept until the store says that they have changed (client-side caching).

Most pages show the same posts and members again, so most of what a page needs is here already. It is read through one
connection of its own on which the server tracks what it sends: it pushes the name of a key as soon as that changes, in
the same stream as the replies. So whoever has had any reply on this connection since they began has heard of every
change that was made before they began; what they find here then is no older than what they would be sent. That reply
is what `Mirror.begin` waits for: to what is read anew or, where nothing is, to a PING that all share who begin in the
same turn of the event loop.

Invariants: what is kept is as the store has it, or the push that says otherwise is on its way behind the replies that
are here. A push that comes between the replies of one batch overtakes them: what it names is handed on, and not kept.
With the connection all that is kept goes.
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

RELATIONS_KEPT = 500  # of one member
OWNERS_KEPT = 1_000  # members whose relations are kept, of each sort

Owner: TypeAlias = int | str  # whose key it is: a thing or member, or else what stands in braces at its end
Changed: TypeAlias = set[tuple[str, Owner]]  # kinds of keys, and whose they are

log = structlog.get_logger(__name__)


class CachedValues(Protocol):
    """Where things are kept by their ids."""

    def find(self, things: Iterable[Any]) -> dict[Any, Any]:
        """Return those that are kept."""

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        """Keep what was read, but for what has changed since."""


class Reading(Protocol):
    """Commands whose replies may be kept."""

    @property
    def commands(self) -> Commands:
        """What to send."""

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        """Take the replies, at once; where `changed` is None, nothing may be kept."""


def hand_out(readings: Iterable[Reading], replies: list[Any], changed: Changed | None) -> None:
    """Have each reading take the replies to its own commands."""
    start = 0
    for reading in readings:
        end = start + len(reading.commands)
        reading.take(replies[start:end], changed)
        start = end


class Records:
    """Records of one kind, those read longest ago forgotten first."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind = kind
        self._most = most
        self._kept: OrderedDict[Owner, Any] = OrderedDict()

    def find(self, things: Iterable[Any]) -> dict[Any, Any]:
        """Return those that are kept."""
        kept = self._kept
        return {thing: kept[thing] for thing in things if thing in kept}

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        """Keep what was read, but for what has changed since."""
        kept = self._kept
        for thing, value in values.items():
            if (self._kind, thing) not in changed:
                kept[thing] = value
        while len(kept) > self._most:
            kept.popitem(last=False)

    def drop(self, thing: Owner) -> None:
        """Forget what has changed."""
        self._kept.pop(thing, None)

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()


class Relations:
    """What several things are to one owner, by whose keys tell it; one of the keys has changed, and all that goes."""

    def __init__(self, kinds: Sequence[str], owners: int, most: int) -> None:
        self._kinds = kinds
        self._owners = owners
        self._most = most
        self._kept: OrderedDict[Owner, dict[Hashable, Any]] = OrderedDict()

    def of(self, owner: Owner) -> CachedValues:
        """Return where the relations of one owner are kept."""
        return _Own(self, owner)

    def find(self, owner: Owner, things: Iterable[Any]) -> dict[Any, Any]:
        """Return those that are kept."""
        kept = self._kept.get(owner)
        return {thing: kept[thing] for thing in things if thing in kept} if kept else {}

    def keep(self, owner: Owner, values: Mapping[Any, Any], changed: Changed) -> None:
        """Keep what was read, unless one of the keys has changed since."""
        if changed and any((kind, owner) in changed for kind in self._kinds):
            return
        known = self._kept.get(owner, {})
        self._kept[owner] = {**known, **values} if len(known) + len(values) <= self._most else dict(values)
        while len(self._kept) > self._owners:
            self._kept.popitem(last=False)

    def drop(self, owner: Owner) -> None:
        """Forget what has changed."""
        self._kept.pop(owner, None)

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()


class _Own:
    """Where the relations of one owner are kept."""

    def __init__(self, relations: Relations, owner: Owner) -> None:
        self._relations = relations
        self._owner = owner

    def find(self, things: Iterable[Any]) -> dict[Any, Any]:
        return self._relations.find(self._owner, things)

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        self._relations.keep(self._owner, values, changed)


class Cache:
    """What this process keeps of the store, and the connection that keeps it right."""

    def __init__(self, make: Callable[[], AbstractConnection], most: int, reply_seconds: float) -> None:
        self._make = make
        self._most = most
        self._reply_seconds = reply_seconds
        self._shelves: dict[str, list[Records | Relations]] = {}
        self._tracked: _Tracked | None = None
        self._opening = asyncio.Lock()
        self._synchronising: asyncio.Future[list[Any]] | None = None
        self.is_on = most > 0

    def records(self, kind: str) -> Records:
        """Return where records are kept whose keys are of a kind."""
        cached = Records(kind, self._most)
        self._shelves.setdefault(kind, []).append(cached)
        return cached

    def relations(self, *kinds: str, owners: int = OWNERS_KEPT, most: int = RELATIONS_KEPT) -> Relations:
        """Return where relations are kept that keys of some kinds tell: of so many owners, and so many of each."""
        cached = Relations(kinds, owners, most)
        for kind in kinds:
            self._shelves.setdefault(kind, []).append(cached)
        return cached

    async def begin(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        """Send what is to be read; once the future is done, all that is kept is as new as this call.

        None where the store does not track what is read, so that nothing may be kept. Raises redis-py's
        ConnectionError and TimeoutError, and OSError.
        """
        wire = self._tracked
        if wire is None or not wire.is_open:
            await self._open()
        return self.begin_at_once(readings)

    def begin_at_once(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        """Do what `begin` does; None also where the connection has to be opened first."""
        wire = self._tracked
        if not self.is_on or wire is None or not wire.is_open:
            return None
        return wire.read(readings) if readings else self._synchronise(wire)

    def _synchronise(self, wire: _Tracked) -> asyncio.Future[list[Any]]:
        if self._synchronising is None:
            self._synchronising = wire.send([("PING",)])
            asyncio.get_running_loop().call_soon(self._synchronised)
        return self._synchronising

    def _synchronised(self) -> None:
        self._synchronising = None

    async def _open(self) -> _Tracked:
        async with self._opening:
            if not self.is_on:
                raise RedisConnectionError("the connections were closed")
            if self._tracked is not None:  # it has a length, which may be nought
                if self._tracked.is_open:
                    return self._tracked  # others have opened it meanwhile
                await self._tracked.close()
            wire = await connect(self._make, lambda made: _Tracked(made, self._reply_seconds, self))
            try:
                (answer,) = await wire.send([("CLIENT", "TRACKING", "ON")])
            except BaseException:
                await wire.close()
                raise
            if type(answer) is Unavailable:
                await wire.close()
                raise RedisConnectionError(str(answer))
            if isinstance(answer, Exception):
                log.warning("nothing_is_kept", reason=f"the store does not track what is read: {answer}")
                self.is_on = False
            self._tracked = wire  # only now: nobody reads through it what might not be tracked
            return wire

    def drop(self, key: str) -> tuple[str, Owner] | None:
        """Forget what a key that has changed told; returns its kind and whose it is."""
        kind, _, rest = key.partition(":")
        shelves = self._shelves.get(kind)
        if shelves is None:
            return None
        tail = rest.rpartition(":")[2]
        owner = tail[1:-1] if tail.startswith("{") else int(tail)
        for cached in shelves:
            cached.drop(owner)
        return kind, owner

    def clear(self) -> None:
        """Forget everything."""
        for shelves in self._shelves.values():
            for cached in shelves:
                cached.clear()

    async def close(self) -> None:
        """Close the connection, once what is under way has been answered; no other is opened any more."""
        async with self._opening:
            self.is_on = False
            if self._tracked is not None:
                await self._tracked.close()
            self.clear()


class _Tracked(RedisConnection):
    """The connection on which the server tells what has changed."""

    def __init__(self, connection: AbstractConnection, reply_seconds: float, cache: Cache) -> None:
        super().__init__(connection, reply_seconds)
        self._cache = cache
        self._changed: Changed | None = set()  # since the first reply of the oldest batch awaited; None: everything

    def read(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]]:
        """Send what is to be read; the replies are taken in the order in which they come."""

        def take(replies: list[Any]) -> None:
            changed, self._changed = self._changed, set()
            hand_out(readings, replies, changed)

        return self.send([command for reading in readings for command in reading.commands], take)

    def _hear(self, news: Sequence[Any], *, is_overtaking: bool) -> None:
        if news[0] != "invalidate":
            return
        keys = news[1]
        if keys is None:  # the whole database was emptied
            self._cache.clear()
            self._changed = None if is_overtaking else self._changed
            return
        for key in keys:
            told = self._cache.drop(key)
            if told and is_overtaking and self._changed is not None:
                self._changed.add(told)

    def _end(self, error: Exception) -> None:
        self._cache.clear()
        super()._end(error)
