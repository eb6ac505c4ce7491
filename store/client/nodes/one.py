"""One server: alone, or a primary of a cluster."""

import socket
from collections.abc import Awaitable, Sequence
from typing import Any

import redis.asyncio as redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo
from redis.exceptions import NoScriptError

from store.client.connection import CircuitBreaker, Commands, RedisConnection, RedisConnections, connect
from store.client.replication import ReplicatedChanges, needs_replicas
from store.settings import urls

REPLY_SECONDS = 10  # A reply that takes longer counts as an outage.
_DRIVER = DriverInfo()  # Otherwise redis-py searches its own installation for its version at each new connection.

# A connection that only receives would not notice without TCP keepalive that the server is gone.
_KEEPALIVE: dict[str, Any] = {
    "socket_keepalive": True,
    "socket_keepalive_options": {
        getattr(socket, name): value
        for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))  # s, s, probes
        if hasattr(socket, name)
    },
}


class StoreNode:
    """The connections of this process to one server."""

    def __init__(self, url: str, connections: int, replicas: int, scripts: Sequence[str]) -> None:
        self.url = url
        self.name = urls.shown(url)
        self.pool = pool(url)
        self.breaker = CircuitBreaker(self.name, self._probe)
        self._connections = RedisConnections(self.pool.make_connection, connections, REPLY_SECONDS, self.breaker)
        self._changes = ReplicatedChanges(self.pool.make_connection, replicas, REPLY_SECONDS, self.breaker)
        self._scripts = scripts
        self._make_tracked = pool(url, protocol=3).make_connection

    async def _probe(self) -> None:
        connection = await connect(self.pool.make_connection, lambda made: RedisConnection(made, REPLY_SECONDS))
        try:
            await connection.send([("PING",)])
        finally:
            connection.abort()
            await connection.close()

    @property
    def silence(self) -> float:
        """For how long a command has waited for its reply, or the node has left all unanswered, s."""
        return max(self._connections.silence, self.breaker.silence)

    async def run(self, commands: Commands) -> list[Any]:
        """Return the replies to some commands in order, errors among them. A script is loaded where it is missing.

        Raises redis-py's ConnectionError and TimeoutError, and OSError.
        """
        replies = await self._once(commands)
        if NoScriptError in set(map(type, replies)):
            missing = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
            # This happens at the first use on a server, or after its restart. Loading twice is harmless.
            await self.load_scripts()
            for i, reply in zip(missing, await self._once([commands[i] for i in missing]), strict=True):
                replies[i] = reply
        return replies

    def _once(self, commands: Commands) -> Awaitable[list[Any]]:
        return self._acknowledged(commands) if self._changes.replicas else self._connections.run(commands)

    async def _acknowledged(self, commands: Commands) -> list[Any]:
        """Return the replies; a change that too few replicas have is refused, or Lost if it has been made."""
        if not any(map(needs_replicas, commands)):
            return await self._connections.run(commands)
        if not self._changes.is_lacking:
            return await self._changes.run(commands)
        others = [command for command in commands if not needs_replicas(command)]
        found = iter(await self._connections.run(others) if others else ())
        return [self._changes.refusal() if needs_replicas(command) else next(found) for command in commands]

    async def load_scripts(self) -> None:
        """Load every script into the server."""
        await self._connections.run([("SCRIPT", "LOAD", text) for text in self._scripts])

    def make_tracked(self) -> AbstractConnection:
        """Return a new connection that can receive pushes, not opened yet. Only RESP3 has pushes."""
        made: AbstractConnection = self._make_tracked()  # type: ignore[no-untyped-call]
        return made

    async def close(self) -> None:
        """Close every connection once all commands have been answered."""
        await self._changes.close()
        await self._connections.close()
        await self.breaker.close()  # last: a connection that is closed may still time out
        await self.pool.disconnect()


def pool(url: str, protocol: int = 2) -> redis.ConnectionPool:
    """Return what makes connections to a server."""
    # A lost connection is reported, not retried: a repeated script may reply differently from the first run.
    return redis.ConnectionPool.from_url(
        url,
        decode_responses=True,
        protocol=protocol,
        socket_timeout=REPLY_SECONDS,
        socket_connect_timeout=REPLY_SECONDS,
        retry=Retry(NoBackoff(), 0),
        driver_info=_DRIVER,
        **({} if url.startswith("unix:") else _KEEPALIVE),
    )


def read_info(text: str) -> dict[str, str]:
    """Return the facts in a reply to INFO or CLUSTER INFO."""
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
