"""Notices when the client of a long-lived connection is gone or reads again. aiohttp reports neither to a handler."""

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import cast


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
