"""Requests that aiohttp refuses by itself: answered and logged like all others."""

import json

import pytest

from tests.support.transport import clients
from tests.support.transport.raw import HEAD, serving
from tests.support.transport.small import PlainServices, logged

services = clients.services

TOKEN = "alice-phone"
ANSWERED = {
    "server",
    "x-request-id",
    "x-content-type-options",
    "referrer-policy",
    "content-security-policy",
    "cache-control",
}
GET = b"GET /graphql HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"hello\r\n\r\n", 400),
        (b"GET /graphql HTTP/9.9\r\nHost: x\r\n\r\n", 400),
        (GET + b"Authorization: Bearer alice-phone\x00\r\n\r\n", 400),
        (GET + b"Bad Header alice-phone: 1\r\n\r\n", 400),
        (GET + b"Content-Length: x\r\n\r\n", 400),
        (GET + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (GET + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n", 400),
        (b"GET http://[::1/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET http://x:99999999/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (GET + b"X-Long: " + b"a" * 10_000 + b"\r\n\r\n", 431),
        (GET + b"X: 1\r\n" * 1_000 + b"\r\n", 400),
        (GET + b"Expect: the unexpected\r\n\r\n", 417),
        (GET + b"Expect: the \xff unexpected\r\n\r\n", 400),
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET //graphql HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"PURGE /graphql HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (HEAD.replace(b"Content-Length: ", b"Content-Length: 99999999"), 413),
    ],
)
async def test_refusal_has_the_form_of_all_others(services: PlainServices, sent: bytes, status: int) -> None:
    """A refusal is JSON with the usual headers, and one log line without the request's content."""
    with logged() as lines:
        async with serving(services) as site:
            raw = await site.connect()
            raw.write(sent)
            answered, headers, body = await raw.response()
    assert answered == status
    assert headers.keys() >= ANSWERED
    assert (headers["server"], headers["content-type"]) == ("Perch", "application/json; charset=utf-8")
    (error,) = json.loads(body)["errors"]
    assert error["extensions"]["code"] == ("NOT_FOUND" if status == 404 else "BAD_USER_INPUT")
    (line,) = lines
    assert (line["status"], line["request_id"], line["log_level"]) == (status, headers["x-request-id"], "info")
    assert TOKEN not in f"{body!r} {line}"


async def test_malformed_request_says_what_is_wrong(services: PlainServices) -> None:
    """The answer has the parser's message, and the log has the client's address."""
    with logged() as lines:
        async with serving(services) as site:
            raw = await site.connect()
            raw.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
            _, headers, body = await raw.response()
    said = "The request is not valid HTTP: Received HTTPS traffic on an HTTP port"
    assert json.loads(body)["errors"][0]["message"] == said
    assert lines == [
        {
            "event": "request_refused",
            "log_level": "info",
            "status": 400,
            "reason": said,
            "address": "127.0.0.1",
            "request_id": headers["x-request-id"],
        }
    ]


@pytest.mark.parametrize(
    "request_line",
    ["GET /healthz", "HEAD /healthz", "HEAD /graphql", "OPTIONS /graphql", "GET /nothing", "POST /healthz", "GET /"],
)
async def test_no_answer_names_a_version(services: PlainServices, request_line: str) -> None:
    """The header Server has only the project's name."""
    async with serving(services) as site:
        raw = await site.connect()
        raw.write(f"{request_line} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        head = (await raw.reader.readuntil(b"\r\n\r\n")).decode()
    assert "\r\nServer: Perch\r\n" in head


async def test_handshake_names_no_version(services: PlainServices) -> None:
    """The same holds when a websocket is opened."""
    async with serving(services) as site:
        raw = await site.connect()
        upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        raw.write(
            GET
            + upgrade
            + b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
        )
        head = (await raw.reader.readuntil(b"\r\n\r\n")).decode()
    assert head.startswith("HTTP/1.1 101")
    assert "\r\nServer: Perch\r\n" in head
