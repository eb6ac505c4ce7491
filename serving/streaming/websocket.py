"""Writes to a websocket and closes it with a close code.

The npm client `graphql-ws` reconnects after 1001, 1013, 4403 and 4408, and never after the other codes below. Each code
is chosen so that this client does the right thing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from enum import Enum
from typing import Any

from aiohttp import ClientError, WSCloseCode, WSMsgType, web
from strawberry.aiohttp.views import AiohttpWebSocketAdapter, GraphQLView
from strawberry.http.exceptions import WebSocketDisconnected

from serving.streaming.hangup import Hangup
from serving.streaming.room import Room

MESSAGES_WAITING = 16  # Queued messages of one socket whose client reads slowly.

_REASON_BYTES = 123  # A control frame carries 125 bytes, and the code takes two (RFC 6455 §5.5).
_WRITTEN_AT_ONCE = 8_192  # Characters: at most half of what a transport takes before its writers must wait.
_TAIL = b"}"  # The end of a message whose last member is its payload.
_WHOLE_TEXT = 0x80 | WSMsgType.TEXT  # The first byte of a text frame that is not continued.
_LENGTH_FOLLOWS = 126  # A length that stands for the two bytes after it.
_PROBE = ""  # A placeholder in the queue for an unsolicited pong, which clients ignore (RFC 6455 §5.5.3).
_LOST = (RuntimeError, ConnectionError, ClientError)  # The errors of aiohttp for a closed socket.
_CLOSE_SECONDS = 4.0  # Time for the closing handshake before the connection is dropped.


class Close(Enum):
    """The reasons for closing a socket: close code, reason, and advice to the client."""

    GOING_AWAY = (WSCloseCode.GOING_AWAY, "Going away", "connect again: the process stops, another one serves")
    BAD_FRAME = (WSCloseCode.PROTOCOL_ERROR, "names what is wrong", "correct the client")
    BAD_TEXT = (WSCloseCode.INVALID_TEXT, "Invalid UTF-8 text message", "correct the client")
    TOO_BIG = (WSCloseCode.MESSAGE_TOO_BIG, "names the limit", "send messages of at most `MAX_BODY`")
    BROKEN = (WSCloseCode.INTERNAL_ERROR, "Internal error", "report it: the server has a defect")
    TRY_AGAIN = (WSCloseCode.TRY_AGAIN_LATER, "The database cannot be reached", "connect again, later each time")
    TOO_MANY_SOCKETS = (WSCloseCode.TRY_AGAIN_LATER, "Too many websockets", "close another one, or connect again later")
    TOO_MANY_FRAMES = (
        WSCloseCode.POLICY_VIOLATION,
        "Too many frames",
        "send at most `SOCKET_FRAMES_PER_SECOND`, pings and fragments included",
    )
    MALFORMED = (4400, "Malformed message", "correct the client")
    NOT_ACKNOWLEDGED = (4401, "Unauthorized: connection_init comes first", "correct the client")
    FORBIDDEN = (
        4403,
        "Forbidden",
        "the token is refused or the session has ended: refresh it and connect again, once; then log in",
    )
    WRONG_SUBPROTOCOL = (4406, "Subprotocol not acceptable", "speak graphql-transport-ws")
    SILENT = (4408, "Connection initialisation timeout", "connect again, and send `connection_init` at once")
    ID_IN_USE = (4409, "Subscriber already exists", "correct the client")
    TOO_MANY_INITS = (4429, "Too many initialisation requests", "correct the client")


def close_codes_table() -> str:
    """Return the table of close codes that the documentation shows, in Markdown."""
    rows = ["| code | reason | what the client should do |", "|---|---|---|"]
    rows += [f"| {int(code)} | {reason} | {advice} |" for code, reason, advice in (close.value for close in Close)]
    return "\n".join(rows)


class Channel(AiohttpWebSocketAdapter):
    """One websocket with a bounded queue of messages, which a single task writes while the client is slow.

    Senders wait for room in the queue (backpressure). So a client that does not read stops its own operations, and
    memory does not grow. An operation that is cancelled while it waits does not affect the messages of others.
    """

    request: web.Request
    ws: web.WebSocketResponse

    def __init__(self, view: GraphQLView[Any, Any], request: web.Request, ws: web.WebSocketResponse) -> None:
        super().__init__(view, request, ws)
        self._outgoing: asyncio.Queue[str] = asyncio.Queue(MESSAGES_WAITING)
        self._writing = asyncio.create_task(self._write())
        transport = request.transport
        self.room = Room(transport, self._is_held_up, lambda: self._outgoing.put_nowait(_PROBE))
        if transport is not None:
            Hangup(transport, self.room.writable)

    async def iter_json(self, *, ignore_parsing_errors: bool = False) -> AsyncGenerator[object, None]:
        """Yield the client's messages as they arrive. After each, whatever else waits for the process has its turn."""
        async with aclosing(super().iter_json(ignore_parsing_errors=ignore_parsing_errors)) as messages:
            async for message in messages:
                yield message
                await asyncio.sleep(0)

    async def send_json(self, message: Mapping[str, object]) -> None:
        """Send a message once there is room; raises WebSocketDisconnected when the socket is closed."""
        text = self.view.encode_json(message)
        await self.send_text(text if isinstance(text, str) else text.decode())

    async def send_text(self, text: str) -> None:
        """Send an encoded message once there is room; raises WebSocketDisconnected when the socket is closed."""
        if self.ws.closed:
            raise WebSocketDisconnected
        self.room.sent(len(text) if text.isascii() else len(text.encode()))
        if not self._is_held_up() and len(text) < _WRITTEN_AT_ONCE:
            # No message waits, so this one is written at once. That saves waking the writing task.
            try:
                await self.ws.send_str(text)
            except _LOST:
                raise WebSocketDisconnected from None
        else:
            await self._outgoing.put(text)

    def send_now(self, head: bytes, payload: bytes) -> bool:
        """Send a message of JSON at once: a head and the payload at its end; return False if it would have to wait."""
        size = len(head) + len(payload) + len(_TAIL)
        transport = self.request.transport
        if self.ws.closed or transport is None or transport.is_closing():
            return False
        if size >= _WRITTEN_AT_ONCE or not self.room.is_open:
            return False
        self.room.sent(size)
        # aiohttp would frame the message as well, but as text, and in three coroutines.
        transport.write(b"".join((_frame_header(size), head, payload, _TAIL)))
        return True

    def _is_held_up(self) -> bool:
        # A message that the writing task has taken is already in the transport, so the order is kept.
        transport = self.request.transport
        return not self._outgoing.empty() or transport is None or transport.get_write_buffer_size() > 0

    async def close(self, code: int, reason: str) -> None:
        """Close the socket, whether or not the client cooperates. A second call changes nothing."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.ws.close(code=code, message=_fit(reason))
        except TimeoutError:
            self.cut()

    async def end(self, close: Close, detail: str = "") -> None:
        """Close the socket with a code and its reason, or with the detail in place of the reason."""
        code, reason, _ = close.value
        await self.close(code, detail or reason)

    def cut(self) -> None:
        """Drop the connection and all unsent data."""
        if self.request.transport is not None:
            self.request.transport.abort()

    async def stop(self) -> None:
        """Stop writing, and drop the waiting messages."""
        self._writing.cancel()
        with suppress(asyncio.CancelledError):
            await self._writing

    async def _write(self) -> None:
        while True:
            text = await self._outgoing.get()
            try:
                await (self.ws.send_str(text) if text is not _PROBE else self.ws.pong())
                if not self._is_held_up():
                    self.room.probed() if text is _PROBE else self.room.look_again()
            except _LOST:
                # The socket is closed, and the reading side will end it. Until then, messages are dropped, so that no
                # sender waits for room forever.
                continue
            except asyncio.CancelledError:
                # All writers that wait for aiohttp share one future. Closing the socket cancels it for this task too.
                if self._writing.cancelling():
                    raise


def _frame_header(size: int) -> bytes:
    """Return the header of an unmasked text frame that is the whole message (RFC 6455 §5.2)."""
    if size < _LENGTH_FOLLOWS:
        return bytes((_WHOLE_TEXT, size))
    return bytes((_WHOLE_TEXT, _LENGTH_FOLLOWS)) + size.to_bytes(2, "big")


def _fit(reason: str) -> bytes:
    return reason.encode()[:_REASON_BYTES].decode(errors="ignore").encode()
