"""GraphQL requests as HTTP brings them: read strictly, refused with the reason."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from json import JSONDecodeError
from urllib.parse import parse_qsl

from aiohttp import hdrs, web

from resolvers.operation.errors import BadUserInput, RequestError, Unauthenticated
from schema.execution.encoding import kind, loads
from schema.execution.parameters import Parameters
from serving.http.negotiation import JSON

BODY_SECONDS = 30  # how long a client may take to send a body

_UTF_8 = {"utf-8", "utf8"}
_USER_AGENT_LENGTH = 300  # characters; what is longer tells a member nothing more about a session


class RequestRefused(BadUserInput):
    """A request that cannot be taken for a GraphQL request; `headers` go with the refusal."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class UnknownPath(RequestError):
    """Nothing is served at this path. Send operations to `/graphql`."""

    code = "NOT_FOUND"
    status = 404


async def read(request: web.Request) -> Parameters:
    """Return the parameters of a GET or POST request; raises RequestRefused naming what is wrong."""
    return check(_read_address(request) if request.method == hdrs.METH_GET else await _read_body(request))


def check(values: Mapping[str, object]) -> Parameters:
    """Return parameters whose types are right; raises RequestRefused naming the one that is not."""
    query, name = values.get("query"), values.get("operationName")
    variables, extensions = values.get("variables"), values.get("extensions")
    if query is None or query == "":
        raise RequestRefused(400, "`query` is missing")
    if not isinstance(query, str):
        raise RequestRefused(400, f"`query` must be a string, not {kind(query)}")
    if name is not None and not isinstance(name, str):
        raise RequestRefused(400, f"`operationName` must be a string or null, not {kind(name)}")
    if variables is not None and not isinstance(variables, dict):
        raise RequestRefused(400, f"`variables` must be an object or null, not {kind(variables)}")
    if extensions is not None and not isinstance(extensions, dict):
        raise RequestRefused(400, f"`extensions` must be an object or null, not {kind(extensions)}")
    return Parameters(query, name or None, variables, extensions)


def authorization(request: web.Request) -> str | None:
    """Return the value of the `Authorization` header; raises Unauthenticated when there are several."""
    values = request.headers.getall(hdrs.AUTHORIZATION, [])
    if len(values) > 1:
        raise Unauthenticated("Authorization stands in the request more than once")
    return values[0] if values else None


def user_agent(request: web.Request) -> str:
    """Return what the client calls itself, cut to what is worth keeping."""
    text = request.headers.get(hdrs.USER_AGENT, "")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text[:_USER_AGENT_LENGTH]


def _read_address(request: web.Request) -> dict[str, object]:
    try:
        pairs = parse_qsl(request.rel_url.raw_query_string, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise RequestRefused(400, "The address must be UTF-8") from None
    values: dict[str, object] = dict(reversed(pairs))  # of a repeated parameter the first counts
    for name in ("variables", "extensions"):
        text = values.get(name)
        if isinstance(text, str):
            values[name] = _decode(text, f"`{name}`") if text else None
    return values


async def _read_body(request: web.Request) -> dict[str, object]:
    _check_content_type(request)
    if (request.content_length or 0) > request.client_max_size:
        raise _too_large(request)
    try:
        if request.content.is_eof():  # it came with the headers: nothing is waited for
            body = request.content.read_nowait()
        else:
            async with asyncio.timeout(BODY_SECONDS):
                body = await request.read()
    except TimeoutError:
        raise RequestRefused(408, f"The body must be here within {BODY_SECONDS} s") from None
    except web.HTTPRequestEntityTooLarge:
        raise _too_large(request) from None
    except ConnectionError:
        raise RequestRefused(400, "The connection was lost before the end of the body") from None
    except web.RequestPayloadError:
        raise RequestRefused(400, "The body cannot be decoded as its headers say") from None
    if len(body) > request.client_max_size:  # once it is decompressed
        raise _too_large(request)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise RequestRefused(400, "The body must be UTF-8") from None
    values = _decode(text, "The body")
    if not isinstance(values, dict):
        raise RequestRefused(400, f"The body must be a JSON object, not {kind(values)}")
    return values


def _check_content_type(request: web.Request) -> None:
    if request.headers.get(hdrs.CONTENT_TYPE) == JSON:  # as nearly all say it
        return
    if hdrs.CONTENT_TYPE not in request.headers:
        raise RequestRefused(415, f"Content-Type is missing; it must be {JSON}", {hdrs.ACCEPT: JSON})
    if request.content_type != JSON:
        raise RequestRefused(415, f"Content-Type must be {JSON}, not {request.content_type}", {hdrs.ACCEPT: JSON})
    if (request.charset or "utf-8").lower() not in _UTF_8:
        raise RequestRefused(415, f"The charset must be utf-8, not {request.charset}", {hdrs.ACCEPT: JSON})


def _too_large(request: web.Request) -> RequestRefused:
    return RequestRefused(413, f"The body must have at most {request.client_max_size} bytes")


def _decode(text: str, what: str) -> object:
    try:
        return loads(text)
    except JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise RequestRefused(400, f"{what} is not valid JSON: {error.msg} at {place}") from None
