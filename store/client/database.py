"""The database: sends commands to Redis in round trips, which it counts, watches and repeats."""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any

from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.client import health
from store.client.caching.cache import Cache, hand_out
from store.client.caching.values import Reading
from store.client.counts import LocalCounts
from store.client.lua import NAMES, SCRIPTS
from store.client.metering import METER, WORK
from store.client.nodes.all import Nodes
from store.client.nodes.one import REPLY_SECONDS, StoreNode, read_info
from store.client.outages import LOST, OUTAGES, CommandRefused, ConnectionLost, OutageLog, Unavailable, lost
from store.client.tracing import SPAN, Span, SpanKind, Take
from store.client.unfinished import Unfinished
from store.ids import PARTITIONS
from store.keys import minted
from store.media.objects import Media
from store.settings import Settings

__all__ = ["Command", "CommandRefused", "Database", "MemberGone", "Unavailable", "script"]

Command = tuple[Any, ...]

NO_SUCH_MEMBER = "PERCH no such member"  # The error reply of a script when the acting member has no record.
TRIES = 8  # How often commands are sent at most.
REPEAT_SECONDS = 1.0  # For how long they are sent again. A server that hangs is not waited for twice.

COMMANDS_SHOWN = 10  # Different commands and scripts that the text of a round trip names.
ROUND_TRIP = SpanKind.ROUND_TRIP.value  # the name of their spans
TEXTS_KEPT = 1_000  # Cached texts of round trips.

_IS_REPEATABLE: ContextVar[bool] = ContextVar("repeatable", default=False)
_SCRIPTS = frozenset(NAMES.values())
_UNWATCHED: AbstractContextManager[None] = nullcontext()


class MemberGone(Exception):
    """The acting member has deleted their account since the session check. Nothing was changed."""


def script(name: str, owner: int | None = None, /, **named: Any) -> Command:
    """Return the command that runs a script of `store/scripts` with its keys and arguments, by the names in its header.

    The loader adds what the owner has of these: see `store/client/lua.py`. Raises TypeError unless exactly the script's
    other parameters are named.
    """
    return SCRIPTS[name].command(owner, named)


@contextlib.contextmanager
def repeatable() -> Iterator[None]:
    """Have all commands inside the context sent again at once whenever their connection is lost.

    The server may have executed them already. So this is for jobs, whose steps may run twice, and for reads. Everybody
    else gets Unavailable, and a job that began so is handed over to a worker.
    """
    token = _IS_REPEATABLE.set(True)
    try:
        yield
    finally:
        _IS_REPEATABLE.reset(token)


class _Tries:
    """The tries to send some commands."""

    __slots__ = ("_began", "_left")

    def __init__(self) -> None:
        self._left = TRIES if _IS_REPEATABLE.get() else 1
        self._began = asyncio.get_running_loop().time()

    def go_on(self) -> bool:
        """Return whether to send the commands once more, after a try whose connection was lost."""
        self._left -= 1
        return self._left > 0 and asyncio.get_running_loop().time() < self._began + REPEAT_SECONDS


