"""Every request gets an id, one log record, and a response even when its handler fails; every response gets headers."""

import random
import re
import time
from collections.abc import Awaitable, Mapping, MutableMapping
from http import HTTPStatus

import structlog
from aiohttp import ClientConnectionResetError, hdrs, web
from aiohttp.helpers import rfc822_formatted_time
from aiohttp.typedefs import Handler
from strawberry.http.websocket_origin import is_same_origin, normalize_allowed_origins, normalize_origin

from resolvers.exports import PATH as EXPORTS
from resolvers.process.errors import RequestError
from resolvers.uploads import PATH as UPLOADS
from serving.http import health, responses
from serving.http.requests import Asked
from serving.http.responses import HttpAnswer
from serving.observing import TRACEPARENT
from store.client.tracing import LOGGED

REQUEST_ID = web.RequestKey("request_id", str)
REQUEST_ID_HEADER = "X-Request-Id"
METHODS = "GET, POST, OPTIONS"
ASKED = web.RequestKey("asked", Asked)

_SECRET = (EXPORTS, UPLOADS)  # beginnings of paths
_SANE_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_ID_BITS = 72  # eighteen hexadecimal digits, which are unique within a log
_PREFLIGHT_SECONDS = 7_200  # for which a browser may cache a preflight response; Chromium caps it here
_REQUEST_HEADERS = (hdrs.AUTHORIZATION, hdrs.CONTENT_TYPE, REQUEST_ID_HEADER, TRACEPARENT)  # that pages may send
_SECURITY = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    (hdrs.CACHE_CONTROL, "no-store"),
)
_SERVER = "Perch"
_CLOSE = f"{hdrs.CONNECTION}: close\r\n"
_LINES = "".join(f"{name}: {value}\r\n" for name, value in _SECURITY)
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_ERRORS = 400  # HTTP statuses from here on

log = structlog.get_logger(__name__)


@web.middleware
async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give a request its id, answer it, and log the outcome."""
    request[REQUEST_ID] = request_id(request.headers)
    headers, peer = request.headers, request.remote
    asked = request[ASKED] = Asked(request.method, request.path, headers, peer, request[REQUEST_ID], request)
    answer = await observed(asked, handler(request))
    return answer.response() if isinstance(answer, HttpAnswer) else answer


async def observed(
    asked: Asked, answering: Awaitable[HttpAnswer | web.StreamResponse]
) -> HttpAnswer | web.StreamResponse:
    """Await the answer to a request, and log the outcome. An exception becomes an answer, too."""
    LOGGED.set({"request_id": asked.request_id})  # never reset, because the next request of this task sets its own
    began = time.perf_counter()
    try:
        answer = await answering
    except RequestError as error:
        answer = responses.refusal(error)
    except web.HTTPException as error:
        if error.status < _ERRORS:
            raise
        answer = responses.refuse_http(error)
    except Exception as error:
        if isinstance(error, ClientConnectionResetError) and asked.has_left:
            answer = web.Response()  # nobody gets it
        else:
            log.exception("a request failed", method=asked.method, path=_shown(asked.path))
            answer = responses.fault(asked.request_id)
    (log.debug if asked.path in health.PATHS else log.info)(
        "request",
        method=asked.method,
        path=_shown(asked.path),
        operation=asked.operation,
        status=answer.status,
        ms=round((time.perf_counter() - began) * 1000, 1),
    )
    return answer


def _shown(path: str) -> str:
    """Return a path as it is logged: that of an export or upload holds a secret."""
    return next((f"{start}…" for start in _SECRET if path.startswith(start)), path)


def request_id(headers: Mapping[str, str]) -> str:
    """Return the client's own request id where it is safe to log, else a new one."""
    given = headers.get(REQUEST_ID_HEADER)
    return given if given and _SANE_ID.fullmatch(given) else new_request_id()


def new_request_id() -> str:
    """Return a request id that no other request has."""
    return f"{random.getrandbits(_ID_BITS):018x}"


