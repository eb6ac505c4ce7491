"""Counts the frames that a client sends over a websocket, and stops reading from one that sends too many."""

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web

from store.client.metering import METER

BURST_SECONDS = 2  # a client that was silent may send the frames of so long at once

_MASKED, _LENGTH = 0x80, 0x7F  # parts of a header's second byte (RFC 6455 §5.2)
_LENGTH_BYTES = {126: 2, 127: 8}  # lengths that stand for one in the bytes after them
_MASK_BYTES = 4


class FrameMeter:
    """The parser of one websocket, which takes no frames above a rate.

    aiohttp's parser takes all frames of a packet without a pause. It answers pings and joins fragments, so that nothing
    above it sees them. So frames of all kinds are counted before it gets them, by their headers.
    """

    def __init__(self, protocol: web.RequestHandler, per_second: int) -> None:
        self._protocol = protocol
        self._rate, self._most = per_second, per_second * BURST_SECONDS
        self._allowed: float = self._most
        self._clock = asyncio.get_running_loop().time
        self._counted_at = self._clock()
        self._payload = 0  # bytes of the present frame's mask and payload that are still to come
        self._header = b""  # the beginning of a header whose rest is still to come
        self._parser: Any = None
        self._is_over = not self._takes(protocol._message_tail)  # noqa: SLF001  what came with the request
        self._when_over: Callable[[], None] | None = None

    def begin(self, when_over: Callable[[], None]) -> None:
        """Take the place of the websocket's parser; `when_over` is called once, when there are too many frames."""
        self._parser, self._when_over = self._protocol._payload_parser, when_over  # noqa: SLF001  aiohttp has no hook
        self._protocol._payload_parser = self  # noqa: SLF001
        if self._is_over:
            self._stop()

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Parse what has arrived, or nothing of it above the rate; nothing follows a websocket, so none is left."""
        if self._is_over or not self._takes(data):
            self._stop()
            return False, b""
        read: tuple[bool, bytes] = self._parser.feed_data(data)
        return read

    def feed_eof(self) -> None:
        """End the websocket, because its client is gone."""
        self._parser.feed_eof()

    def _stop(self) -> None:
        """Read no more. The connection is dropped if its client does not close it in time."""
        self._is_over = True
        if self._protocol.transport is not None:
            self._protocol.transport.pause_reading()
        if self._when_over is not None:
            METER.refusals["socket_frames_per_second"] += 1
            when_over, self._when_over = self._when_over, None
            when_over()

    def _takes(self, data: bytes) -> bool:
        """Count the frames that begin in data, and return whether they are within the rate."""
        now = self._clock()
        self._allowed = min(self._most, self._allowed + (now - self._counted_at) * self._rate)
        self._counted_at = now
        place = min(self._payload, len(data))
        self._payload -= place
        while place < len(data):
            header = self._header + data[place : place + 2 + max(_LENGTH_BYTES.values())]
            size = _header_size(header)
            if len(header) < size:
                self._header = header
                return True
            place += size - len(self._header)
            self._header = b""
            self._allowed -= 1
            if self._allowed < 0:
                return False
            left = _payload_size(header[:size])
            taken = min(left, len(data) - place)
            place += taken
            self._payload = left - taken
        return True


def _header_size(header: bytes) -> int:
    """Return how long a frame's header is, without the mask; as far as is known, of a header that has only begun."""
    return 2 + (_LENGTH_BYTES.get(header[1] & _LENGTH, 0) if len(header) > 1 else 0)


def _payload_size(header: bytes) -> int:
    """Return how many bytes of mask and payload follow a whole header."""
    length = header[1] & _LENGTH
    if length in _LENGTH_BYTES:
        length = int.from_bytes(header[2:], "big")
    return length + (_MASK_BYTES if header[1] & _MASKED else 0)
