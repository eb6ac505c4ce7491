"""Reads requests: who sends them, and the GraphQL request in them. Malformed ones are refused with the reason."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from json import JSONDecodeError
from urllib.parse import parse_qsl

from aiohttp import hdrs, web
from multidict import CIMultiDictProxy

from resolvers.process.errors import BadUserInput, RequestError, Unauthenticated
from schema.execution.encoding import kind, loads
from schema.execution.parameters import Parameters, document_id
from serving.http.negotiation import JSON

PATH = "/graphql"  # of the endpoint
FORWARDED_FOR = "X-Forwarded-For"
PREFIX_BITS = 64  # of an IPv6 prefix: one customer's network, in which they can use any address (RFC 6177)
ADDRESSES_KEPT = 10_000  # cached results, both of parsed addresses and of clients
BODY_SECONDS = 30  # time limit for a client to send a body

_UTF_8 = {"utf-8", "utf8"}
_USER_AGENT_LENGTH = 300  # characters; a longer one would not help a member to recognise a session


class RequestRefused(BadUserInput):
    """A request that is not a GraphQL request; `headers` are added to the refusal."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class UnknownPath(RequestError):
    """Nothing is served at this path. Send operations to `/graphql`."""

    code = "NOT_FOUND"
    status = 404

    def __init__(self) -> None:
        super().__init__("Nothing is served at this path")


@dataclass(slots=True)
class Asked:
    """One request, whichever way it came."""

    method: str
    path: str
    headers: CIMultiDictProxy[str]
    peer: str | None  # the other end of the connection, None for a Unix socket
    request_id: str
    request: web.Request | None = None  # None where the request is answered without aiohttp's
    body: bytes = b""  # of a request without aiohttp's
    parameters: Parameters | None = None  # once they were read
    operation: str | None = None  # its name, once the document was read

    @property
    def has_left(self) -> bool:
        """Whether the client has closed its connection."""
        transport = self.request.transport if self.request is not None else None
        return transport is None or transport.is_closing()

    @property
    def accept(self) -> tuple[str, ...]:
        """The values of the Accept headers."""
        return tuple(self.headers.getall(hdrs.ACCEPT, ()))

    @property
    def authorization(self) -> str | None:
        """The value of the `Authorization` header, or None; raises Unauthenticated when there are several."""
        values = self.headers.getall(hdrs.AUTHORIZATION, ())
        if len(values) > 1:
            raise Unauthenticated("Authorization is in the request more than once")
        return values[0] if values else None


class Proxies:
    """The trusted networks, whose `X-Forwarded-For` is believed as far as they wrote it."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ip_network(network) for network in networks]
        self._known = lru_cache(ADDRESSES_KEPT)(self._client)

    def client(self, peer: str | None, forwarded: Sequence[str]) -> str:
        """Return the address that a client is counted by: the last one that is not a trusted proxy.

        An IPv6 client is counted by its /64 prefix, such as `2001:db8::/64`.
        `peer` is the other end of the connection, None for a Unix socket. `forwarded` holds the values of the
        X-Forwarded-For headers in order. Each proxy appends the address that it saw. So only the end of the list, as
        far as trusted proxies wrote it, is reliable. The rest is the client's own claim.
        """
        return self._known(peer, tuple(forwarded))

    def of_request(self, request: web.BaseRequest) -> str:
        """Return the address that the client of a request is counted by."""
        return self.client(request.remote, request.headers.getall(FORWARDED_FOR, []))

    def share(self, peer: str | None) -> str | None:
        """Return the address that a connection is counted by; None for a trusted proxy and a Unix socket."""
        address = _read(peer or "")
        return None if address is None or self.trusts(address) else _counted(address)

    def is_proxy(self, peer: str | None) -> bool:
        """Return whether the other end of a connection is a trusted proxy, or comes by a Unix socket."""
        return self.share(peer) is None

    def _client(self, peer: str | None, forwarded: Sequence[str]) -> str:
        address = _read(peer or "")
        if address is None or not self.trusts(address):
            return _counted(address) if address else peer or ""
        for entry in reversed(",".join(forwarded).split(",")):
            named = _read(entry)
            if named is None:
                break
            address = named
            if not self.trusts(named):
                break
        return _counted(address)

    def trusts(self, address: IPv4Address | IPv6Address) -> bool:
        """Return whether an address lies in a trusted network."""
        return any(address in network for network in self._networks)


async def read(asked: Asked) -> Parameters:
    """Return the parameters of a GET or POST request; raises RequestRefused with the reason."""
    if asked.request is None:
        return asked.parameters or of_body(asked.body)
    if asked.method == hdrs.METH_GET:
        return check(_read_address(asked.request))
    return of_body(await _receive(asked.request))


def of_body(body: bytes) -> Parameters:
    """Return the parameters in the body of a POST request; raises RequestRefused with the reason."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise RequestRefused(400, "The body must be UTF-8") from None
    values = _decode(text, "The body")
    if not isinstance(values, dict):
        raise RequestRefused(400, f"The body must be a JSON object, not {kind(values)}")
    return check(values)


