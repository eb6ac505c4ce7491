"""The connections to the server, shared by all that runs: commands leave together, replies are read in one go.

redis-py opens a connection: addresses, TLS, passwords, the database's number. From then on its transport is this
module's. A reply costs a turn of a loop then, where the client's own pipeline spends a coroutine and a timer on it,
and what many callers send in the same turn of the event loop, or while replies are awaited, leaves in one write: a
write is a system call, whatever it carries, and wakes the server. Nobody holds a connection: a caller
that is cancelled leaves at once, and its replies are read and dropped in their turn.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import hiredis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.client.outages import outage

Commands = Sequence[tuple[Any, ...]]

AnyConnection = TypeVar("AnyConnection", bound="RedisConnection")
UNFINISHED = object()  # in place of a reply that has not come whole


def _error(text: str) -> Exception:
    code, _, message = text.partition(" ")
    if code == "NOSCRIPT":
        return NoScriptError(text)
    return outage(code, text) or ResponseError(message if code == "ERR" else text)


@dataclass(slots=True)
class Batch:
    """Commands that were sent together, and their replies as far as they have come."""

    size: int
    replied: asyncio.Future[list[Any]]
    take: Callable[[list[Any]], None] | None
    replies: list[Any] = field(default_factory=list)


class RedisConnection(asyncio.Protocol):
    """One open connection.

    Invariant: the next replies are those to the oldest batch sent. So a batch is queued as a whole or not at all, and a
    reply that no batch waits for ends the connection.
    """

    def __init__(self, connection: AbstractConnection, reply_seconds: float) -> None:
        self._connection = connection  # keeps the transport open
        self._transport: Any = connection._writer.transport  # type: ignore[union-attr]  # noqa: SLF001  no public way to what it has opened
        self._reader = hiredis.Reader(replyError=_error, encoding="utf-8", notEnoughData=UNFINISHED)
        self._awaited: deque[Batch] = deque()
        self._unsent: list[bytes] = []
        self._sent = 0  # batches, of those awaited
        self._reply_seconds = reply_seconds
        self._loop = asyncio.get_running_loop()
        self._heard = 0.0  # when something last came, by the loop's clock, or was first waited for
        self._watch: asyncio.TimerHandle | None = None
        self._transport.set_protocol(self)
        self.is_open = not self._transport.is_closing()  # else the protocol before has been told of the end

    def __len__(self) -> int:
        return len(self._awaited)

    def send(self, commands: Commands, take: Callable[[list[Any]], None] | None = None) -> asyncio.Future[list[Any]]:
        """Send commands; the future has their replies, a failed command's being the error itself.

        `take` gets them first, before anything behind them is looked at. Raises TypeError and UnicodeEncodeError for a
        command that cannot be encoded, and RedisConnectionError once the connection is lost; then nothing is sent.
        """
        if not self.is_open:
            raise RedisConnectionError("the connection was lost")
        packed = list(map(hiredis.pack_command, commands))
        if not self._unsent:
            self._loop.call_soon(self._leave)
        self._unsent += packed
        if not self._awaited:
            self._heard = self._loop.time()
        batch = Batch(len(commands), self._loop.create_future(), take)
        self._awaited.append(batch)
        if self._watch is None:
            self._watch = self._loop.call_later(self._reply_seconds, self._look)
        return batch.replied

    def _leave(self) -> None:
        """Send what was gathered, unless replies are awaited: then it leaves once they have come."""
        if self.is_open and not self._sent and self._unsent:
            packed, self._unsent, self._sent = self._unsent, [], len(self._awaited)
            self._transport.write(b"".join(packed))

    def data_received(self, data: bytes) -> None:
        """Hand replies to those who wait for them."""
        self._heard = self._loop.time()
        self._reader.feed(data)
        try:
            while self._sent and self._complete(self._awaited[0]):
                batch = self._awaited.popleft()
                self._sent -= 1
                if batch.take:
                    batch.take(batch.replies)
                if not batch.replied.done():  # whoever waited may be gone
                    batch.replied.set_result(batch.replies)
            if not self._sent:
                self._read_unasked()
            self._leave()
        except (hiredis.ProtocolError, UnicodeDecodeError) as error:
            self._end(RedisConnectionError(f"not a reply: {error}"))

    def _read_unasked(self) -> None:
        while (news := self._reader.gets()) is not UNFINISHED:
            if type(news) is not hiredis.PushNotification:
                self._end(RedisConnectionError("a reply came that no command waits for"))
                return
            self._hear(news, is_overtaking=False)

    def _complete(self, batch: Batch) -> bool:
        read, replies = self._reader.gets, batch.replies
        while len(replies) < batch.size:
            try:
                reply = read()
            except UnicodeDecodeError as error:
                reply = error  # the reply was read whole: those behind it are not touched
            if reply is UNFINISHED:
                return False
            if type(reply) is hiredis.PushNotification:
                self._hear(reply, is_overtaking=bool(replies))
            else:
                replies.append(reply)
        return True

    def _hear(self, news: Sequence[Any], *, is_overtaking: bool) -> None:
        """Take what the server says unasked, between two replies of one batch where it overtakes; nothing is asked."""

    def _look(self) -> None:
        self._watch = None
        if not self._awaited:
            return
        left = self._heard + self._reply_seconds - self._loop.time()
        if left > 0:
            self._watch = self._loop.call_later(left, self._look)
        else:
            self._end(RedisTimeoutError(f"no reply for {self._reply_seconds:g} s"))

    def connection_lost(self, error: Exception | None) -> None:
        """Fail those who wait: what they sent may or may not have been done."""
        self._end(RedisConnectionError(f"the connection was lost: {error or 'closed by the server'}"))

    def _end(self, error: Exception) -> None:
        self.is_open, self._sent = False, 0
        self._transport.abort()
        while self._awaited:
            replied = self._awaited.popleft().replied
            if not replied.done():
                replied.set_exception(error)
                replied.exception()  # whoever waited may be gone

    async def close(self) -> None:
        """Let go of the connection, once what is under way has been answered."""
        waiting = [batch.replied for batch in self._awaited if not batch.replied.done()]
        if waiting:
            await asyncio.wait(waiting)
        if self._watch:
            self._watch.cancel()
        self.is_open = False
        await self._connection.disconnect(nowait=True)


async def connect(
    make: Callable[[], AbstractConnection], wired: Callable[[AbstractConnection], AnyConnection]
) -> AnyConnection:
    """Return a new connection, wired; raises redis-py's ConnectionError and TimeoutError, and OSError."""
    connection = make()
    try:
        await connection.connect()  # type: ignore[no-untyped-call]
        return wired(connection)
    except ResponseError as error:  # the server refuses to begin: it is busy, say
        await connection.disconnect(nowait=True)
        raise RedisConnectionError(str(error)) from error
    except BaseException:
        await connection.disconnect(nowait=True)
        raise


