"""Plain requests, which need none of aiohttp's objects: the same answers, and what is left to aiohttp."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from serving.http.app import CONNECTIONS, DOOR
from serving.http.view import GraphQLEndpoint
from tests.support.transport import clients
from tests.support.transport.clients import EVENT_STREAM, GRAPHQL
from tests.support.transport.raw import BODY, HEAD, PATIENCE, Site, serving
from tests.support.transport.small import SECRET_TEXT, PlainServices, logged

services, held = clients.services, clients.held

LONG = 1000  # s, longer than any test
MEMBER = "Authorization: Bearer alice-phone\r\n"
ORIGIN = "https://app.example"
VARYING = re.compile(rb"(X-Request-Id|Date): [^\r]*")
ASKED: list[tuple[str, Any]] = [
    ("", {"query": "{ square }"}),
    ("", {"query": "query Named($n: Int!) { square(number: $n) }", "variables": {"n": 7}, "operationName": "Named"}),
    ("X-Request-Id: mine\r\nX-Forwarded-For: 1.2.3.4\r\nUser-Agent: tést\r\n", {"query": "{ whence requestId }"}),
    (MEMBER, {"query": "mutation Follows { follow(input: { userIds: [7] }) { name } }"}),
    (f"Accept: {GRAPHQL}\r\n{MEMBER}", {"query": "{ viewer }"}),
    (f"Accept: {GRAPHQL}\r\n", {"query": "{ nothing }"}),
    ("Accept: text/html\r\n", {"query": "{ square }"}),
    ("Accept: text/html\r\nAccept: */*\r\n", {"query": "{ square }"}),
    ("Authorization: Bearer nobody\r\n", {"query": "{ square }"}),
    (f"{MEMBER}{MEMBER}", {"query": "{ viewer }"}),
    (f"Origin: {ORIGIN}\r\n", {"query": "{ square }"}),
    (f"Origin: {ORIGIN}/\xff\r\n", {"query": "{ square }"}),
    ("Origin: https://other.example\r\n", {"query": "{ square }"}),
    ("Connection: close\r\n", {"query": "{ square }"}),
    ("", {"query": "{ refused }"}),
    ("", {"query": "{ broken }"}),
    ("", {"query": "{ fatal }"}),
    ("", {"query": "subscription { events { number } }"}),
    ("", {"query": "{ square", "variables": [1]}),
    ("", {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}}}),
    ("", [1]),
    ("", b'{"query": "{ square }"'),
    ("", b"\xff"),
    ("", b"{" * 5_000),
]
UNUSUAL = [
    HEAD.replace(b"POST /graphql", b"POST /graphql?a=b") + BODY,
    HEAD.replace(b"HTTP/1.1", b"HTTP/1.0") + BODY,
    HEAD.replace(b"application/json", b"application/json; charset=utf-8") + BODY,
    HEAD.replace(b"Host: x", b"Host: x\r\nContent-Encoding: identity") + BODY,
    HEAD.replace(b"Host: x", b"Host: x\r\nUpgrade: h2c") + BODY,
    HEAD.replace(b"Host: x", f"Host: x\r\nAccept: {EVENT_STREAM}".encode()) + BODY,
    re.sub(rb"Content-Length: \d+", b"Transfer-Encoding: chunked", HEAD) + b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY),
    (HEAD + BODY) * 2,
]


def _request(headers: str, body: Any) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode("latin-1") + data


@pytest.fixture
def by_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break the way by aiohttp, so that only plain requests are answered."""

    async def broken(*_: object) -> None:
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(GraphQLEndpoint, "__call__", broken)


@asynccontextmanager
async def _answering(site: Site) -> AsyncIterator[None]:
    """Wait until a plain request is being answered."""
    await site.until(lambda: site.app[DOOR].answering)
    yield


async def _sent(site: Site, request: bytes) -> bytes:
    """Return all that the server sends for one request."""
    raw = await site.connect()
    raw.write(request)
    async with asyncio.timeout(PATIENCE):
        head = await raw.reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"Content-Length: (\d+)", head)
        assert found
        body = await raw.reader.readexactly(int(found[1]))
        rest = await raw.reader.read() if b"Connection: close" in head else b""
    return VARYING.sub(rb"\1", head) + body + rest


@pytest.mark.parametrize(("headers", "body"), ASKED)
async def test_both_ways_answer_the_same(services: PlainServices, headers: str, body: Any) -> None:
    """A plain request has the same answer, byte for byte, and the same log lines as one that aiohttp has read."""
    answers, lines = [], []
    async with serving(services, cors_origins=(ORIGIN,), trusted_proxies=("127.0.0.1/32",)) as site:
        for lean in (True, False):
            site.app[DOOR].lean = lean
            with logged() as found:
                answers.append(await _sent(site, _request("X-Request-Id: mine\r\n" + headers, body)))
            lines.append([{**line, "ms": 0, "exc_info": 0} for line in found])
    assert answers[0] == answers[1]
    assert lines[0] == lines[1]
    assert lines[0][-1]["event"] == "request"


@pytest.mark.usefixtures("by_plain")
async def test_plain_request(services: PlainServices) -> None:
    """A whole POST of JSON is answered without aiohttp's request, also on a kept connection and as the last one."""
    async with serving(services) as site:
        raw = await site.connect()
        assert [await raw.ask(), await raw.ask()] == [200, 200]
        raw.write(_request("Connection: close\r\n", {"query": "{ square }"}))
        status, headers, _ = await raw.response()
        assert (status, headers["connection"]) == (200, "close")
        assert await raw.is_closed()