def check(values: Mapping[str, object]) -> Parameters:
    """Return the parameters with checked types; raises RequestRefused that names the wrong one."""
    query, name = values.get("query"), values.get("operationName")
    variables, extensions = values.get("variables"), values.get("extensions")
    named = _document_id(values)
    if query is None or query == "":
        if named is None:
            raise RequestRefused(400, "`query` is missing")
        query = ""
    if not isinstance(query, str):
        raise RequestRefused(400, f"`query` must be a string, not {kind(query)}")
    if name is not None and not isinstance(name, str):
        raise RequestRefused(400, f"`operationName` must be a string or null, not {kind(name)}")
    if variables is not None and not isinstance(variables, dict):
        raise RequestRefused(400, f"`variables` must be an object or null, not {kind(variables)}")
    if extensions is not None and not isinstance(extensions, dict):
        raise RequestRefused(400, f"`extensions` must be an object or null, not {kind(extensions)}")
    return Parameters(query, name or None, variables, extensions, named)


def _document_id(values: Mapping[str, object]) -> str | None:
    try:
        return document_id(values)
    except BadUserInput as error:
        raise RequestRefused(400, error.message) from None


def user_agent(headers: Mapping[str, str]) -> str:
    """Return the User-Agent header, truncated."""
    text = headers.get(hdrs.USER_AGENT, "")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text[:_USER_AGENT_LENGTH]


def _read_address(request: web.Request) -> dict[str, object]:
    try:
        pairs = parse_qsl(request.rel_url.raw_query_string, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise RequestRefused(400, "The address must be UTF-8") from None
    values: dict[str, object] = dict(reversed(pairs))  # the first of repeated parameters counts
    for name in ("variables", "extensions"):
        text = values.get(name)
        if isinstance(text, str):
            values[name] = _decode(text, f"`{name}`") if text else None
    return values


async def _receive(request: web.Request) -> bytes:
    _check_content_type(request)
    if (request.content_length or 0) > request.client_max_size:
        raise _too_large(request)
    try:
        if request.content.is_eof():  # it arrived with the headers, so there is nothing to wait for
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
    if len(body) > request.client_max_size:  # after decompression
        raise _too_large(request)
    return body


def _check_content_type(request: web.Request) -> None:
    if request.headers.get(hdrs.CONTENT_TYPE) == JSON:  # the usual spelling, checked first for speed
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


def _counted(address: IPv4Address | IPv6Address) -> str:
    return str(address if isinstance(address, IPv4Address) else IPv6Network((int(address), PREFIX_BITS), strict=False))


@lru_cache(ADDRESSES_KEPT)
def _read(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address in an entry such as `192.0.2.1`, `192.0.2.1:4711` or `[2001:db8::1]:4711`."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ip_address(host)
    except ValueError:
        return None
    # A dual-stack listener reports IPv4 peers as IPv4-mapped IPv6 addresses.
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
