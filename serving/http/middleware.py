"""Middleware of every request: a request id, one log record, and a response even when the handler fails."""

import logging
import time

import structlog
from aiohttp import ClientConnectionResetError, web
from aiohttp.typedefs import Handler

from resolvers.exports import PATH as EXPORTS
from resolvers.process.errors import RequestError
from resolvers.uploads import PATH as UPLOADS
from serving.http import health, responses
from serving.http.headers import REQUEST_ID, request_id

OPERATION = web.RequestKey("operation", str)

_ERRORS = 400  # HTTP statuses from here on

log = structlog.get_logger(__name__)


@web.middleware
async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give a request its id, answer it, and log the outcome."""
    request[REQUEST_ID] = request_id(request.headers)
    started = time.perf_counter()
    # It is never unbound, because the next request of this task binds its own id. Most have no trace, though.
    structlog.contextvars.bind_contextvars(request_id=request[REQUEST_ID])
    structlog.contextvars.unbind_contextvars("trace_id")
    response = await _answer(request, handler)
    level = logging.DEBUG if request.path in health.PATHS else logging.INFO
    if log.is_enabled_for(level):
        log.log(
            level,
            "request",
            method=request.method,
            path=_shown(request.path),
            operation=request.get(OPERATION),
            status=response.status,
            ms=round((time.perf_counter() - started) * 1000, 1),
        )
    return response


def _shown(path: str) -> str:
    """Return a path as it is logged: that of an export or upload holds a secret."""
    return next((f"{start}…" for start in (EXPORTS, UPLOADS) if path.startswith(start)), path)


def _has_left(request: web.Request) -> bool:
    """Return whether the client has closed its connection."""
    return request.transport is None or request.transport.is_closing()


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except RequestError as error:
        return responses.refusal(error)
    except web.HTTPException as error:
        if error.status < _ERRORS:
            raise
        return responses.refuse_http(error)
    except Exception as error:
        if isinstance(error, ClientConnectionResetError) and _has_left(request):
            return web.Response()  # nobody gets it
        log.exception("a request failed", method=request.method, path=_shown(request.path))
        return responses.fault(request[REQUEST_ID])
