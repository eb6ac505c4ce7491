"""aiohttp's HTTP connection, with limits on waiting for the client, and with refusals in the form of the API.

Its gate sees each request first. It answers plain requests by the methods here, and leaves all others to aiohttp.
"""

import asyncio
import math
import re
import sys
from collections import deque
from collections.abc import Coroutine, Sequence
from contextvars import Context
from http import HTTPStatus
from typing import Any, cast

import structlog
from aiohttp import web
from aiohttp.http import RawRequestMessage, StreamWriter
from aiohttp.http_exceptions import LineTooLong
from aiohttp.streams import StreamReader

from serving.http import responses
from serving.http.admission import Admissions, Queue
from serving.http.door import Door
from serving.http.middleware import REQUEST_ID, complete, encoded, new_request_id, observed
from serving.http.requests import Asked, RequestRefused

_REASON = re.compile(r"[A-Za-z0-9/-]+(?: [A-Za-z0-9/-]+)+")  # the parser's own words, without quoted secrets
_TOO_LARGE = 431  # RFC 6585 §5
_ERRORS = 400  # HTTP statuses from here on
_HELD_BYTES = 65_536  # that a client may send while its plain request is being answered

Parsed = tuple[Sequence[tuple[RawRequestMessage, StreamReader]], bool, bytes]

log = structlog.get_logger(__name__)


class Gate:
    """The parser of one connection, without the requests that the connection refuses or answers at once."""

    def __init__(self, client: "ClientConnection", parser: Any) -> None:
        self._client, self._parser = client, parser

    def feed_data(self, data: bytes) -> Parsed:
        """Return the requests for aiohttp that are complete up to their bodies, and what follows an upgrade."""
        parsed: Parsed = self._parser.feed_data(data)
        if not parsed[0] or not self._client.takes(parsed):
            return parsed
        self._parser.message_consumed()
        return (), False, parsed[2]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)


