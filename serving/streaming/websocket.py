"""One websocket: its messages of graphql-transport-ws, the operations that they carry, and its close codes.

The npm client `graphql-ws` reconnects after 1001, 1013, 4403 and 4408, and never after the other codes below. Each code
is chosen so that this client does the right thing.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from json import JSONDecodeError
from types import MappingProxyType
from typing import Any

from aiohttp import ClientError, WSCloseCode, WSMsgType, web
from graphql import GraphQLError
from strawberry.types.execution import ExecutionResult

from resolvers.process.errors import BadUserInput
from schema.execution.encoding import JsonResult, encode, kind, loads, to_json
from schema.execution.parameters import Parameters, document_id
from serving.observing import Observed
from serving.streaming.deliver import ClientGone
from serving.streaming.room import Hangup, RenderingTurn, Room

MESSAGES_WAITING = 16  # Queued messages of one socket whose client reads slowly.
TAIL = b"}"  # The end of a message whose last member is its payload.

_REASON_BYTES = 123  # A control frame carries 125 bytes, and the code takes two (RFC 6455 §5.5).
_WRITTEN_AT_ONCE = 8_192  # Bytes: at most half of what a transport takes before its writers must wait.
_WHOLE_TEXT = 0x80 | WSMsgType.TEXT  # The first byte of a text frame that is not continued.
_LENGTH_FOLLOWS = 126  # A length that stands for the two bytes after it.
_PROBE = b""  # A placeholder in the queue for an unsolicited pong, which clients ignore (RFC 6455 §5.5.3).
_CLOSED = {WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED}
_LOST = (RuntimeError, ConnectionError, ClientError)  # The errors of aiohttp for a closed socket.
_CLOSE_SECONDS = 4.0  # Time for the closing handshake before the connection is dropped.
_OPTIONAL_OBJECT = (dict, type(None))
_OPTIONAL_TEXT = (str, type(None))
_FIELDS: Mapping[str, Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "connection_init": {"payload": _OPTIONAL_OBJECT},
        "ping": {"payload": _OPTIONAL_OBJECT},
        "pong": {"payload": _OPTIONAL_OBJECT},
        "subscribe": {"id": (str,), "payload": (dict,)},
        "complete": {"id": (str,)},
    }
)
_SUBSCRIBE_PAYLOAD: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "query": _OPTIONAL_TEXT,
        "operationName": _OPTIONAL_TEXT,
        "variables": _OPTIONAL_OBJECT,
        "extensions": _OPTIONAL_OBJECT,
    }
)


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


class MalformedMessage(Exception):
    """A client's message is malformed; the text says why."""


def _read(text: str) -> Mapping[str, Any]:
    """Return a message, which has the form that its type needs; raises MalformedMessage."""
    try:
        message = loads(text)
    except JSONDecodeError:
        raise MalformedMessage("WebSocket message must be valid JSON") from None
    if not isinstance(message, dict):
        raise MalformedMessage(f"A message must be an object, not {kind(message)}")
    form = message.get("type")
    fields = _FIELDS.get(form) if isinstance(form, str) else None
    if fields is None:
        raise MalformedMessage("Unknown message type")
    wrong = _wrong(message, fields)
    if wrong is None and form == "subscribe":
        payload = message["payload"]
        wrong = _wrong(payload, _SUBSCRIBE_PAYLOAD) or _wrong_document(payload)
    if wrong is not None:
        raise MalformedMessage(wrong)
    return message


def _wrong_document(payload: Mapping[str, object]) -> str | None:
    try:
        is_missing = document_id(payload) is None and payload.get("query") is None
    except BadUserInput as error:
        return error.message
    return "`query` is missing" if is_missing else None


def _wrong(values: Mapping[str, object], fields: Mapping[str, tuple[type, ...]]) -> str | None:
    for name, types in fields.items():
        if not isinstance(values.get(name), types):
            return f"`{name}` is missing or has the wrong type"
        if name == "id" and not values[name]:
            return "`id` is empty"
    return None


