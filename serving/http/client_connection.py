"""aiohttp's HTTP connection, with limits on waiting for the client, and with refusals in the form of the API."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any, cast

import structlog
from aiohttp import hdrs, web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.streams import StreamReader

from resolvers.operation.errors import RequestError
from serving.http import responses
from serving.http.admission import Admission, Queue
from serving.http.headers import REQUEST_ID, complete, new_request_id
from serving.http.requests import RequestRefused

_REASON = re.compile(r"[A-Za-z0-9/-]+(?: [A-Za-z0-9/-]+)+")  # the parser's own words, without quoted secrets
_TOO_LARGE = 431  # RFC 6585 §5
_ERRORS = 400  # HTTP statuses from here on

log = structlog.get_logger(__name__)


class ClientConnection(web.RequestHandler):
    """One connection from its first byte to its end.

    aiohttp calls the methods below whenever the connection begins or stops waiting for its client.
    """

    __slots__ = ("_admission", "_body", "queue", "share", "since")

    def __init__(self, server: web.Server, admission: Admission) -> None:
        super().__init__(server, loop=asyncio.get_running_loop(), access_log=None)  # type: ignore[arg-type]
        self._admission = admission
        self._body: StreamReader | None = None  # the body that the connection waits for
        self.share: str | None = None
        self.queue: Queue | None = None
        self.since = 0.0

    # ------------------------------------------------------------ whether it waits

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to serve a client, or refuse it."""
        opened = cast("asyncio.Transport", transport)
        peer = opened.get_extra_info("peername")
        refused = self._admission.admit(self, peer[0] if isinstance(peer, tuple) else None)
        if refused is None:
            super().connection_made(transport)
            return
        self.force_close()  # nothing is read
        opened.write(_encoded(refused))
        opened.close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Remove the connection."""
        self._admission.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data from the client, and note whether a whole request has arrived."""
        before = self._request_count
        super().data_received(data)
        if self.queue is None or self.queue is self._admission.unread:
            return  # a request is being answered, or a websocket is open
        if self._request_count != before:
            self._await_body()
        elif self._body is not None:
            if self._body.is_eof():
                self._await_body()
        elif self.queue is self._admission.pauses:
            self._admission.wait(self, self._admission.heads)

    def log_access(self, request: web.BaseRequest, response: web.StreamResponse, time: float | None) -> None:
        """Note that a response has been sent. aiohttp calls this after each response."""
        super().log_access(request, response, time)
        if self._messages:
            self._await_body()
        else:
            self._body = None
            self._admission.wait(self, self._admission.pauses)

    def _await_body(self) -> None:
        _, body = self._messages[-1] if self._messages else (None, self._body)
        if body is None or body.is_eof():
            self._body = None
            self._admission.work(self)
        else:
            self._body = body
            self._admission.wait(self, self._admission.bodies)

    def pause_writing(self) -> None:
        """Note that the client does not read the response."""
        super().pause_writing()
        self._admission.wait(self, self._admission.unread)

    def resume_writing(self) -> None:
        """Note that the client reads again."""
        super().resume_writing()
        if self.queue is self._admission.unread:
            self._admission.work(self)

    def cut(self) -> None:
        """Drop the connection and all unsent data."""
        if self.transport is not None:
            self.transport.abort()

    # ------------------------------------------------------------ what aiohttp refuses

    def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> Coroutine[Any, Any, tuple[web.StreamResponse, bool]]:
        """Send a response. A refusal that aiohttp made outside the middleware gets the form of the API."""
        if isinstance(resp, web.HTTPException) and resp.status >= _ERRORS:
            resp = self._refuse(request, responses.refuse_http(resp), resp.reason)
        return super().finish_response(request, resp, start_time)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Return the response to invalid HTTP, or to a request on which the server failed.

        Raises ConnectionError where a part of a response has been sent.
        """
        if request.writer.output_size > 0:
            raise ConnectionError("A part of the response has been sent: it cannot become another one")
        if isinstance(exc, UnicodeError):  # aiohttp cannot quote an Expect header that is not UTF-8
            status = HTTPStatus.BAD_REQUEST
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            request_id = new_request_id()
            log.error("a request failed", request_id=request_id, exc_info=exc)
            response = responses.fault(request_id)
            complete(response.headers, request_id)
        else:
            reason = _REASON.match(message or "")
            said = f": {reason[0]}" if reason else ""
            code = _TOO_LARGE if isinstance(exc, LineTooLong) else status
            refused = RequestRefused(code, f"The request is not valid HTTP{said}")
            response = self._refuse(request, responses.refusal(refused), refused.message)
        response.force_close()
        return response

    def _refuse(self, request: web.BaseRequest, response: web.Response, reason: str) -> web.Response:
        request_id = request.get(REQUEST_ID) or new_request_id()
        log.info(
            "request_refused", status=response.status, reason=reason, address=request.remote, request_id=request_id
        )
        complete(response.headers, request_id)
        return response

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log a fault with structlog, in place of aiohttp's own logger."""
        log.error("a connection failed", reason=str(args[0]) if args else None, exc_info=kw.get("exc_info", True))


def _encoded(refused: RequestError) -> bytes:
    """Return a refusal as a complete HTTP response. There is no request yet that aiohttp could respond to."""
    response = responses.refusal(refused)
    complete(response.headers, new_request_id())
    body = response.body
    assert isinstance(body, bytes)
    response.headers[hdrs.CONTENT_LENGTH] = str(len(body))
    response.headers[hdrs.CONNECTION] = "close"
    lines = [f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
