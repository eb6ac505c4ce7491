"""aiohttp's HTTP connection, with limits on waiting for the client, and with refusals in the form of the API."""

import asyncio
import re
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any, cast

import structlog
from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.streams import StreamReader

from serving.http import responses
from serving.http.admission import Admissions, Queue
from serving.http.gate import Door, Gate, encoded
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

    __slots__ = ("_admission", "_body", "_dropped", "gate", "queue", "share", "since")

    def __init__(self, server: web.Server, admission: Admissions, door: Door) -> None:
        super().__init__(server, loop=asyncio.get_running_loop(), access_log=None)  # type: ignore[arg-type]
        self._admission = admission
        self.gate = Gate(door, self, self._parser)
        # The gate has all that aiohttp uses of a parser.
        self._parser = self.gate  # type: ignore[assignment]
        self._dropped: StreamReader | None = None  # the body of a request that was refused
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
        opened.write(encoded(refused, new_request_id(), closes=True))
        opened.close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Remove the connection."""
        self._admission.leave(self)
        self.gate.end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data from the client, and note whether a whole request has arrived."""
        before = self._request_count
        super().data_received(data)
        if self._dropped is not None:
            self._drop()
            return
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
        self.gate.end()
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
            self.gate.begin()
        else:
            self._body = body
            self._admission.wait(self, self._admission.bodies)

    def pause_writing(self) -> None:
        """Note that the client does not read the response."""
        super().pause_writing()
        self.gate.end()
        self._admission.wait(self, self._admission.unread)

    def resume_writing(self) -> None:
        """Note that the client reads again."""
        super().resume_writing()
        if self.queue is self._admission.unread:
            self._admission.work(self)
            self.gate.begin()

    # ------------------------------------------------------------ what the gate refuses

    @property
    def is_free(self) -> bool:
        """Whether no earlier request is still to be answered."""
        return self._dropped is None and (self.queue is self._admission.heads or self.queue is self._admission.pauses)

    def refuse(self, answer: bytes, body: StreamReader, *, is_last: bool) -> None:
        """Send an answer to a request whose body is read and dropped; after the last one, close the connection."""
        assert self.transport
        self.transport.write(answer)
        self._dropped = body
        if is_last:
            self.transport.close()

    def _drop(self) -> None:
        """Drop what has arrived of the refused body. It has to be complete in the time of a head."""
        assert self._dropped is not None
        if self._dropped.exception() is not None:  # it is not encoded as its headers say, so nobody knows its end
            self.cut()
        elif self._dropped.is_eof():
            self._dropped = None
            self._admission.wait(self, self._admission.pauses)
        else:
            self._dropped.read_nowait()
            if self.queue is not self._admission.heads:
                self._admission.wait(self, self._admission.heads)

    def cut(self) -> None:
        """Drop the connection and all unsent data."""
        if self.transport is not None:
            self.transport.abort()

    # ------------------------------------------------------------ what aiohttp refuses

    def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> Coroutine[Any, Any, tuple[web.StreamResponse, bool]]:
        """Send a response, the last one if the process stops. A refusal made by aiohttp gets the form of the API."""
        if isinstance(resp, web.HTTPException) and resp.status >= _ERRORS:
            resp = self._refuse(request, responses.refuse_http(resp), resp.reason)
        if self._admission.ending:
            resp.force_close()  # which also says so to the client
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
