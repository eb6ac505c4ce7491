"""A few connections to one server, which all callers share."""

import asyncio
from collections.abc import Callable
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from store.client.breaker import CircuitBreaker, NotConnected, Silent
from store.client.connection import Commands, RedisConnection, connect


class RedisConnections:
    """A few connections. Each batch uses the one with the fewest batches awaited."""

    def __init__(
        self,
        make: Callable[[], AbstractConnection],
        count: int,
        reply_seconds: float,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self._make = make
        self._count = count
        self._reply_seconds = reply_seconds
        self._breaker = breaker
        self._connections: list[RedisConnection] = []
        self._opening = asyncio.Lock()
        self._opened = 0.0  # when the connection that is being opened was begun, by the loop's clock; 0 without one
        self._is_closed = False

    @property
    def silence(self) -> float:
        """For how long a command, or a connection that is being opened, has waited for its reply, s."""
        opening = asyncio.get_running_loop().time() - self._opened if self._opened else 0.0
        return max([opening, *(connection.silence for connection in self._connections)])

    async def run(self, commands: Commands) -> list[Any]:
        """Return the replies to some commands; raises redis-py's ConnectionError and TimeoutError, and OSError.

        NotConnected is one of these: nothing was sent.
        """
        connection = self._idlest()
        return await (await self.pick() if connection is None else connection).send(commands)

    async def pick(self) -> RedisConnection:
        """Return the connection with the fewest batches awaited; raises NotConnected."""
        try:
            connection = self._idlest()
            return await self._open() if connection is None else connection
        except Silent:
            raise
        except (RedisConnectionError, OSError) as error:
            raise NotConnected(str(error)) from error

    def _idlest(self) -> RedisConnection | None:
        if self._breaker:
            self._breaker.check()
        connection = min(self._connections, key=len, default=None)
        if connection is None or not connection.is_open or (len(connection) and len(self._connections) < self._count):
            return None
        return connection

    async def _open(self) -> RedisConnection:
        async with self._opening:
            if self._is_closed:
                raise RedisConnectionError("the connections were closed")
            if (opened := self._idlest()) is not None:  # a connection has a length, which may be 0
                return opened  # another caller has opened it meanwhile
            for connection in [connection for connection in self._connections if not connection.is_open]:
                self._connections.remove(connection)
                await connection.close()
            self._opened = asyncio.get_running_loop().time()
            try:
                connection = await connect(
                    self._make, lambda made: RedisConnection(made, self._reply_seconds, self._breaker), self._breaker
                )
            finally:
                self._opened = 0.0
            self._connections.append(connection)
            return connection

    async def close(self) -> None:
        """Close every connection once all commands have been answered. None can be opened afterwards."""
        async with self._opening:
            self._is_closed = True
            while self._connections:
                await self._connections.pop().close()
