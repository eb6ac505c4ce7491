"""Answers in the form of GraphQL over HTTP, including event streams that have only one result."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from aiohttp import hdrs, web
from graphql import GraphQLError
from msgspec import Struct
from strawberry.types import ExecutionResult

from resolvers.process.errors import BadUserInput, Forbidden, QueryTooComplex, RequestError, Unauthenticated
from schema.execution.encoding import COMPLETE, JsonResult, encode, is_request_error, next_event, to_json
from schema.execution.parameters import EVENTS
from serving.http.negotiation import GRAPHQL, JSON
from serving.http.requests import RequestRefused, UnknownPath

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_OK, _BAD_REQUEST, _FORBIDDEN, _NOT_FOUND, _METHOD_NOT_ALLOWED, _INTERNAL = 200, 400, 403, 404, 405, 500


class HttpAnswer(Struct, frozen=True):
    """An answer to a request, however it is sent."""

    status: int
    body: bytes
    media: str
    headers: Mapping[str, str]

    def response(self) -> web.Response:
        """Return the answer as aiohttp sends it."""
        return web.Response(
            body=self.body, status=self.status, content_type=self.media, charset="utf-8", headers=self.headers
        )


def answer(result: ExecutionResult, media: str) -> HttpAnswer:
    """Return the answer to an operation."""
    if isinstance(result, JsonResult) or not is_request_error(result):
        return _answer(to_json(result), _OK, media)
    errors = result.errors or []
    if media == EVENTS and isinstance(errors[0], BadUserInput | QueryTooComplex):
        # The protocol sends errors of an operation in a stream. Browsers show nothing of a stream with another status.
        return _answer(_body(errors), _OK, media)
    return _answer(_body(errors), _status(errors[0], media), media, _headers(errors[0]))


def refusal(error: RequestError, media: str = JSON) -> HttpAnswer:
    """Return the answer to a request that was refused before an operation ran."""
    headers = {**_headers(error), **(error.headers if isinstance(error, RequestRefused) else {})}
    status = _FORBIDDEN if isinstance(error, Forbidden) else _status(error, media)
    return _answer(_body([error]), status, media, headers)


def refuse_http(error: web.HTTPException) -> HttpAnswer:
    """Return the answer to a request that aiohttp has refused."""
    if error.status == _NOT_FOUND:
        return refusal(UnknownPath())
    headers = {str(name): value for name, value in error.headers.items() if name == hdrs.ALLOW}
    return refusal(RequestRefused(error.status, error.text or error.reason, headers))


def fault(request_id: str) -> HttpAnswer:
    """Return the answer to a request that the server failed on. It reveals only the request id, for the log."""
    extensions = {"code": RequestError.code, "requestId": request_id}
    return _answer(_body([GraphQLError("Internal error", extensions=extensions)]), _INTERNAL, JSON)


def _body(errors: Iterable[GraphQLError]) -> bytes:
    return encode({"errors": [error.formatted for error in errors]})


def _status(error: GraphQLError, media: str) -> int:
    if isinstance(error, RequestError) and error.status != _OK:
        return error.status
    if (error.extensions or {}).get("code") == RequestError.code:
        return _INTERNAL
    # With the older media type, a client could not tell this error from an intermediary's. So its status is 200 there.
    return _BAD_REQUEST if media == GRAPHQL else _OK


def _headers(error: GraphQLError) -> dict[str, str]:
    if not isinstance(error, RequestError):
        return {}
    headers: dict[str, str] = {}
    if isinstance(error, Unauthenticated):
        headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
    if error.retry_after is not None:
        headers[hdrs.RETRY_AFTER] = str(error.retry_after)
    if error.status == _METHOD_NOT_ALLOWED:
        headers[hdrs.ALLOW] = hdrs.METH_POST
    return headers


def _answer(json: bytes, status: int, media: str, headers: Mapping[str, str] = _NO_HEADERS) -> HttpAnswer:
    return HttpAnswer(status, next_event(json) + COMPLETE if media == EVENTS else json, media, headers)