class ClientConnection(web.RequestHandler):
    """One connection from its first byte to its end.

    aiohttp calls the methods below whenever the connection begins or stops waiting for its client.
    """

    def __init__(self, server: web.Server, admission: Admissions, door: Door) -> None:
        # `admission` limits the pauses between requests. aiohttp's timer knows nothing of plain ones.
        super().__init__(server, loop=asyncio.get_running_loop(), keepalive_timeout=math.inf, access_log=None)  # type: ignore[arg-type]
        self._admission = admission
        self._door = door
        self.peer: str | None = None
        # The gate has all that aiohttp uses of a parser.
        self._parser = Gate(self, self._parser)  # type: ignore[assignment]
        self._held: deque[bytes] = deque()  # data that arrived while a plain request was being answered
        self._held_bytes = 0  # memory of that data
        self._was_held = False  # whether what is being parsed has waited behind a request: it is not refused
        self._is_over = False  # whether aiohttp closes the connection, because it has sent the last answer
        self._is_stream = False  # whether the newest request is being answered for as long as its client likes
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
        self.peer = peer[0] if isinstance(peer, tuple) else None
        refused = self._admission.admit(self, self.peer)
        if refused is None:
            super().connection_made(transport)
            return
        self.force_close()  # nothing is read
        opened.write(encoded(responses.refusal(refused), new_request_id(), closes=True))
        opened.close()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Remove the connection."""
        self._admission.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data from the client, and note whether a whole request has arrived."""
        if self in self._door.answering:
            self._hold(data)
            return
        before = self._request_count
        super().data_received(data)
        if self._dropped is not None:
            if data:  # else dropping it has resumed the parser
                self._drop()
            return
        if not self._admission.is_waiting(self):
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
        self._is_over = not response.keep_alive
        if self._messages:
            self._await_body()
        else:
            self._body = None
            self._admission.wait(self, self._admission.pauses)

    def _await_body(self) -> None:
        _, body = self._messages[-1] if self._messages else (None, self._body)
        if body is None or body.is_eof():
            self._body = None
            self._begin()
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
            self._begin()

    def _begin(self) -> None:
        """Wait no longer: a request has arrived. One that is answered for long is not among those being answered."""
        if self._is_stream:
            self._admission.leave_queue(self)
        else:
            self._admission.wait(self, self._admission.answering)

    def stream(self) -> None:
        """Count the request no longer: a websocket or an event stream begins, and waits most of the time."""
        self._is_stream = True
        self._begin()

    # ------------------------------------------------------------ what aiohttp never sees

    def takes(self, parsed: Parsed) -> bool:
        """Refuse or answer a request here, and return whether that was done."""
        may_refuse = self._door.shedder.arrive()
        messages, is_upgraded, _ = parsed
        message, body = messages[-1]
        self._is_stream = False
        is_waiting = self.queue is self._admission.heads or self.queue is self._admission.pauses
        is_free = is_waiting and self._dropped is None and not self._is_over
        # The request for a websocket is refused by its handler: the parser expects no other request behind it.
        if is_upgraded or len(messages) > 1 or not is_free:
            return False
        asked = None if self._admission.ending else self._door.plain(message, body, self.peer)
        refusal = self._door.refusal(message, body, asked) if may_refuse and not self._was_held else None
        if refusal is not None:
            self._refuse(refusal, body, is_last=message.should_close)
        elif asked is not None:
            self._begin()
            self._door.answering[self] = self._loop.create_task(self._answer(asked, is_last=message.should_close))
        return refusal is not None or asked is not None

    async def _answer(self, asked: Asked, *, is_last: bool) -> None:
        """Answer a plain request. The connection ends with the last answer, and with one that cannot be given."""
        closes = True
        try:
            answer = await observed(asked, self._door.endpoint(asked))
            closes = is_last or self._admission.ending
            if self.transport is not None and not self.transport.is_closing():
                self.transport.write(self._door.sent(answer, asked, closes=closes))
                if self.writing_paused:
                    await StreamWriter(self, self._loop).drain()
        except ConnectionError:
            pass  # the client did not read its answer, and is gone
        except Exception:  # noqa: BLE001  it is logged there
            closes = True
            self.log_exception("An answer could not be sent")
        finally:
            del self._door.answering[self]
            self._admission.wait(self, self._admission.pauses)
            if closes and self.transport is not None:
                self.transport.close()
        if self._held and not closes:
            self.resume_reading()
            self._go_on()

    def _go_on(self) -> None:
        """Parse what was held, as far as the next plain request. What precedes invalid HTTP is answered first."""
        while self._held and self not in self._door.answering:
            data = self._held.popleft()
            self._held_bytes -= sys.getsizeof(data)
            self._was_held = True
            Context().run(self.data_received, data)  # log records have no id of the request before
            self._was_held = False

    def _hold(self, data: bytes) -> None:
        """Keep data until the request before it has been answered."""
        self._held.append(data)
        self._held_bytes += sys.getsizeof(data)
        if self._held_bytes > _HELD_BYTES and self.transport is not None:
            self.transport.pause_reading()

    def _refuse(self, answer: bytes, body: StreamReader, *, is_last: bool) -> None:
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
            return
        if not self._dropped.is_eof():
            self._dropped.read_nowait()
        if self._dropped.is_eof():
            self._dropped = None
            self._admission.wait(self, self._admission.pauses)
        elif self.queue is not self._admission.heads:
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
            resp = self._refused(request, responses.refuse_http(resp).response(), resp.reason)
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
            response = responses.fault(request_id).response()
            complete(response.headers, request_id)
        else:
            reason = _REASON.match(message or "")
            said = f": {reason[0]}" if reason else ""
            code = _TOO_LARGE if isinstance(exc, LineTooLong) else status
            refused = RequestRefused(code, f"The request is not valid HTTP{said}")
            response = self._refused(request, responses.refusal(refused).response(), refused.message)
        response.force_close()
        return response

    def _refused(self, request: web.BaseRequest, response: web.Response, reason: str) -> web.Response:
        request_id = request.get(REQUEST_ID) or new_request_id()
        log.info(
            "request_refused", status=response.status, reason=reason, address=request.remote, request_id=request_id
        )
        complete(response.headers, request_id)
        return response

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log a fault with structlog, in place of aiohttp's own logger."""
        log.error("a connection failed", reason=str(args[0]) if args else None, exc_info=kw.get("exc_info", True))
