"""Client-side caching: the server tracks what is read and says what has changed (CLIENT TRACKING).

Most pages show the same posts and members again, so most of what a page needs is cached already. The cache reads
through a connection of its own to each node, on which the node tracks the keys that it sends. When such a key changes,
the node pushes an invalidation with its name.

Invalidations and replies share one connection, in order. So after a round trip to each node, every cached value is at
least as fresh as a read made when the operation began. `Cache.begin` makes that round trip. It sends the reads that an
operation needs. Where there are none, it sends a check, shared by all operations that begin in the same turn of the
event loop.

On one server the check is a PING. A node of a cluster answers PING whatever it owns, so there the check reads a key. A
node that has lost its slots to a replica, or is cut off from the others, refuses that. A single slot that moves away
is noticed as well: each slot has a marker, a key that always exists. The node tracks the markers of all slots from
which values are cached, and pushes an invalidation when a marker moves, as for any key that exists.

Invariants:
- A cached value equals the stored one, or its invalidation is on its way behind the replies that have arrived.
- An invalidation between the replies of one batch overtakes them. The values of its keys go to the callers, but not
  into the cache.
- Losing a connection empties the cache, and so does a slot that moves or a node that refuses the check.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import structlog
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from store import keys
from store.client.caching.values import (
    OWNERS_KEPT,
    RELATIONS_KEPT,
    VIEWS_KEPT,
    CachedRelations,
    Changed,
    Owner,
    Reading,
    Records,
    Views,
)
from store.client.connection import CircuitBreaker, Commands, RedisConnection, connect
from store.client.metering import METER
from store.client.nodes.one import StoreNode
from store.client.outages import Redirected, Unavailable
from store.client.slots import key_of, tag_of

PRESENT = "1"  # The value of each marker.
_MARKER = "slot"  # The kind of the key that marks a slot.
_COUNTING = {"INCR", "EXPIRE"}  # Commands that read nothing, so that their slots need no markers.

log = structlog.get_logger(__name__)


class CachedNodes(Protocol):
    """The nodes that own the keys."""

    @property
    def is_cluster(self) -> bool:
        """Whether the keys are spread over several nodes."""

    @property
    def trackable(self) -> Sequence[StoreNode]:
        """All nodes."""

    def owner(self, tag: str) -> StoreNode | None:
        """Return the node that owns the keys with a tag."""


def hand_out(readings: Iterable[Reading], replies: list[Any], changed: Changed | None) -> None:
    """Give each reading the replies to its own commands."""
    start = 0
    for reading in readings:
        end = start + len(reading.commands)
        reading.take(replies[start:end], changed)
        start = end


class Tracked(RedisConnection):
    """A connection on which the server tracks reads and pushes invalidations."""

    def __init__(
        self, connection: AbstractConnection, reply_seconds: float, cache: "Cache", breaker: CircuitBreaker
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

    def __init__(self, cache: "Cache", readings: Sequence[Reading], commands: Commands) -> None:
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
            connection.mark({tag_of(key_of(command) or "") for command in commands if command[0] not in _COUNTING})
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


class Cache:
    """The caches of this process, and the tracked connections that invalidate them."""

    def __init__(self, nodes: CachedNodes, most: int, reply_seconds: float) -> None:
        self._nodes = nodes
        self._most = most
        self._reply_seconds = reply_seconds
        self._caches: dict[str, list[Records | CachedRelations | Views]] = {}
        self._tracked: dict[StoreNode, Tracked] = {}
        self._opening = asyncio.Lock()
        self._spreads: set[Spread] = set()  # readings on several nodes that are under way
        self.clearings = 0  # how often everything was dropped
        self.is_on = most > 0

    def records(self, kind: str) -> Records:
        """Return a new cache of the records whose keys are of one kind."""
        cached = Records(kind, self._most)
        self._caches.setdefault(kind, []).append(cached)
        return cached

    def relations(self, *kinds: str, owners: int = OWNERS_KEPT, most: int = RELATIONS_KEPT) -> CachedRelations:
        """Return a new cache of relations that are read from keys of some kinds.

        It holds the relations of at most `owners` owners. A batch that takes an owner beyond `most` replaces what is
        cached of that owner.
        """
        cached = CachedRelations(kinds, owners, most)
        for kind in kinds:
            self._caches.setdefault(kind, []).append(cached)
        return cached

    def views(self, kind: str, most: int = VIEWS_KEPT) -> Views:
        """Return a new cache of values for viewers whose keys are of one kind; it holds at most `most` parts."""
        cached = Views(kind, most)
        self._caches.setdefault(kind, []).append(cached)
        return cached

    async def begin(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        """Send the commands of some readings; once the future is done, every cached value is as fresh as this call.

        Returns None where the server does not support tracking, so that nothing may be cached.
        Raises redis-py's ConnectionError and TimeoutError, and OSError.
        """
        await self._open()
        return self.begin_at_once(readings)

    def begin_at_once(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        """Do what `begin` does, without waiting; returns None also where a connection must be opened first."""
        nodes = self._nodes.trackable
        known = map(self._tracked.get, nodes)
        # Not by its truth: a connection has a length, which may be 0.
        connections = [connection for connection in known if connection is not None and connection.is_usable]
        if not self.is_on or not nodes or len(connections) < len(nodes):
            return None
        if not self._nodes.is_cluster:
            return connections[0].read(readings) if readings else connections[0].check()
        return self._begin_on_cluster(readings, connections)

    def _begin_on_cluster(
        self, readings: Sequence[Reading], connections: Sequence[Tracked]
    ) -> asyncio.Future[list[Any]] | None:
        """Send each command to the node that owns its key, and a check to the other nodes of cached values."""
        commands = [command for reading in readings for command in reading.commands]
        parts: dict[Tracked, list[int]] = {connection: [] for connection in connections if connection.marked}
        for i, command in enumerate(commands):
            owner = self._nodes.owner(tag_of(key_of(command) or ""))
            connection = self._tracked.get(owner) if owner else None
            if connection is None or not connection.is_open:
                return None
            parts.setdefault(connection, []).append(i)
        spread = Spread(self, readings, commands)
        self._spreads.add(spread)
        spread.send(parts)
        return spread.done

    @property
    def silence(self) -> float:
        """For how long every node has left a reading unanswered, s."""
        return min((connection.silence for connection in self._tracked.values()), default=0.0)

    def forget(self, spread: Spread) -> None:
        """Note that a reading on several nodes has ended."""
        self._spreads.discard(spread)

    async def _open(self) -> None:
        async with self._opening:
            if not self.is_on:
                raise RedisConnectionError("the connections were closed")
            nodes = tuple(self._nodes.trackable)
            for node in [node for node in self._tracked if node not in nodes]:
                await self._tracked.pop(node).close()  # it is no primary any more
            for node in nodes:
                known = self._tracked.get(node)
                if known is None or not known.is_open:
                    if known is not None:
                        await known.close()
                    self._tracked[node] = await self._connect(node)

    async def _connect(self, node: StoreNode) -> Tracked:
        breaker = node.breaker
        connection = await connect(
            node.make_tracked, lambda made: Tracked(made, self._reply_seconds, self, breaker), breaker
        )
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
        return connection  # only now: nothing may be read through it before tracking is on

    def drop(self, key: str) -> tuple[str, Owner] | None:
        """Drop every value read from a changed key; returns its kind and owner, None for a kind without a cache."""
        METER.invalidations += 1
        kind, _, rest = key.partition(":")
        if kind == _MARKER:
            self.clear()
            return None
        caches = self._caches.get(kind)
        if caches is None:
            return None
        tail = rest.rpartition(":")[2]
        owner = tail[1:-1] if tail.startswith("{") else int(tail)
        for cached in caches:
            cached.drop(owner)
        for spread in self._spreads:
            spread.note((kind, owner))
        return kind, owner

    def clear(self) -> None:
        """Drop everything. What is being read from several nodes is not cached either."""
        self.clearings += 1
        METER.clearings += 1
        for caches in self._caches.values():
            for cached in caches:
                cached.clear()
        for connection in self._tracked.values():
            connection.marked.clear()
        for spread in self._spreads:
            spread.note(None)

    async def close(self) -> None:
        """Close the connections once all commands have been answered. They cannot be opened again."""
        async with self._opening:
            self.is_on = False
            for connection in self._tracked.values():
                await connection.close()
            self.clear()