class Database:
    """One Redis server, or a cluster: the first answer tells. Counts the round trips made."""

    def __init__(self, url: str, settings: Settings) -> None:
        self.settings = settings
        self.round_trips = 0
        self.servers = Nodes(url, settings)
        self.cache = Cache(self.servers, settings.records_kept, REPLY_SECONDS)
        self.outages = OutageLog(self.ready)
        self.unfinished = Unfinished()
        self.counts = LocalCounts()
        self.media = Media(settings)
        self.take_span: Take | None = None  # records the spans of jobs that belong to a trace
        self.channel_prefix = f"perch:{self.servers.number}:"

    async def read(self, commands: Sequence[Command], readings: Sequence[Reading]) -> tuple[list[Any], bool]:
        """Send commands and cacheable reads in one round trip.

        Returns the replies to the commands, and whether every cached value is now as fresh as this call.
        Raises as `run` does.
        """
        with _watched(commands, readings):
            return await self._read(commands, readings)

    async def _read(self, commands: Sequence[Command], readings: Sequence[Reading]) -> tuple[list[Any], bool]:
        try:
            if not self.servers.is_known:
                await self.servers.find_out()
            tracked = await self.cache.begin(readings) if self.cache.is_on else None
        except LOST as error:
            if not self.servers.is_cluster:
                raise self._unreachable(error) from error
            self.servers.begin_refreshing()
            tracked = None  # another node may own the keys by now
        if tracked is None:
            return await self._read_at_once(commands, readings), False
        replies = await self.run(commands)
        if not commands:  # otherwise `run` has counted it
            self._count()
        try:
            read = await tracked
        except LOST as error:
            if not self.servers.is_cluster:
                raise self._unreachable(error) from error
            read = [ConnectionLost(str(error))]
        if self.servers.is_cluster and not OUTAGES.isdisjoint(map(type, read)):
            self.servers.begin_refreshing()
            await self._read_at_once([], readings)
            return replies, False
        if not OUTAGES.isdisjoint(map(type, read)):
            self._refused([command for reading in readings for command in reading.commands], read)
        return replies, True

    def begin(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        """Send cacheable reads; once the future is done, every cached value is as fresh as this call.

        `is_answered` says whether the reads succeeded. Returns None where `read` has to be used instead.
        """
        tracked = self.cache.begin_at_once(readings)
        if tracked is not None:
            self._count()
            _follow(tracked, readings)
        return tracked

    @staticmethod
    def is_answered(tracked: asyncio.Future[list[Any]]) -> bool:
        """Return whether the server could answer the reads that `begin` sent."""
        return (
            not tracked.cancelled() and tracked.exception() is None and OUTAGES.isdisjoint(map(type, tracked.result()))
        )

    def silence(self, tracked: asyncio.Future[list[Any]]) -> Unavailable | None:
        """Return the outage if the server did not answer the reads that `begin` sent in time.

        A lost connection is no such outage: it can be opened again at once.
        """
        error = None if tracked.cancelled() else tracked.exception()
        return self._unreachable(error) if isinstance(error, RedisTimeoutError) else None

    async def _read_at_once(self, commands: Sequence[Command], readings: Sequence[Reading]) -> list[Any]:
        replies = await self.run([*commands, *(command for reading in readings for command in reading.commands)])
        hand_out(readings, replies[len(commands) :], None)
        return replies[: len(commands)]

    def run(self, commands: Sequence[Command]) -> Coroutine[Any, Any, list[Any]]:
        """Send commands in one round trip and return their replies in order.

        A failed command's reply is the error itself. Raises Unavailable when the server cannot be reached.
        """
        parent = SPAN.get()
        return self._send(commands) if parent is None else self._send_watched(parent, commands)

    async def _send_watched(self, parent: Span, commands: Sequence[Command]) -> list[Any]:
        if not commands:
            return []
        with _Watched(parent, commands, ()):
            return await self._send(commands)

    async def ask(self, *commands: Command) -> list[Any]:
        """Like `run`, but raise the first error among the replies."""
        return _sound(await self.run(commands))

    async def one(self, *command: Any) -> Any:
        """Send one command and return its reply; raises an error reply."""
        (reply,) = await self.ask(command)
        return reply

    async def call(self, name: str, owner: int | None = None, /, **named: Any) -> Any:
        """Run one script and return its reply. Takes the script's parameters as `script` does."""
        (reply,) = await self.ask(script(name, owner, **named))
        return reply

    async def find_out(self) -> None:
        """Find out whether the server is a node of a cluster; no round trip once that is known. Raises Unavailable."""
        try:
            await self.servers.find_out()
        except LOST as error:
            raise self._unreachable(error) from error

    @property
    def is_cluster(self) -> bool:
        """Whether the keys are spread over the nodes of a cluster; known after `find_out` or any round trip."""
        if not self.servers.is_known:
            raise RuntimeError("nothing has been asked yet, so it is unknown whether the server is part of a cluster")
        return self.servers.is_cluster

    @property
    def nodes(self) -> Sequence[StoreNode]:
        """All nodes. Every key belongs to one of them."""
        return self.servers.all

    def node_index(self, partition: int) -> int:
        """Return which of the nodes owns a partition, -1 while none does."""
        return self.servers.index_of(partition)

    async def each_node(self, *commands: Command) -> list[list[Any]]:
        """Send commands to every node in one round trip, and return the replies of each. Raises as `ask` does."""
        self._count()
        try:
            await self.servers.find_out()
            with _watched(commands):
                found = await asyncio.gather(*(node.run(commands) for node in self.nodes))
        except LOST as error:
            raise self._unreachable(error) from error
        return [_sound(replies) for replies in found]

    async def mint(self, p: int | None = None) -> int:
        """Return a new id in a partition, in a random one by default."""
        p = random.randrange(PARTITIONS) if p is None else p  # noqa: S311  spreads load, keeps no secret
        (made,) = await self.call("mint", minted=minted(p), partition=p, count=1)
        return int(made)

    def _count(self) -> None:
        self.round_trips += 1
        METER.round_trips += 1
        if (work := WORK.get()) is not None:
            work.round_trips += 1

    async def _send(self, commands: Sequence[Command]) -> list[Any]:
        if not commands:
            return []
        self._count()
        tries = _Tries()
        replies = await self._try(commands, tries)
        if OUTAGES.isdisjoint(map(type, replies)):
            return replies
        while again := [
            i for i, reply in enumerate(replies) if isinstance(reply, ConnectionLost)
        ]:  # on a cluster, a part is lost
            left = [commands[i] for i in again]
            self.unfinished.add_lost(left)
            if not tries.go_on():
                break
            for i, reply in zip(again, await self._try(left, tries), strict=True):
                replies[i] = reply
        self._refused(commands, replies)
        return replies

    async def _try(self, commands: Sequence[Command], tries: _Tries) -> list[Any]:
        while True:
            try:
                if not self.servers.is_known:
                    await self.servers.find_out()
                return await self.servers.sender.run(commands)
            except LOST as error:
                self.unfinished.add_lost(commands)
                if not tries.go_on():
                    raise self._unreachable(error) from error

    def _unreachable(self, error: BaseException) -> Unavailable:
        reason = lost(error, "" if self.servers.is_cluster else self.nodes[0].name)
        unavailable = Unavailable(str(reason), reason.state, reason.server)
        self.outages.note(unavailable)
        return unavailable

    def _refused(self, commands: Sequence[Command], replies: Sequence[Any]) -> None:
        """Log each refused command; raise Unavailable if the server can answer none at all."""
        for command, reply in zip(commands, replies, strict=False):  # the reply to a PING has no command here
            if isinstance(reply, Unavailable):
                self.outages.note(reply, command_name(command))
        for reply in replies:
            if isinstance(reply, Unavailable) and not isinstance(reply, CommandRefused):
                raise reply

    async def load_scripts(self) -> None:
        """Load every script into every node; raises Unavailable."""
        try:
            await self.servers.load_scripts()
        except LOST as error:
            raise self._unreachable(error) from error

    async def used_memory(self) -> int:
        """Return the used memory of all nodes in bytes."""
        return sum(int(read_info(text)["used_memory"]) for (text,) in await self.each_node(("INFO", "memory")))

    async def ready(self) -> bool:
        """Return whether all servers answer and accept writes; within a second, raises nothing."""
        return not any(server.state for server in await health.look(self.servers))

    def channel(self, name: str) -> str:
        """Return a Pub/Sub channel's full name. It has the database's number, which Pub/Sub itself ignores."""
        return self.channel_prefix + name

    async def close(self) -> None:
        """Close every connection once all commands have been answered."""
        await self.cache.close()
        await self.servers.close()
        await self.outages.close()  # last: commands that are being answered may still fail


def _sound(replies: list[Any]) -> list[Any]:
    """Return replies; raises the first error among them."""
    for reply in replies:
        if isinstance(reply, ResponseError) and str(reply) == NO_SUCH_MEMBER:
            raise MemberGone from reply
        if isinstance(reply, Exception):
            raise reply
    return replies


def command_name(command: Command) -> str:
    """Return the name of a command, or of the script that it runs."""
    return str(NAMES.get(command[1], "EVALSHA") if command[0] == "EVALSHA" else command[0])


def _watched(commands: Sequence[Command], readings: Sequence[Reading] = ()) -> AbstractContextManager[None]:
    """Watch a round trip, if somebody watches what is running."""
    parent = SPAN.get()
    return _UNWATCHED if parent is None else _Watched(parent, commands, readings)


class _Watched:
    """A round trip that is watched. A repetition in it, after a slot has moved, makes no span of its own."""

    __slots__ = ("_commands", "_readings", "_span", "_token")

    def __init__(self, parent: Span, commands: Sequence[Command], readings: Sequence[Reading]) -> None:
        self._commands = commands
        self._readings = readings
        self._span = parent.child(SpanKind.ROUND_TRIP, ROUND_TRIP)

    def __enter__(self) -> None:
        self._token = SPAN.set(None)

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        SPAN.reset(self._token)
        _end(self._span, self._commands, self._readings, error)


def _follow(replied: asyncio.Future[list[Any]], readings: Sequence[Reading]) -> None:
    """Watch a round trip until the future of its replies is done."""
    parent = SPAN.get()
    if parent is not None:
        span = parent.child(SpanKind.ROUND_TRIP, ROUND_TRIP)
        replied.add_done_callback(partial(_replied, span, readings))


def _replied(span: Span, readings: Sequence[Reading], replied: asyncio.Future[list[Any]]) -> None:
    _end(span, (), readings, None if replied.cancelled() else replied.exception())


def _end(span: Span, commands: Sequence[Command], readings: Sequence[Reading], error: BaseException | None) -> None:
    """End a round trip and its scripts. Replies are read together, so the scripts have the times of the round trip."""
    sent = [*commands, *(command for reading in readings for command in reading.commands)] if readings else commands
    names = tuple(map(command_name, sent))
    text, scripts = _summary(names) if names else ("PING", {})
    span.facts = {"commands": text, "count": len(names) or 1}
    span.end(error)
    for script, calls in scripts.items() if span.trace else ():
        inner = span.child(SpanKind.SCRIPT, script)
        inner.began, inner.ended, inner.error, inner.facts = span.began, span.ended, span.error, {"calls": calls}
        inner.take(inner)


@lru_cache(TEXTS_KEPT)
def _summary(names: tuple[str, ...]) -> tuple[str, Mapping[str, int]]:
    """Return the text that names the commands and scripts of a round trip, and how often it runs each script."""
    counts = Counter(names)
    texts = [one if count == 1 else f"{one} x{count}" for one, count in counts.items()]
    texts[COMMANDS_SHOWN:] = ["…"] if len(texts) > COMMANDS_SHOWN else []
    return ", ".join(texts), {one: count for one, count in counts.items() if one in _SCRIPTS}