class Origins:
    """The origins whose pages may call the API; `*` allows any origin. Cookies are not used.

    Raises ValueError when an entry is more than an origin.
    """

    def __init__(self, origins: tuple[str, ...]) -> None:
        self._any = "*" in origins
        self._listed = normalize_allowed_origins(origins)

    def allows(self, origin: str) -> bool:
        """Return whether a page of this origin may call."""
        return self._any or normalize_origin(origin) in self._listed

    def may_open_socket(self, asked: Mapping[str, str]) -> bool:
        """Return whether a request may open a websocket, which browsers do not ask about: its page is ours or listed.

        Browsers always send `Origin`. Other clients have no page that could misuse them.
        """
        origin = asked.get(hdrs.ORIGIN)
        if origin is None or asked.get("Sec-Fetch-Site") == "same-origin":
            return True
        return is_same_origin(origin, asked.get(hdrs.HOST)) or self.allows(origin)

    def headers(self, asked: Mapping[str, str]) -> dict[str, str]:
        """Return the headers that CORS adds to the response to a request with some headers."""
        if not self._listed:
            return {}
        origin = asked.get(hdrs.ORIGIN)
        headers: dict[str, str] = {}
        if origin is not None and self.allows(origin):
            headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = "*" if self._any else origin
            headers[hdrs.ACCESS_CONTROL_EXPOSE_HEADERS] = f"{REQUEST_ID_HEADER}, {hdrs.RETRY_AFTER}"
        headers[hdrs.VARY] = hdrs.ORIGIN
        return headers

    async def add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Add headers to a response that is about to be sent. Headers that its handler has set stay."""
        headers = response.headers
        for name, value in self.headers(request.headers).items():
            if name == hdrs.VARY or name not in headers:
                headers.add(name, value)
        complete(headers, request.get(REQUEST_ID))


def complete(headers: MutableMapping[str, str], request_id: str | None) -> None:
    """Add the headers of every response. Security headers that are set stay; request id and `Server` are replaced."""
    for name, value in _SECURITY:
        headers.setdefault(name, value)
    if request_id is not None:
        headers[REQUEST_ID_HEADER] = request_id
    headers[hdrs.SERVER] = _SERVER


def encoded(
    answer: HttpAnswer, request_id: str, cors: Mapping[str, str] | None = None, *, closes: bool = False
) -> bytes:
    """Return an answer as a complete HTTP response, with the headers of every response in aiohttp's order."""
    head = (
        f"HTTP/1.1 {answer.status} {_PHRASES[answer.status]}\r\n{_lines(answer.headers)}"
        f"{hdrs.CONTENT_TYPE}: {answer.media}; charset=utf-8\r\n{hdrs.CONTENT_LENGTH}: {len(answer.body)}\r\n"
        f"{hdrs.DATE}: {rfc822_formatted_time()}\r\n{hdrs.SERVER}: {_SERVER}\r\n{_CLOSE if closes else ''}"
        f"{_lines(cors)}{_LINES}{REQUEST_ID_HEADER}: {request_id}\r\n\r\n"
    )
    return head.encode(errors="ignore") + answer.body  # aiohttp leaves halves of surrogate pairs out, too


def _lines(headers: Mapping[str, str] | None) -> str:
    return "".join([f"{name}: {value}\r\n" for name, value in headers.items()]) if headers else ""


def preflight(methods: str = METHODS) -> web.Response:
    """Answer OPTIONS with the methods and headers allowed here. The CORS headers decide whether a page may use them."""
    headers = {
        hdrs.ALLOW: methods,
        hdrs.ACCESS_CONTROL_ALLOW_METHODS: methods.removesuffix(", OPTIONS"),
        hdrs.ACCESS_CONTROL_ALLOW_HEADERS: ", ".join(_REQUEST_HEADERS),
        hdrs.ACCESS_CONTROL_MAX_AGE: str(_PREFLIGHT_SECONDS),
    }
    return web.Response(status=204, headers=headers)
