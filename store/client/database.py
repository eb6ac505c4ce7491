"""The database: sends commands to Redis and returns the replies. Only Pub/Sub has a client of its own."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Sequence
from typing import Any, Protocol

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.client.cache import Cache, Reading, hand_out
from store.client.connection import RedisConnections
from store.client.counts import LocalCounts
from store.client.lua import NAMES, SCRIPTS
from store.client.outages import OUTAGES, CommandRefused, OutageLog, Unavailable
from store.client.unfinished import Unfinished
from store.ids import PARTITIONS
from store.keys import minted, readiness
from store.settings import Settings

__all__ = ["Command", "CommandRefused", "Database", "MemberGone", "Unavailable", "UnsupportedServer", "script"]

Command = tuple[Any, ...]

OLDEST_SERVER = (7, 0)  # The first version with SET NX GET, EXPIRE NX and XAUTOCLAIM as used here.
REPLY_SECONDS = 10  # A reply that takes longer counts as an outage.
READY_SECONDS = 0.8  # The same for the readiness check, which has to answer within a second.
NO_SUCH_MEMBER = "PERCH no such member"  # The error reply of a script when the acting member has no record.
_LOST = (RedisConnectionError, RedisTimeoutError, OSError)


class MemberGone(Exception):
    """The acting member has deleted their account since the session check. Nothing was changed."""


class UnsupportedServer(Exception):
    """The server is older than the scripts require."""


# Pub/Sub only receives: without TCP keepalive it would not notice that the server is gone.
_KEEPALIVE: dict[str, Any] = {
    "socket_keepalive": True,
    "socket_keepalive_options": {
        getattr(socket, name): value
        for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))  # s, s, probes
        if hasattr(socket, name)
    },
}


def script(name: str, /, **named: Any) -> Command:
    """Return the command that runs a script of `store/scripts` with its keys and arguments, by the names in its header.

    Raises TypeError unless exactly the script's parameters are named.
    """
    return SCRIPTS[name].command(named)


class Node(Protocol):
    """A server that owns some of the keys."""

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one round trip and return their replies in order, errors among them."""


