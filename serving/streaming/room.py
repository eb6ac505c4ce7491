"""Backpressure: an operation reads data for an event only when the kernel can take the rendered event at once.

So no rendered event waits in the process. A slow client gets the data of the moment when there is room, not the data of
the moment when the event happened. No handler of aiohttp hears that a client is gone or reads again: `Hangup` notices
both.
"""

import asyncio
import select
import socket
import sys
from collections import deque
from collections.abc import Callable
from typing import cast

UNSENT_BYTES = 8_192  # Bytes that the kernel buffers per connection, apart from data in flight: some twenty messages.

_ROOM_BYTES = UNSENT_BYTES // 2  # Bytes that the kernel surely takes when it reports a connection as writable.
_MESSAGE_BYTES = 256  # Assumed size of the largest message of a connection, until a larger one was sent.


class Room:
    """The room of one connection: it limits how many operations may render and send an event at the same time.

    `is_held_up` returns whether data waits in the process to be sent. `probe` sends a message without meaning, to learn
    when the kernel takes more.
    """

    def __init__(
        self, transport: asyncio.Transport | None, is_held_up: Callable[[], bool], probe: Callable[[], None]
    ) -> None:
        self._transport = transport
        self._is_held_up = is_held_up
        self._probe = probe
        self._poll = _watch(transport)
        self._free = 0  # Bytes that the kernel will surely take.
        self._holders = 0
        self._largest = _MESSAGE_BYTES
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        """Wait until the event of one more operation can be sent at once."""
        if self.is_open:
            self._holders += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self.look_again()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it got room at the same moment
                await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        """Release the room: the event was sent, or there was nothing to send."""
        self._holders -= 1
        if self._waiting:
            self.look_again()

    @property
    def is_open(self) -> bool:
        """Whether a message can be sent at once, ahead of no operation that waits."""
        return not self._waiting and self._has_room()

    def sent(self, size: int) -> None:
        """Note how many bytes were written to the transport."""
        self._free -= size
        self._largest = max(self._largest, size)

    def look_again(self) -> None:
        """Let waiting operations continue, as far as there is room now."""
        while self._waiting and (self._waiting[0].done() or self._has_room()):
            self._give()
        # A holder calls this again when it leaves, and so does the transport once it is empty.
        if self._waiting and not self._holders and not self._is_held_up():
            self._probe()

    def writable(self) -> None:
        """Note that the kernel has taken everything that waited in the transport."""
        self._free = _ROOM_BYTES
        self.look_again()

    def probed(self) -> None:
        """Note that the kernel has taken a probe at once, so it takes one more message."""
        if self._waiting and not self._holders:
            self._give()

    def _give(self) -> None:
        turn = self._waiting.popleft()
        if not turn.done():  # else its operation was cancelled
            self._holders += 1
            turn.set_result(None)

    def _has_room(self) -> bool:
        needed = (self._holders + 1) * self._largest
        if needed <= self._free:
            return not self._is_held_up()
        if self._transport is None or self._transport.is_closing():
            return True  # sending will fail, and the sender notices
        if self._is_held_up() or not self._poll.poll(0):
            return False
        self._free = _ROOM_BYTES
        return needed <= self._free or not self._holders


class RenderingTurn:
    """The turns of one operation: a context manager that is held while it reads, renders and sends one event.

    A process renders few events at a time, so that no client waits long for the event loop.
    """

    def __init__(self, room: Room, looks: asyncio.Semaphore) -> None:
        self._room = room
        self._looks = looks
        self._is_looking = False

    async def __aenter__(self) -> None:
        """Wait until there is room to send, and then for a slot to render."""
        await self._room.__aenter__()
        try:
            await self._looks.acquire()
        except BaseException:
            await self._room.__aexit__()
            raise
        self._is_looking = True

    async def __aexit__(self, *_: object) -> None:
        """End the turn: the event was sent, or there was nothing to send."""
        self.rendered()
        await self._room.__aexit__()

    def rendered(self) -> None:
        """Free the slot to render. The event still has to be sent, which may take long for a slow client."""
        if self._is_looking:
            self._is_looking = False
            self._looks.release()


class Hangup(asyncio.Protocol):
    """A proxy before the protocol of a connection. It forwards every call, and notes when the client is gone.

    `resumed` is called when the kernel has taken everything that was written, and when the connection is lost.
    """

    def __init__(self, transport: asyncio.Transport, resumed: Callable[[], None]) -> None:
        self._transport = transport
        self._resumed = resumed
        self._protocol = cast("asyncio.Protocol", transport.get_protocol())
        self.noticed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        transport.set_protocol(self)

    def stand_aside(self) -> None:
        """Give the connection back to its protocol."""
        self._transport.set_protocol(self._protocol)

    def data_received(self, data: bytes) -> None:
        """Forward data from the client."""
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        """Note that the client has closed its side. aiohttp closes the other side then."""
        self._note()
        return self._protocol.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone."""
        self._note()
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        """Forward that the client does not read."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """Forward that the client reads again."""
        self._protocol.resume_writing()
        self._resumed()

    def _note(self) -> None:
        if not self.noticed.done():
            self.noticed.set_result(None)
            self._resumed()


def limit_silence(transport: asyncio.Transport, seconds: float) -> None:
    """Make the kernel drop a connection when sent data stays unacknowledged for so many seconds (TCP_USER_TIMEOUT).

    Otherwise, when the other end vanishes, the kernel retransmits for a quarter of an hour. Linux only.
    """
    connected: socket.socket | None = transport.get_extra_info("socket")
    if sys.platform == "linux" and connected is not None and connected.family in {socket.AF_INET, socket.AF_INET6}:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))


def _watch(transport: asyncio.Transport | None) -> select.poll:
    """Make kernel and transport of a connection buffer little, and return a poll object that reports room."""
    poll = select.poll()
    connected: socket.socket | None = transport.get_extra_info("socket") if transport is not None else None
    if transport is not None and connected is not None:
        transport.set_write_buffer_limits(high=0)  # so that its protocol is called whenever it becomes empty
        if connected.family in {socket.AF_INET, socket.AF_INET6}:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        poll.register(connected.fileno(), select.POLLOUT)
    return poll
