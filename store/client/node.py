"""One server: alone, or a primary of a cluster."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

import redis.asyncio as redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store import keys
from store.client.connection import Commands, RedisConnections
from store.client.outages import Lost, Redirected
from store.client.slots import key_of, may_change, tag_of

REPLY_SECONDS = 10  # A reply that takes longer counts as an outage.
_WAIT_MS = 1000 * REPLY_SECONDS // 2  # How long replicas may take to acknowledge a change.
_MARKED_MS = 1000  # How long the key lives that is written before replicas are waited for.
LOST = (RedisConnectionError, RedisTimeoutError, OSError)

# A connection that only receives would not notice without TCP keepalive that the server is gone.
_KEEPALIVE: dict[str, Any] = {
    "socket_keepalive": True,
    "socket_keepalive_options": {
        getattr(socket, name): value
        for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))  # s, s, probes
        if hasattr(socket, name)
    },
}


class Node:
    """The connections of this process to one server."""

    def __init__(self, url: str, connections: int, replicas: int, scripts: Sequence[str]) -> None:
        self.url = url
        self.pool = pool(url)
        self._connections = RedisConnections(self.pool.make_connection, connections, REPLY_SECONDS)
        self._replicas = replicas
        self._scripts = scripts
        self._make_tracked = pool(url, protocol=3).make_connection

    @property
    def silence(self) -> float:
        """For how long a command has waited for its reply, s."""
        return self._connections.silence

    async def run(self, commands: Commands) -> list[Any]:
        """Return the replies to some commands in order, errors among them. A script is loaded where it is missing.

        Raises redis-py's ConnectionError and TimeoutError, and OSError.
        """
        replies = await self._run(commands)
        if NoScriptError in set(map(type, replies)):
            missing = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
            # This happens at the first use on a server, or after its restart. Loading twice is harmless.
            await self.load_scripts()
            for i, reply in zip(missing, await self._run([commands[i] for i in missing]), strict=True):
                replies[i] = reply
        return replies

    async def _run(self, commands: Commands) -> list[Any]:
        """Return the replies; a change that too few replicas have is Lost, because a failover may undo it.

        WAIT waits for the latest write of its own connection. A command that finds its change made already writes
        nothing, and replicas may not have that change yet. So a write precedes WAIT. The server refuses that write,
        and no other, while the slot moves key by key.
        """
        if not self._replicas:
            return await self._connections.run(commands)
        changed = [key for command in commands if may_change(command) and (key := key_of(command))]
        if not changed:
            return await self._connections.run(commands)
        last = ("SET", keys.acknowledged(tag_of(changed[-1])), "", "PX", _MARKED_MS)
        wait = ("WAIT", self._replicas, _WAIT_MS)
        *replies, written, replicas = await self._connections.run([*commands, last, wait])
        is_written = written == "OK" or type(written) is Redirected
        if is_written and isinstance(replicas, int) and replicas >= self._replicas:
            return replies
        lost = Lost(f"{replicas} of {self._replicas} replicas have the change", "NOT_ACKNOWLEDGED")
        return [
            lost if may_change(command) and not isinstance(reply, Exception) else reply
            for command, reply in zip(commands, replies, strict=True)
        ]

    async def load_scripts(self) -> None:
        """Load every script into the server."""
        await self._connections.run([("SCRIPT", "LOAD", text) for text in self._scripts])

    def make_tracked(self) -> AbstractConnection:
        """Return a new connection that can receive pushes, not opened yet. Only RESP3 has pushes."""
        made: AbstractConnection = self._make_tracked()  # type: ignore[no-untyped-call]
        return made

    async def close(self) -> None:
        """Close every connection once all commands have been answered."""
        await self._connections.close()
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
        **({} if url.startswith("unix:") else _KEEPALIVE),
    )