@pytest.mark.usefixtures("by_plain")
@pytest.mark.parametrize("sent", UNUSUAL)
async def test_unusual_request(services: PlainServices, sent: bytes) -> None:
    """A request with another address, version, framing or kind of body is left to aiohttp, as are pipelined ones."""
    async with serving(services) as site:
        raw = await site.connect()
        raw.write(sent)
        assert b" 500 " in await asyncio.wait_for(raw.reader.readline(), PATIENCE)


@pytest.mark.usefixtures("by_plain")
async def test_body_that_arrives_later(services: PlainServices) -> None:
    """A request whose body is not there with its head is left to aiohttp."""
    async with serving(services) as site:
        raw = await site.connect()
        raw.write(HEAD)
        await site.until(lambda: site.admission.bodies)
        raw.write(BODY)
        assert (await raw.response())[0] == 500


async def test_requests_that_arrive_meanwhile(services: PlainServices, held: asyncio.Event) -> None:
    """Requests behind a plain one are answered in their order, however many of them arrive."""
    async with serving(services) as site:
        raw = await site.connect()
        raw.write(_request("X-Request-Id: first\r\n", {"query": "{ square }"}))
        async with _answering(site):
            for number in range(2_000):
                raw.write(_request(f"X-Request-Id: {number}\r\n", {"query": "{ square }"}))
            assert await asyncio.sleep(0, site.admission.pauses) == {}
        held.set()
        found = [(await raw.response())[1]["x-request-id"] for _ in range(2_001)]
    assert found == ["first", *map(str, range(2_000))]


async def test_garbage_that_arrives_meanwhile(services: PlainServices, held: asyncio.Event) -> None:
    """A plain request is answered, though what follows it is not HTTP, and that is refused."""
    async with serving(services) as site:
        raw = await site.connect()
        raw.write(HEAD + BODY)
        async with _answering(site):
            raw.write(b"hello\r\n\r\n")
        held.set()
        assert [(await raw.response())[0] for _ in range(2)] == [200, 400]
        assert await raw.is_closed()


async def test_plain_request_is_counted(services: PlainServices, held: asyncio.Event) -> None:
    """A plain request counts as being answered until it is, or until its client is gone, and it runs to its end."""
    async with serving(services) as site:
        shedder = site.app[DOOR].shedder
        raw, gone = await site.connect(), await site.connect()
        raw.write(HEAD + BODY)
        gone.write(HEAD + BODY)
        await site.until(lambda: shedder.running == len(site.app[DOOR].answering) == 2)
        gone.writer.close()
        await site.until(lambda: shedder.running == 1)
        held.set()
        assert (await raw.response())[0] == 200
        await site.until(lambda: not site.app[DOOR].answering)
        assert shedder.running == 0
    assert len(services.closed) == 2


async def test_plain_answer_that_is_not_read(services: PlainServices) -> None:
    """A client that does not read waits in the queue of those, and its next request is answered after it has read."""
    text = {"query": f"query($t: String!) {{ {' '.join(f'a{n}: echo(text: $t)' for n in range(400))} }}"}
    text["variables"] = {"t": "x" * 40_000}  # type: ignore[assignment]
    async with serving(services, max_aliases=1_000, max_tokens=10_000) as site:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, ("127.0.0.1", site.port))
        await loop.sock_sendall(client, _request("", text))
        await site.until(lambda: site.admission.unread)
        assert site.app[DOOR].shedder.running == 0
        await loop.sock_sendall(client, HEAD + BODY)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_000_000)
        async with asyncio.timeout(PATIENCE):
            received = b""
            while not received.endswith(b'{"data":{"square":1}}'):
                received = received[-100:] + await loop.sock_recv(client, 1_000_000)
        client.close()


@pytest.mark.parametrize("lean", [True, False])
async def test_process_ends_during_a_request(services: PlainServices, held: asyncio.Event, *, lean: bool) -> None:
    """A process that stops lets a request end, and its answer says that the connection does."""
    async with serving(services, drain_seconds=LONG) as site:
        site.app[DOOR].lean = lean
        raw = await site.connect()
        raw.write(HEAD + BODY)
        await site.until(lambda: site.app[DOOR].shedder.running)
        draining = asyncio.create_task(site.admission.drain())
        await draining
        await site.app[CONNECTIONS].close()
        held.set()
        finishing = asyncio.create_task(site.app[DOOR].finish(LONG))
        status, headers, _ = await raw.response()
        assert (status, headers["connection"]) == (200, "close")
        assert await raw.is_closed()
        await finishing


async def test_process_that_cannot_wait(services: PlainServices, held: asyncio.Event) -> None:
    """A request that takes longer than SHUTDOWN_SECONDS is cancelled, and its connection is closed."""
    async with serving(services, shutdown_seconds=0) as site:
        raw = await site.connect()
        raw.write(HEAD + BODY)
        async with _answering(site):
            pass
    assert await raw.is_closed()
    assert not held.is_set()
    assert not services.closed


async def test_fault(services: PlainServices, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault outside GraphQL is 500 with the id of the request, and logged once with it."""

    def broken(*_: object) -> None:
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(GraphQLEndpoint, "_context", broken)
    with logged() as lines:
        async with serving(services) as site:
            status, headers, body = await _fault(site)
    assert (status, json.loads(body)["errors"][0]["extensions"]["requestId"]) == (500, headers["x-request-id"])
    assert SECRET_TEXT not in body.decode()
    (fault,) = [line for line in lines if line["log_level"] == "error"]
    assert fault["request_id"] == headers["x-request-id"]


async def _fault(site: Site) -> tuple[int, dict[str, str], bytes]:
    raw = await site.connect()
    raw.write(HEAD + BODY)
    return await raw.response()