class Database:
    """One Redis server. Counts the round trips made."""

    is_cluster = False

    def __init__(self, url: str, settings: Settings) -> None:
        self.settings = settings
        self.round_trips = 0
        pool = _pool(url)
        self.client = redis.Redis(connection_pool=pool)  # for Pub/Sub
        self._connections = RedisConnections(pool.make_connection, settings.redis_connections, REPLY_SECONDS)
        # RESP3: only it can push invalidations on the connection that reads.
        self.cache = Cache(_pool(url, protocol=3).make_connection, settings.records_kept, REPLY_SECONDS)
        self.outages = OutageLog()
        self.unfinished = Unfinished()
        self.counts = LocalCounts()
        self.channel_prefix = f"perch:{pool.connection_kwargs.get('db', 0)}:"

    async def read(self, commands: Sequence[Command], readings: Sequence[Reading]) -> tuple[list[Any], bool]:
        """Send commands and cacheable reads in one round trip.

        Returns the replies to the commands, and whether every cached value is now as fresh as this call.
        Raises as `run` does.
        """
        try:
            tracked = await self.cache.begin(readings) if self.cache.is_on else None
        except _LOST as error:
            raise self._unreachable(error) from error
        if tracked is None:
            return await self._read_at_once(commands, readings), False
        replies = await self.run(commands)
        self.round_trips += not commands  # with commands, `run` has counted it
        try:
            read = await tracked
        except _LOST as error:
            raise self._unreachable(error) from error
        if not OUTAGES.isdisjoint(map(type, read)):
            self._refused([command for reading in readings for command in reading.commands], read)
        return replies, True

    def begin(self, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        """Send cacheable reads; once the future is done, every cached value is as fresh as this call.

        `is_answered` says whether the reads succeeded. Returns None where `read` has to be used instead.
        """
        tracked = self.cache.begin_at_once(readings)
        self.round_trips += tracked is not None
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

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one round trip and return their replies in order.

        A failed command's reply is the error itself. Raises Unavailable when the server cannot be reached.
        """
        if not commands:
            return []
        replies = await self._send(commands)
        if NoScriptError in set(map(type, replies)):
            missing = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
            # This happens at the first use on a server, or after its restart. Loading twice is harmless.
            await self.load_scripts()
            for i, reply in zip(missing, await self._send([commands[i] for i in missing]), strict=True):
                replies[i] = reply
        return replies

    async def ask(self, *commands: Command) -> list[Any]:
        """Like `run`, but raise the first error among the replies."""
        replies = await self.run(commands)
        for reply in replies:
            if isinstance(reply, ResponseError) and str(reply) == NO_SUCH_MEMBER:
                raise MemberGone from reply
            if isinstance(reply, Exception):
                raise reply
        return replies

    async def one(self, *command: Any) -> Any:
        """Send one command and return its reply; raises an error reply."""
        (reply,) = await self.ask(command)
        return reply

    async def call(self, name: str, /, **named: Any) -> Any:
        """Run one script and return its reply. Takes the script's parameters as `script` does."""
        (reply,) = await self.ask(script(name, **named))
        return reply

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes. Every key belongs to one of them."""
        return (self,)

    @staticmethod
    def node_index(partition: int) -> int:
        """Return which of the nodes owns a partition."""
        assert 0 <= partition < PARTITIONS
        return 0

    async def each_node(self, *commands: Command) -> list[list[Any]]:
        """Send commands to every node in one round trip, and return the replies of each. Raises as `ask` does."""
        return [await self.ask(*commands)]

    async def mint(self) -> int:
        """Return a new id in a random partition."""
        p = random.randrange(PARTITIONS)  # noqa: S311  spreads load, keeps no secret
        return int(await self.call("mint", minted=minted(p), partition=p))

    async def _send(self, commands: Sequence[Command]) -> list[Any]:
        self.round_trips += 1
        try:
            replies = await self._connections.run(commands)
        except _LOST as error:
            self.unfinished.add_lost(commands)
            raise self._unreachable(error) from error
        if not OUTAGES.isdisjoint(map(type, replies)):
            self._refused(commands, replies)
        return replies

    def _unreachable(self, error: BaseException) -> Unavailable:
        unavailable = Unavailable(str(error))
        self.outages.note(unavailable)
        return unavailable

    def _refused(self, commands: Sequence[Command], replies: Sequence[Any]) -> None:
        """Log each refused command; raise Unavailable if the server can answer none at all."""
        for command, reply in zip(commands, replies, strict=False):  # the reply to a PING has no command here
            if isinstance(reply, Unavailable):
                self.outages.note(reply, _name(command))
        for reply in replies:
            if isinstance(reply, Unavailable) and not isinstance(reply, CommandRefused):
                raise reply

    async def load_scripts(self) -> None:
        """Load every script into the server."""
        await self._send([("SCRIPT", "LOAD", loaded.text) for loaded in SCRIPTS.values()])

    async def check_server(self) -> str:
        """Return the server's name and version; raises UnsupportedServer below 7.0, Unavailable if it cannot answer."""
        try:
            text = str(await self.one("INFO", "server"))
        except RedisError as error:
            raise Unavailable(str(error)) from error
        info = self._facts(text)
        version = info["redis_version"]
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_SERVER:
            raise UnsupportedServer(f"Redis {version} is too old: 7.0 or newer is needed")
        return f"Valkey {info['valkey_version']}" if "valkey_version" in info else f"Redis {version}"

    async def used_memory(self) -> int:
        """Return the server's used memory in bytes."""
        return int(self._facts(await self.one("INFO", "memory"))["used_memory"])

    @staticmethod
    def _facts(text: str) -> dict[str, str]:
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    async def ready(self) -> bool:
        """Return whether the server answers now and accepts writes."""
        return not await self.trouble()

    async def trouble(self) -> str:
        """Return the state that keeps the server from answering or accepting writes, "" if it does both.

        SET with XX makes the server run all checks of a write. It writes nothing, because the key never exists.
        """
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.ask(("GET", readiness()), ("SET", readiness(), "", "XX"))
        except TimeoutError:
            return "SILENT"
        except Unavailable as error:
            return error.state
        except RedisError as error:
            return type(error).__name__
        return ""

    def channel(self, name: str) -> str:
        """Return a Pub/Sub channel's full name. It has the database's number, which Pub/Sub itself ignores."""
        return self.channel_prefix + name

    async def close(self) -> None:
        """Close every connection once all commands have been answered."""
        self.outages.close()
        await self.cache.close()
        await self._connections.close()
        await self.client.aclose()
        await self.client.connection_pool.disconnect()


def _name(command: Command) -> str:
    """Return the name of a command or of the script that it runs."""
    return str(NAMES.get(command[1], "EVALSHA") if command[0] == "EVALSHA" else command[0])


def _pool(url: str, protocol: int = 2) -> redis.ConnectionPool:
    # A lost connection is reported, not retried: a repeated script may reply differently from the first run.
    return redis.ConnectionPool.from_url(
        url,
        decode_responses=True,
        protocol=protocol,
        socket_timeout=REPLY_SECONDS,
        socket_connect_timeout=REPLY_SECONDS,
        retry=Retry(NoBackoff(), 0),
        **({} if url.startswith("unix:") else _KEEPALIVE),
    )
