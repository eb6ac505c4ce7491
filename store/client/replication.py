"""Changes that are answered once replicas have them (REPLICAS_ACKNOWLEDGE).

WAIT blocks its connection until enough replicas have the latest write of that connection, or its time is up. So changes
have a connection of their own, and nobody waits for more than two WAITs: callers share them.

When too few replicas have acknowledged in time, further changes are refused before anything is sent. A probe waits on
for the replicas, and ends that.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from store import keys
from store.client.connection import CircuitBreaker, Commands, RedisConnection, RedisConnections
from store.client.outages import CommandRefused, ConnectionLost, Redirected
from store.client.slots import key_of, may_change, tag_of
from store.client.tasks import stop

WAIT_MS = 1_000  # How long replicas may take to acknowledge a change.
PAUSE_SECONDS = 0.1  # Between two probes of a primary that lacks replicas.
_MARKED_MS = 1_000  # How long the key lives that is written before replicas are waited for.
_STATE = "UNACKNOWLEDGED"
_COUNTED = (keys.rate(0, 0).partition(":")[0], keys.address_rate("", 0).partition(":")[0])  # Kinds of keys.


def needs_replicas(command: Sequence[Any]) -> bool:
    """Return whether replicas have to acknowledge a command: any change but the counts of requests."""
    key = key_of(command) if may_change(command) else None
    return key is not None and key.partition(":")[0] not in _COUNTED


class ReplicatedChanges:
    """The connection of a process for changes on one primary, and whether that lacks replicas."""

    def __init__(
        self, make: Callable[[], AbstractConnection], replicas: int, reply_seconds: float, breaker: CircuitBreaker
    ) -> None:
        self.replicas = replicas  # that have to acknowledge a change
        self.is_lacking = False
        self._server = breaker.server
        self._connections = RedisConnections(make, 1, reply_seconds, breaker)
        self._turn = asyncio.Lock()  # of the only WAIT at a time
        self._next: _Wait | None = None  # the one that has not been sent yet
        self._probing: asyncio.Task[None] | None = None

    def refusal(self) -> CommandRefused:
        """Return the error of a change that is not made, because the primary lacks replicas."""
        return CommandRefused(f"fewer than {self.replicas} replicas acknowledge changes", _STATE, self._server)

    async def run(self, commands: Commands) -> list[Any]:
        """Return the replies to commands once replicas have their changes. Changes without replicas are Lost.

        Raises redis-py's ConnectionError and TimeoutError, and OSError.
        """
        connection = await self._connections.pick()
        replies = await connection.send(commands)
        changes = list(map(needs_replicas, commands))
        reason = await self._acknowledged(connection, tag_of(key_of(commands[changes.index(True)]) or ""))
        if not reason:
            return replies
        return [
            ConnectionLost(reason, _STATE, self._server) if is_change and not isinstance(reply, Exception) else reply
            for is_change, reply in zip(changes, replies, strict=True)
        ]

    async def _acknowledged(self, connection: RedisConnection, tag: str) -> str:
        """Return why replicas lack what a connection has changed so far, "" once they have it.

        All who ask before the next WAIT is sent share it.
        """
        if self._next is None or self._next.connection is not connection:
            waiting = asyncio.get_running_loop().create_task(self._wait(connection, tag), name="acknowledgement")
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())  # callers may be cancelled
            self._next = _Wait(connection, waiting)
        return await asyncio.shield(self._next.task)

    async def _wait(self, connection: RedisConnection, tag: str) -> str:
        async with self._turn:
            if self._next and self._next.connection is connection:
                self._next = None
            if self.is_lacking:
                return str(self.refusal())
            reason, self.is_lacking = await self._ask(connection, tag)
        if self.is_lacking:
            self._probing = asyncio.get_running_loop().create_task(self._probe(tag), name="replicas")
        return reason

    async def _ask(self, connection: RedisConnection, tag: str) -> tuple[str, bool]:
        """Return why replicas lack changes, "" if they have all; and whether too few of them answer.

        WAIT waits for the latest write of its connection. A command that finds its change made already writes nothing,
        and replicas may not have that change yet. So a write precedes WAIT. The server refuses that write, and no
        other, while the slot moves key by key.
        """
        mark = ("SET", keys.acknowledged(tag), "", "PX", _MARKED_MS)
        written, replicas = await connection.send([mark, ("WAIT", self.replicas, WAIT_MS)])
        for reply in (written, replicas):
            if isinstance(reply, Exception) and type(reply) is not Redirected:
                return str(reply), False
        if replicas >= self.replicas:
            return "", False
        return f"{replicas} of {self.replicas} replicas have the change", True

    async def _probe(self, tag: str) -> None:
        """Wait until there are enough replicas again. Any other trouble is left to the next change."""
        while self.is_lacking:
            await asyncio.sleep(PAUSE_SECONDS)
            try:
                _, self.is_lacking = await self._ask(await self._connections.pick(), tag)
            except (RedisError, OSError):
                self.is_lacking = False

    async def close(self) -> None:
        """Close the connection once all commands have been answered."""
        await stop(self._probing)
        await self._connections.close()


class _Wait(NamedTuple):
    """A WAIT for one connection, shared by all who ask before it is sent."""

    connection: RedisConnection
    task: asyncio.Task[str]
