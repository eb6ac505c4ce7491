"""Sees each request first: refuses it, answers a plain one, or leaves it to aiohttp.

aiohttp hands each connection's data to a parser, and answers the requests that it returns. The gate takes the parser's
place, and leaves out the requests that it refuses or answers. They need none of aiohttp's objects but those of the
parser. A plain request is a whole POST of JSON to the endpoint, with usual headers. aiohttp answers all others.
"""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web
from aiohttp.http import HttpVersion11, RawRequestMessage
from aiohttp.streams import StreamReader
from graphql import OperationDefinitionNode

from resolvers.process.errors import RequestError, ServiceUnavailable, Unauthenticated
from schema.execution.operations import Schema
from schema.execution.parameters import bearer
from schema.execution.ports import Tokens
from serving.http import health, requests, responses
from serving.http.middleware import Origins, encoded, request_id
from serving.http.negotiation import JSON, takes_events
from serving.http.requests import Asked
from serving.http.responses import HttpAnswer
from serving.overload.shedding import STREAM, Shedder, of_operation
from store.client.tasks import stop
from store.settings import Settings

_UNUSUAL = (hdrs.EXPECT, hdrs.UPGRADE, hdrs.TRANSFER_ENCODING, hdrs.CONTENT_ENCODING)


class Door:
    """What the gates of all connections share."""

    def __init__(
        self,
        settings: Settings,
        shedder: Shedder,
        schema: Schema,
        tokens: Tokens,
        endpoint: Callable[[Asked], Awaitable[HttpAnswer | web.StreamResponse]],
    ) -> None:
        self.lean = True  # whether plain requests are answered here; tests compare both ways
        self.shedder = shedder
        self.answering: dict[object, asyncio.Task[None]] = {}  # tasks that answer plain requests, by their connections
        self._most_body = settings.max_body
        self._schema = schema
        self._tokens = tokens
        self.endpoint = endpoint
        self._origins = Origins(settings.cors_origins)
        self._refusals: dict[tuple[str, int], HttpAnswer] = {}

    # ------------------------------------------------------------ what is refused

    def refusal(self, message: RawRequestMessage, body: StreamReader, asked: Asked | None) -> bytes | None:
        """Return the refusal of a request as it is sent, None where there is room for the request."""
        headers = message.headers
        if message.method == hdrs.METH_OPTIONS or message.path in health.PATHS or hdrs.EXPECT in headers:
            return None
        is_signed_in = self._is_signed_in(headers.get(hdrs.AUTHORIZATION))
        # What a member asks for matters only where there is no room for the least of it.
        if is_signed_in and not self.shedder.refuses(STREAM):
            return None
        operation = self._operation(message, body, asked) if is_signed_in else None
        reason = self.shedder.reason(of_operation(operation, is_signed_in=is_signed_in))
        if not reason:
            return None
        key = reason, next(self.shedder.retries)
        if key not in self._refusals:
            self._refusals[key] = responses.refusal(ServiceUnavailable(*key))
        return encoded(self._refusals[key], request_id(headers), self._origins.headers(headers))

    def _operation(
        self, message: RawRequestMessage, body: StreamReader, asked: Asked | None
    ) -> OperationDefinitionNode | None:
        """Return what a client asks for, where its document is known. A malformed request is refused by its handler."""
        if message.method != hdrs.METH_POST or not body.is_eof():
            return None
        try:
            parameters = requests.of_body(_peeked(body))
        except RequestError:
            return None
        if asked is not None:
            asked.parameters = parameters
        return self._schema.known_operation(parameters)

    def _is_signed_in(self, authorization: str | None) -> bool:
        """Return whether a request has a token that is signed and has not expired. Its session is not checked here."""
        try:
            return authorization is not None and bool(self._tokens.read(bearer(authorization)))
        except Unauthenticated:
            return False

    # ------------------------------------------------------------ what is answered

    def plain(self, message: RawRequestMessage, body: StreamReader, peer: str | None) -> Asked | None:
        """Return a plain request of a client, None for any other."""
        headers = message.headers
        if (
            message.path != requests.PATH
            or message.method != hdrs.METH_POST
            or message.version != HttpVersion11
            or headers.get(hdrs.CONTENT_TYPE) != JSON
            or not body.is_eof()
            or not 0 < body.total_bytes <= self._most_body
            or not self.lean
        ):
            return None
        for name in _UNUSUAL:
            if name in headers:
                return None
        asked = Asked(message.method, message.path, headers, peer, request_id(headers), body=_peeked(body))
        return None if takes_events(asked.accept) else asked

    def sent(self, answer: HttpAnswer | web.StreamResponse, asked: Asked, *, closes: bool) -> bytes:
        """Return the answer to a plain request as it is sent."""
        assert isinstance(answer, HttpAnswer)  # its client takes no stream
        return encoded(answer, asked.request_id, self._origins.headers(asked.headers), closes=closes)

    async def finish(self, seconds: float) -> None:
        """Give plain requests some seconds to end, and then cancel them."""
        if self.answering:
            await asyncio.wait(self.answering.values(), timeout=seconds)
            await stop(*self.answering.values())


def _peeked(body: StreamReader) -> bytes:
    """Return a whole body, which can still be read: aiohttp may have to answer. Reading would parse once more, too."""
    return b"".join(body._buffer)  # noqa: SLF001