class RedisConnections:
    """A few connections; each batch takes the one with the least to answer."""

    def __init__(self, make: Callable[[], AbstractConnection], count: int, reply_seconds: float) -> None:
        self._make = make
        self._count = count
        self._reply_seconds = reply_seconds
        self._connections: list[RedisConnection] = []
        self._opening = asyncio.Lock()
        self._is_closed = False

    async def run(self, commands: Commands) -> list[Any]:
        """Return the replies to some commands; raises redis-py's ConnectionError and TimeoutError, and OSError."""
        wire = self._idlest()
        if wire is None:
            wire = await self._open()
        return await wire.send(commands)

    def _idlest(self) -> RedisConnection | None:
        wire = min(self._connections, key=len, default=None)
        if wire is None or not wire.is_open or (len(wire) and len(self._connections) < self._count):
            return None
        return wire

    async def _open(self) -> RedisConnection:
        async with self._opening:
            if self._is_closed:
                raise RedisConnectionError("the connections were closed")
            if wire := self._idlest():
                return wire  # others have opened it meanwhile
            for wire in [wire for wire in self._connections if not wire.is_open]:
                self._connections.remove(wire)
                await wire.close()
            wire = await connect(self._make, lambda connection: RedisConnection(connection, self._reply_seconds))
            self._connections.append(wire)
            return wire

    async def close(self) -> None:
        """Close every connection, once what is under way has been answered. No other is opened any more."""
        async with self._opening:
            self._is_closed = True
            while self._connections:
                await self._connections.pop().close()
