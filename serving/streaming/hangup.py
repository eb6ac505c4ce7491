"""How a connection that stays open learns that its client is gone or reads again: aiohttp tells its handler neither."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import cast


class Hangup(asyncio.Protocol):
    """Stands before the protocol of a connection, passes everything on, and notes when the client is gone.

    `resumed` is called when the kernel has taken all that was written, and when nothing more can be.
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
        """Pass on what the client has sent."""
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        """Note that the client has closed its side; aiohttp closes the other one at that."""
        self._note()
        return self._protocol.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is gone."""
        self._note()
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass on that the client does not read."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the client reads again."""
        self._protocol.resume_writing()
        self._resumed()

    def _note(self) -> None:
        if not self.noticed.done():
            self.noticed.set_result(None)
            self._resumed()


def limit_silence(transport: asyncio.Transport, seconds: float) -> None:
    """Have the kernel give a connection up when nothing that was sent has been acknowledged for so long.

    Without this, where the other end is gone without a word, it goes on trying for a quarter of an hour. Linux only.
    """
    connected: socket.socket | None = transport.get_extra_info("socket")
    if sys.platform == "linux" and connected is not None and connected.family in {socket.AF_INET, socket.AF_INET6}:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))
