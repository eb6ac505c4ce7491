"""Connections to one server that all callers share, with automatic pipelining, and what happens when it is silent.

redis-py opens a connection: it handles addresses, TLS, passwords and the database's number. Then this module takes over
the transport. Here a reply costs one iteration of a loop. redis-py's own pipeline spends a coroutine and a timer on it.

Commands that many callers send in the same turn of the event loop, or while replies are awaited, leave in one write.
Each write is a system call and wakes the server, however much it carries.

No caller holds a connection. A cancelled caller leaves at once, and its replies are read and dropped in their turn.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import hiredis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from store.client.metering import METER, WORK
from store.client.outages import TIMED_OUT, NotConnected, Silent, outage
from store.client.tasks import stop

Commands = Sequence[tuple[Any, ...]]

AnyConnection = TypeVar("AnyConnection", bound="RedisConnection")
PROBE_SECONDS = 2.0  # How long a probe waits. Then another connection is tried: the network may have dropped the first.
PAUSE_SECONDS = 0.1  # Between two probes.
UNFINISHED = object()  # in place of a reply that has not arrived completely


def _error(server: str, text: str) -> Exception:
    code, _, message = text.partition(" ")
    if code == "NOSCRIPT":
        return NoScriptError(text)
    return outage(code, text, server) or ResponseError(message if code == "ERR" else text)


class CircuitBreaker:
    """The state of one server. `probe` opens a connection and has a command answered; `server` is its name."""

    def __init__(self, server: str, probe: Callable[[], Awaitable[None]]) -> None:
        self.server = server
        self.is_open = False  # whether commands fail at once
        self._probe = probe
        self._since = 0.0  # when it was opened, by the loop's clock
        self._probing: asyncio.Task[None] | None = None

    @property
    def silence(self) -> float:
        """For how long commands have failed at once, s."""
        return asyncio.get_running_loop().time() - self._since if self.is_open else 0.0

    def check(self) -> None:
        """Raise Silent while the server has not answered."""
        if self.is_open:
            raise Silent(f"{self.server} does not answer")

    def open(self) -> None:
        """Make commands fail at once, and begin to probe: the server has left one unanswered."""
        if not self.is_open:
            loop = asyncio.get_running_loop()
            self.is_open, self._since = True, loop.time()
            self._probing = loop.create_task(self._run(), name="probe")

    async def _run(self) -> None:
        """Probe until the server answers. A refused connection is an answer, too: the next command fails at once."""
        while not await self._is_answered():  # noqa: ASYNC110  a server that answers again sets no event
            await asyncio.sleep(PAUSE_SECONDS)
        self.is_open = False

    async def _is_answered(self) -> bool:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await self._probe()
        except (Silent, *TIMED_OUT):
            return False
        except (RedisConnectionError, OSError):
            pass
        return True

    async def close(self) -> None:
        """Stop probing."""
        await stop(self._probing)


@dataclass(slots=True)
class CommandBatch:
    """Commands that were sent together, and the replies that have arrived so far."""

    size: int
    since: float  # when it was sent, by the loop's clock
    replied: asyncio.Future[list[Any]]
    take: Callable[[list[Any]], None] | None
    replies: list[Any] = field(default_factory=list)


class RedisConnection(asyncio.Protocol):
    """One open connection.

    Invariant: the next replies belong to the oldest batch sent. So a batch is queued as a whole or not at all. A reply
    that no batch waits for ends the connection.
    """

    encoding: str | None = "utf-8"  # of replies; None: they are bytes

    def __init__(
        self, connection: AbstractConnection, reply_seconds: float, breaker: CircuitBreaker | None = None
    ) -> None:
        self._connection = connection  # keeps the transport open
        self._transport: Any = connection._writer.transport  # type: ignore[union-attr]  # noqa: SLF001  redis-py has no public access to it
        self._breaker = breaker
        error = partial(_error, breaker.server if breaker else "")
        self._reader = hiredis.Reader(replyError=error, encoding=self.encoding, notEnoughData=UNFINISHED)
        self._awaited: deque[CommandBatch] = deque()
        self._unsent: list[bytes] = []
        self._sent = 0  # batches, among those awaited
        self._reply_seconds = reply_seconds
        self._loop = asyncio.get_running_loop()
        self._last_arrival = 0.0  # when data last arrived, or a reply was first awaited, by the loop's clock
        self._watch: asyncio.TimerHandle | None = None
        self._transport.set_protocol(self)
        self.is_open = not self._transport.is_closing()  # if it is, `connection_lost` went to redis-py's protocol

    def __len__(self) -> int:
        return len(self._awaited)

    @property
    def silence(self) -> float:
        """For how long the oldest batch has waited for its replies, s."""
        return self._loop.time() - self._awaited[0].since if self._awaited else 0.0

    def send(self, commands: Commands, take: Callable[[list[Any]], None] | None = None) -> asyncio.Future[list[Any]]:
        """Send commands; returns a future of their replies, in which a failed command's reply is the error itself.

        `take` gets the replies first, before any later data is parsed.
        Raises TypeError and UnicodeEncodeError for a command that cannot be encoded, and RedisConnectionError once the
        connection is lost. In each case nothing is sent.
        """
        if not self.is_open:
            raise RedisConnectionError("the connection was lost")
        packed = list(map(hiredis.pack_command, commands))
        METER.commands += len(packed)
        if (work := WORK.get()) is not None:
            work.commands += len(packed)
        if not self._unsent:
            self._loop.call_soon(self._leave)
        self._unsent += packed
        if not self._awaited:
            self._last_arrival = self._loop.time()
        batch = CommandBatch(len(commands), self._loop.time(), self._loop.create_future(), take)
        self._awaited.append(batch)
        if self._watch is None:
            self._watch = self._loop.call_later(self._reply_seconds, self._look)
        return batch.replied

    def _leave(self) -> None:
        """Write the gathered commands, unless replies are awaited: then they are written once those have arrived."""
        if self.is_open and not self._sent and self._unsent:
            packed, self._unsent, self._sent = self._unsent, [], len(self._awaited)
            self._transport.write(b"".join(packed))

    def data_received(self, data: bytes) -> None:
        """Parse replies and hand them to the callers that wait for them."""
        self._last_arrival = self._loop.time()
        self._reader.feed(data)
        try:
            while self._sent and self._complete(self._awaited[0]):
                batch = self._awaited.popleft()
                self._sent -= 1
                if batch.take:
                    batch.take(batch.replies)
                if not batch.replied.done():  # the caller may have been cancelled
                    batch.replied.set_result(batch.replies)
            if not self._sent:
                self._read_pushes()
            if self._unsent:
                self._leave()
        except (hiredis.ProtocolError, UnicodeDecodeError) as error:
            self._end(RedisConnectionError(f"not a reply: {error}"))

    def _read_pushes(self) -> None:
        while (push := self._reader.gets()) is not UNFINISHED:
            if type(push) is not hiredis.PushNotification:
                self._end(RedisConnectionError("a reply came that no command waits for"))
                return
            self._take_push(push, is_overtaking=False)

    def _complete(self, batch: CommandBatch) -> bool:
        read, replies = self._reader.gets, batch.replies
        while len(replies) < batch.size:
            try:
                reply = read()
            except UnicodeDecodeError as error:
                reply = error  # the reader has consumed this reply, so the next ones can still be parsed
            if reply is UNFINISHED:
                return False
            if type(reply) is hiredis.PushNotification:
                self._take_push(reply, is_overtaking=bool(replies))
            else:
                replies.append(reply)
        return True

    def _take_push(self, push: Sequence[Any], *, is_overtaking: bool) -> None:
        """Handle a push of the server. Here it is ignored: without tracking, none is expected.

        `is_overtaking` says whether it arrived between two replies of one batch.
        """

    def _look(self) -> None:
        self._watch = None
        if not self._awaited:
            return
        left = self._last_arrival + self._reply_seconds - self._loop.time()
        if left > 0:
            self._watch = self._loop.call_later(left, self._look)
        else:
            self._end(RedisTimeoutError(f"no reply for {self._reply_seconds:g} s"))
            if self._breaker:
                self._breaker.open()

    def connection_lost(self, error: Exception | None) -> None:
        """Fail all callers that wait. Their commands may or may not have been executed."""
        self._end(RedisConnectionError(f"the connection was lost: {error or 'closed by the server'}"))

    def _end(self, error: Exception) -> None:
        self.is_open, self._sent = False, 0
        self._transport.abort()
        while self._awaited:
            replied = self._awaited.popleft().replied
            if not replied.done():
                replied.set_exception(error)
                replied.exception()  # marks it as retrieved: the caller may have been cancelled

    def abort(self) -> None:
        """Close the connection at once. Callers that wait get an error."""
        self._end(RedisConnectionError("the connection was closed"))

    async def close(self) -> None:
        """Close the connection once all commands have been answered."""
        waiting = [batch.replied for batch in self._awaited if not batch.replied.done()]
        if waiting:
            await asyncio.wait(waiting)
        if self._watch:
            self._watch.cancel()
        self.is_open = False
        await self._connection.disconnect(nowait=True)


async def connect(
    make: Callable[[], AbstractConnection],
    wired: Callable[[AbstractConnection], AnyConnection],
    breaker: CircuitBreaker | None = None,
) -> AnyConnection:
    """Open a connection with `make` and return what `wired` makes of it. A time-out opens the breaker.

    Raises redis-py's ConnectionError, and OSError; Silent after a time-out, and while the breaker is open.
    """
    if breaker:
        breaker.check()
    connection = make()
    try:
        await connection.connect()  # type: ignore[no-untyped-call]
        return wired(connection)
    except ResponseError as error:  # the server refuses the handshake: it is busy, for example
        await connection.disconnect(nowait=True)
        raise RedisConnectionError(str(error)) from error
    except (RedisConnectionError, *TIMED_OUT) as error:
        await connection.disconnect(nowait=True)
        if not isinstance(error, TIMED_OUT) and not isinstance(error.__cause__, TIMED_OUT):  # redis-py hides some
            raise
        task = asyncio.current_task()
        if breaker and not (task and task.cancelling()):  # redis-py may mistake a cancellation for a time-out
            breaker.open()
        raise Silent(str(error)) from error
    except BaseException:
        await connection.disconnect(nowait=True)
        raise


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

    def run(self, commands: Commands) -> Awaitable[list[Any]]:
        """Return the replies to some commands; raises redis-py's ConnectionError and TimeoutError, and OSError.

        NotConnected is one of these: nothing was sent. No coroutine is needed where a connection is open.
        """
        connection = self._idlest()
        return self._open_and_run(commands) if connection is None else connection.send(commands)

    async def _open_and_run(self, commands: Commands) -> list[Any]:
        return await (await self.pick()).send(commands)

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
