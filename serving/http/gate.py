"""Refuses whole requests before anything is done for them but parsing their HTTP.

aiohttp hands each connection's data to a parser, and answers the requests that it returns. The gate takes the parser's
place, and leaves out the requests that it refuses. So a refusal runs no middleware and makes no request object.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Protocol

import msgspec
from aiohttp import hdrs
from aiohttp.http import RawRequestMessage
from aiohttp.streams import StreamReader
from msgspec import Raw

from resolvers.process.errors import RequestError, ServiceUnavailable, Unauthenticated
from schema.execution.operations import Schema
from schema.execution.parameters import Parameters, bearer
from schema.execution.ports import Tokens
from serving.http import health, responses
from serving.http.headers import Origins, complete, request_id
from serving.http.requests import check
from serving.overload.kinds import STREAM, RequestKind, of_operation
from serving.overload.shedding import Shedder
from store.settings import Settings

_BODILESS = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_BREAK = b"\r\n\r\n"
_PLACE = "(request id)"

Parsed = tuple[Sequence[tuple[RawRequestMessage, StreamReader]], bool, bytes]


class GuardedConnection(Protocol):
    """One connection, as the gate sees it."""

    @property
    def is_free(self) -> bool:
        """Whether no earlier request is still to be answered."""

    def refuse(self, answer: bytes, body: StreamReader, *, is_last: bool) -> None:
        """Send an answer to a request whose body is read and dropped; after the last one, close the connection."""


class Door:
    """What the gates of all connections share."""

    def __init__(self, settings: Settings, shedder: Shedder, schema: Schema, tokens: Tokens) -> None:
        self.shedder = shedder
        self._schema = schema
        self._tokens = tokens
        self._origins = Origins(settings.cors_origins)
        self._prepared: dict[tuple[str, int], tuple[bytes, bytes]] = {}

    def refusal(self, message: RawRequestMessage, body: StreamReader) -> bytes | None:
        """Return the refusal of a request as it is sent, None where there is room for the request."""
        if message.method == hdrs.METH_OPTIONS or message.path in health.PATHS or hdrs.EXPECT in message.headers:
            return None
        is_signed_in = self._is_signed_in(message)
        # What a member asks for matters only where there is no room for the least of it.
        if is_signed_in and not self.shedder.refuses(STREAM):
            return None
        reason = self.shedder.reason(self._kind(message, body, is_signed_in=is_signed_in))
        if not reason:
            return None
        key = reason, next(self.shedder.retries)
        if key not in self._prepared:
            head, _, rest = encoded(ServiceUnavailable(*key), _PLACE).partition(_BREAK)
            self._prepared[key] = head, _BREAK + rest
        head, rest = self._prepared[key]
        head = head.replace(_PLACE.encode(), request_id(message.headers).encode())
        more = self._origins.headers(message.headers)
        return b"".join([head, *(f"\r\n{name}: {value}".encode() for name, value in more.items()), rest])

    def _kind(self, message: RawRequestMessage, body: StreamReader, *, is_signed_in: bool) -> RequestKind:
        operation = None
        if is_signed_in and message.method not in _BODILESS and body.is_eof():
            asked = _asked(b"".join(body._buffer))  # noqa: SLF001  reading it would take it away
            operation = self._schema.known_operation(asked) if asked else None
        return of_operation(operation, is_signed_in=is_signed_in)

    def _is_signed_in(self, message: RawRequestMessage) -> bool:
        """Return whether a request has a token that is signed and has not expired. Its session is not checked here."""
        value = message.headers.get(hdrs.AUTHORIZATION)
        try:
            return value is not None and bool(self._tokens.read(bearer(value)))
        except Unauthenticated:
            return False


class Gate:
    """The parser of one connection, without the requests that are refused."""

    __slots__ = ("_client", "_door", "_is_answering", "_is_stream", "_parser")

    def __init__(self, door: Door, client: GuardedConnection, parser: Any) -> None:
        self._door, self._client, self._parser = door, client, parser
        self._is_stream = False  # whether the newest request is being answered for as long as its client likes
        self._is_answering = False  # whether a request counts as being answered

    def feed_data(self, data: bytes) -> Parsed:
        """Return the requests that are complete up to their bodies, and what follows an upgrade."""
        parsed: Parsed = self._parser.feed_data(data)
        messages, is_upgraded, tail = parsed
        if not messages:
            return parsed
        may_refuse = self._door.shedder.arrive()
        message, body = messages[-1]
        self._is_stream = False
        # The request for a websocket is refused by its handler: the parser expects no other request behind it.
        if not may_refuse or is_upgraded or len(messages) > 1 or not self._client.is_free:
            return parsed
        refusal = self._door.refusal(message, body)
        if refusal is None:
            return parsed
        self._parser.message_consumed()
        self._client.refuse(refusal, body, is_last=message.should_close)
        return (), False, tail

    def begin(self) -> None:
        """Count the request that has arrived as being answered."""
        if not self._is_stream and not self._is_answering:
            self._is_answering = True
            self._door.shedder.running += 1

    def end(self) -> None:
        """Count no request as being answered."""
        if self._is_answering:
            self._is_answering = False
            self._door.shedder.running -= 1

    def stream(self) -> None:
        """Count the request no longer: a websocket or an event stream begins, and waits most of the time."""
        self._is_stream = True
        self.end()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)


def _asked(body: bytes) -> Parameters | None:
    """Return the parameters of a request without its variables, None where it is malformed: its handler says how."""
    try:
        sent = msgspec.json.decode(body, type=dict[str, Raw])
        return check({name: msgspec.json.decode(value) for name, value in sent.items() if name != "variables"})
    except (msgspec.MsgspecError, RequestError, RecursionError, UnicodeError):
        return None


def encoded(refused: RequestError, request_id: str, *, closes: bool = False) -> bytes:
    """Return a refusal as a complete HTTP response. There is no request yet that aiohttp could respond to."""
    response = responses.refusal(refused)
    complete(response.headers, request_id)
    body = response.body
    assert isinstance(body, bytes)
    response.headers[hdrs.CONTENT_LENGTH] = str(len(body))
    if closes:
        response.headers[hdrs.CONNECTION] = "close"
    lines = [f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
