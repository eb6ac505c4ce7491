"""Room to send: an operation looks at the data only when the kernel takes at once what it finds.

So nothing that was decided for a client waits in the process. A client that reads slowly gets what is so when there is
room, and not what was so when an event happened.
"""

from __future__ import annotations

import asyncio
import select
import socket
from collections import deque
from collections.abc import Callable

UNSENT_BYTES = 8_192  # that the kernel keeps of one connection beside what is on its way: some twenty messages

_ROOM_BYTES = UNSENT_BYTES // 2  # that the kernel surely takes when it calls a connection writable
_MESSAGE_BYTES = 256  # of the largest message of a connection, until a larger one was sent


class Room:
    """The room of one connection: how many of its operations may look, and send what they find, at a time.

    `is_held_up` tells whether something waits in the process to be sent. `probe` sends something that means nothing, to
    learn when the kernel takes more.
    """

    def __init__(
        self, transport: asyncio.Transport | None, is_held_up: Callable[[], bool], probe: Callable[[], None]
    ) -> None:
        self._transport = transport
        self._is_held_up = is_held_up
        self._probe = probe
        self._poll = _watch(transport)
        self._free = 0  # bytes that the kernel surely takes
        self._holders = 0
        self._largest = _MESSAGE_BYTES
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        """Wait until what one more operation finds can be sent at once."""
        if not self._waiting and self._has_room():
            self._holders += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self.look_again()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was given room at the same moment
                await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        """Give the room up: what was found is sent, or there was nothing."""
        self._holders -= 1
        if self._waiting:
            self.look_again()

    def sent(self, size: int) -> None:
        """Learn how many bytes were given to the transport."""
        self._free -= size
        self._largest = max(self._largest, size)

    def look_again(self) -> None:
        """Let waiting operations go on, as far as there is room by now."""
        while self._waiting and (self._waiting[0].done() or self._has_room()):
            self._give()
        # A holder looks again when it leaves. So does the transport, once it is emptied.
        if self._waiting and not self._holders and not self._is_held_up():
            self._probe()

    def writable(self) -> None:
        """Learn that the kernel has taken all that waited in the transport."""
        self._free = _ROOM_BYTES
        self.look_again()

    def probed(self) -> None:
        """Learn that the kernel has taken a probe at once: it takes one message more."""
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
            return True  # for nothing: who sends learns of it
        if self._is_held_up() or not self._poll.poll(0):
            return False
        self._free = _ROOM_BYTES
        return needed <= self._free or not self._holders


class Turn:
    """The turns of one operation: held while it looks at the data, renders what it finds, and sends it.

    A process renders few events at a time, so that no client waits long for its turn of the event loop.
    """

    def __init__(self, room: Room, looks: asyncio.Semaphore) -> None:
        self._room = room
        self._looks = looks
        self._is_looking = False

    async def __aenter__(self) -> None:
        """Wait until there is room to send, and then until others have looked."""
        await self._room.__aenter__()
        try:
            await self._looks.acquire()
        except BaseException:
            await self._room.__aexit__()
            raise
        self._is_looking = True

    async def __aexit__(self, *_: object) -> None:
        """End the turn: what was found is sent, or there was nothing."""
        self.rendered()
        await self._room.__aexit__()

    def rendered(self) -> None:
        """Let others look: what was found has only to be sent, which may take a slow client long."""
        if self._is_looking:
            self._is_looking = False
            self._looks.release()


def _watch(transport: asyncio.Transport | None) -> select.poll:
    """Have the kernel and the transport of a connection keep little, and return what asks the kernel for room."""
    poll = select.poll()
    connected: socket.socket | None = transport.get_extra_info("socket") if transport is not None else None
    if transport is not None and connected is not None:
        transport.set_write_buffer_limits(high=0)  # so that its protocol learns of every time it is emptied
        if connected.family in {socket.AF_INET, socket.AF_INET6}:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        poll.register(connected.fileno(), select.POLLOUT)
    return poll