class Channel:
    """One websocket with a bounded queue of messages, which a single task writes while the client is slow.

    Senders wait for room in the queue (backpressure). So a client that does not read stops its own operations, and
    memory does not grow. An operation that is cancelled while it waits does not affect the messages of others.
    """

    def __init__(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        self._request = request
        self._socket = socket
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue(MESSAGES_WAITING)
        self._writing = asyncio.create_task(self._write())
        transport = request.transport
        self.room = Room(transport, self._is_held_up, lambda: self._outgoing.put_nowait(_PROBE))
        if transport is not None:
            Hangup(transport, self.room.writable)

    @property
    def is_closed(self) -> bool:
        """Whether either side has closed the socket."""
        return self._socket.closed

    async def receive(self) -> Mapping[str, Any] | None:
        """Return the client's next message, None once either side has closed the socket; raises MalformedMessage."""
        while True:
            frame = await self._socket.receive()
            if frame.type in _CLOSED:
                return None
            if frame.type is WSMsgType.BINARY:
                raise MalformedMessage("WebSocket message type must be text")
            if frame.type is WSMsgType.TEXT:
                return _read(frame.data)

    async def send(self, message: bytes) -> None:
        """Send a message of JSON once there is room; raises ClientGone when the socket is closed."""
        if self._socket.closed:
            raise ClientGone
        self.room.sent(len(message))
        if not self._is_held_up() and len(message) < _WRITTEN_AT_ONCE:
            # No message waits, so this one is written at once. That saves waking the writing task.
            try:
                await self._socket.send_frame(message, WSMsgType.TEXT)
            except _LOST:
                raise ClientGone from None
        else:
            await self._outgoing.put(message)

    def send_now(self, head: bytes, payload: bytes) -> bool:
        """Send a message at once: a head and the payload at its end; return False if it would have to wait."""
        size, transport = len(head) + len(payload) + len(TAIL), self._request.transport
        if self._socket.closed or transport is None or transport.is_closing():
            return False
        if size >= _WRITTEN_AT_ONCE or not self.room.is_open:
            return False
        self.room.sent(size)
        # aiohttp would frame the message as well, but in two coroutines.
        transport.write(b"".join((_frame_header(size), head, payload, TAIL)))
        return True

    def _is_held_up(self) -> bool:
        # A message that the writing task has taken is already in the transport, so the order is kept.
        transport = self._request.transport
        return not self._outgoing.empty() or transport is None or transport.get_write_buffer_size() > 0

    async def end(self, close: Close, detail: str = "") -> None:
        """Close the socket with a code and its reason, or with the detail in place of the reason.

        It is closed whether or not the client cooperates. A second call changes nothing.
        """
        code, reason, _ = close.value
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._socket.close(code=code, message=_fit(detail or reason))
        except TimeoutError:
            self.cut()

    def cut(self) -> None:
        """Drop the connection and all unsent data."""
        if self._request.transport is not None:
            self._request.transport.abort()

    async def stop(self) -> None:
        """Stop writing, and drop the waiting messages."""
        self._writing.cancel()
        with suppress(asyncio.CancelledError):
            await self._writing

    async def _write(self) -> None:
        while True:
            message = await self._outgoing.get()
            is_probe = message is _PROBE
            try:
                await (self._socket.pong() if is_probe else self._socket.send_frame(message, WSMsgType.TEXT))
                if not self._is_held_up():
                    self.room.probed() if is_probe else self.room.look_again()
            except _LOST:
                # The socket is closed, and the reading side will end it. Until then, messages are dropped, so that no
                # sender waits for room forever.
                continue
            except asyncio.CancelledError:
                # All writers that wait for aiohttp share one future. Closing the socket cancels it for this task too.
                if self._writing.cancelling():
                    raise


class SocketOperation:
    """An operation on a websocket, which runs in a task of its own. Its messages carry its id.

    It sends its results, and then exactly one message that ends it.
    """

    def __init__(
        self, message: Mapping[str, Any], channel: Channel, forget: "Callable[[SocketOperation], None]"
    ) -> None:
        """Prepare the operation of a `subscribe` message. `forget` makes its id available again, before it ends."""
        self.id: str = message["id"]
        payload = message["payload"]
        query, name = payload.get("query") or "", payload.get("operationName") or None
        variables, extensions = payload.get("variables"), payload.get("extensions")
        self.asked = Parameters(query, name, variables, extensions, document_id(payload))
        self.task: asyncio.Task[None] | None = None
        self.turn: RenderingTurn | None = None
        self.observed: Observed | None = None
        self._channel = channel
        self._forget = forget
        self._is_completed = False
        self._head = b'{"id":%b,"type":"next","payload":' % encode(self.id)

    async def send_next(self, execution_result: ExecutionResult) -> None:
        """Send one result."""
        if self.turn is not None:
            self.turn.rendered()
        if self.observed and execution_result.errors:
            self.observed.fail(execution_result.errors[0])
        if not self._is_completed:
            await self._channel.send(b"".join((self._head, to_json(execution_result), TAIL)))

    def send_now(self, result: JsonResult) -> bool:
        """Send a shared result at once; return False, and send nothing, if it would have to wait."""
        return not self._is_completed and self._channel.send_now(self._head, result.json)

    async def send_initial_errors(self, errors: list[GraphQLError]) -> None:
        """Send request errors, which end the operation."""
        if self.observed:
            self.observed.fail(errors[0])
        await self._end({"id": self.id, "type": "error", "payload": [error.formatted for error in errors]})

    async def send_complete(self) -> None:
        """Send `complete`, unless the operation has already been completed."""
        await self._end({"id": self.id, "type": "complete"})

    async def _end(self, message: Mapping[str, object]) -> None:
        if self._is_completed:
            return
        self._is_completed = True
        self._forget(self)
        await self._channel.send(encode(message))


def _frame_header(size: int) -> bytes:
    """Return the header of an unmasked text frame that is the whole message (RFC 6455 §5.2)."""
    if size < _LENGTH_FOLLOWS:
        return bytes((_WHOLE_TEXT, size))
    return bytes((_WHOLE_TEXT, _LENGTH_FOLLOWS)) + size.to_bytes(2, "big")


def _fit(reason: str) -> bytes:
    return reason.encode()[:_REASON_BYTES].decode(errors="ignore").encode()
