"""What is refused first while the process has too much to do, and how."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from schema.execution.parameters import digest
from serving.http.app import DOOR
from serving.overload.shedding import RETRY_SECONDS, Shedder
from store.client.background import Background
from store.client.metering import METER
from tests.support.transport import clients
from tests.support.transport.clients import PROTOCOL, Talk
from tests.support.transport.raw import PATIENCE, Raw, Site, serving
from tests.support.transport.small import PlainServices, logged

services = clients.services

PATIENCE_MS = 100  # that the store has; the kinds have one, two, three and four times as much
REQUESTS = {
    "anonymous": ("", "{ square }"),
    "stream": (
        "Authorization: Bearer alice-phone\r\nAccept: text/event-stream\r\n",
        "subscription { events { contextNumber } }",
    ),
    "read": ("Authorization: Bearer alice-phone\r\n", "{ square }"),
    "write": ("Authorization: Bearer alice-phone\r\n", "mutation { follow(input: { userIds: [] }) { name } }"),
}


def _request(kind: str, more: str = "") -> tuple[bytes, bytes]:
    headers, query = REQUESTS[kind]
    body = json.dumps({"query": query}).encode()
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}{more}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode(), body


MEMBER = "Authorization: Bearer alice-phone\r\n"
WRITES = "mutation Writes { follow(input: { userIds: [] }) { name } }"
NAMED = {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": digest(WRITES)}}}
TWO = "query Reads { square } " + WRITES


async def _send(raw: Raw, headers: str, body: Any) -> tuple[int, dict[str, str], bytes]:
    data = json.dumps(body).encode()
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}"
    raw.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return await raw.response()


@asynccontextmanager
async def _site(services: PlainServices, **turned: Any) -> AsyncIterator[tuple[Site, Shedder]]:
    """Serve, with a clock that moves on by one interval with each request."""
    async with serving(services, store_patience_ms=PATIENCE_MS, **turned) as site:
        assert services.served
        shedder, now = services.served[DOOR].shedder, iter(range(1_000_000))
        shedder.clock = lambda: float(next(now))
        yield site, shedder


async def _ask(raw: Raw, kind: str, more: str = "") -> tuple[int, dict[str, str], bytes]:
    raw.write(b"".join(_request(kind, more)))
    return await raw.response()


@pytest.mark.parametrize(("patience", "refused"), [(0, []), (1, ["anonymous"]), (3, ["anonymous", "read"]), (4, None)])
async def test_order_of_refusals(services: PlainServices, patience: int, refused: list[str] | None) -> None:
    """The longer the store is silent the more is refused: anonymous requests, then members' reads, at last changes."""
    kinds = ["anonymous", "read", "write"]
    async with _site(services) as (site, _):
        raw = await site.connect()
        assert [(await _ask(raw, kind))[0] for kind in kinds] == [200] * 3  # their documents are parsed
        services.silence = patience * PATIENCE_MS / 1000 + 0.01
        answers = {kind: await _ask(raw, kind) for kind in kinds}
    assert [kind for kind in kinds if answers[kind][0] == 503] == (kinds if refused is None else refused)


@pytest.mark.parametrize(
    ("headers", "body", "most"),
    [
        ("", {"query": "mutation { follow(input: { userIds: [] }) { name } }"}, 0),
        ("", {"query": "{ square } #mutation"}, 0),
        ("", {"query": '{ echo(text: "subscription mutation") }'}, 0),
        ("", {"query": "{ square }", "mutation": "mutation"}, 0),
        ("Authorization: Bearer nobody\r\n", {"query": "mutation { follow(input: { userIds: [] }) { name } }"}, 0),
        ("Authorization: alice-phone\r\n", {"query": "{ square }"}, 0),
        (MEMBER, {"query": "{ square } #mutation"}, 2),
        (MEMBER, {"query": '{ echo(text: "mutation subscription") }'}, 2),
        (MEMBER, {"query": "{ square }", "variables": {"mutation": "subscription"}}, 2),
        (MEMBER, {"query": TWO, "operationName": "Reads"}, 2),
        (MEMBER, {"query": TWO, "operationName": "Writes"}, 3),
        (MEMBER, {"query": TWO, "operationName": "None"}, 2),
        (MEMBER, NAMED, 3),
        (MEMBER, {"query": 7}, 2),
        (MEMBER, [], 2),
    ],
)
async def test_rank_is_of_the_parsed_operation(services: PlainServices, headers: str, body: Any, most: int) -> None:
    """A request is answered for as long as its operation's kind is, whatever words are in its text or beside it."""
    async with _site(services) as (site, _):
        raw = await site.connect()
        await _send(raw, MEMBER, {"query": WRITES} | NAMED)
        await _send(raw, MEMBER, {"query": TWO, "operationName": "Reads"})
        statuses = []
        for patience in range(5):
            services.silence = patience * PATIENCE_MS / 1000 + 0.01
            statuses.append((await _send(raw, headers, body))[0])
    assert [status == 503 for status in statuses] == [patience > most for patience in range(5)]


async def test_unknown_document_ranks_as_a_read(services: PlainServices) -> None:
    """A member's mutation whose text is new to the process is refused with their reads, and later ones after them."""
    async with _site(services) as (site, _):
        raw = await site.connect()
        services.silence = 3 * PATIENCE_MS / 1000 + 0.01
        assert (await _ask(raw, "write"))[0] == 503
        services.silence = 0.0
        assert (await _ask(raw, "write"))[0] == 200
        services.silence = 3 * PATIENCE_MS / 1000 + 0.01
        assert (await _ask(raw, "write"))[0] == 200


async def test_body_that_arrives_later_ranks_no_higher(services: PlainServices) -> None:
    """An anonymous request whose body follows its head is refused as one that is complete."""
    async with _site(services) as (site, _):
        raw = await site.connect()
        services.silence = PATIENCE_MS / 1000
        raw.write(_request("anonymous")[0])
        assert (await raw.response())[0] == 503


async def test_streams_are_refused_after_anonymous_reads(services: PlainServices) -> None:
    """A store that is silent for twice the patience keeps out new event streams and websockets, but no read."""
    async with _site(services) as (site, _):
        services.silence = 2 * PATIENCE_MS / 1000
        raw = await site.connect()
        assert [(await _ask(raw, kind))[0] for kind in ("anonymous", "stream", "read")] == [503, 503, 200]
        async with ClientSession(f"http://127.0.0.1:{site.port}") as session:
            with pytest.raises(WSServerHandshakeError) as refused:
                await session.ws_connect("/graphql", protocols=(PROTOCOL,))
    assert refused.value.status == 503


async def test_operations_of_a_websocket(services: PlainServices) -> None:
    """On an open websocket each operation is refused by its kind, under its own id, and the socket stays open."""
    async with _site(services) as (site, _), ClientSession(f"http://127.0.0.1:{site.port}") as session:
        talk = await Talk(await session.ws_connect("/graphql", protocols=(PROTOCOL,))).greet()
        services.silence = PATIENCE_MS / 1000
        assert "SERVICE_UNAVAILABLE" in json.dumps(await talk.answer("{ square }"))
        services.silence = 0.0
        assert "next" in await talk.answer("{ square }")


async def test_form_of_a_refusal(services: PlainServices) -> None:
    """A refusal has the code, headers and CORS of other answers, a time to retry after, and the connection goes on."""
    async with _site(services, cors_origins=("https://app.example",)) as (site, _):
        raw = await site.connect()
        services.silence = 1.0
        found = [await _ask(raw, "read", "Origin: https://app.example\r\nX-Request-Id: mine\r\n") for _ in range(3)]
        services.silence = 0.0
        assert (await _ask(raw, "read"))[0] == 200
    for status, headers, body in found:
        assert status == 503
        assert json.loads(body)["errors"][0]["extensions"]["code"] == "SERVICE_UNAVAILABLE"
        assert headers["x-request-id"] == "mine"
        assert headers["access-control-allow-origin"] == "https://app.example"
        assert (headers["server"], headers["x-content-type-options"]) == ("Perch", "nosniff")
    assert sorted(int(headers["retry-after"]) for _, headers, _ in found) == list(RETRY_SECONDS)


async def test_refused_body_arrives_later(services: PlainServices) -> None:
    """The body of a refused request is dropped when it arrives, and the next request is answered."""
    async with _site(services) as (site, _):
        raw = await site.connect()
        services.silence = 1.0
        head, body = _request("read")
        raw.write(head)
        assert (await raw.response())[0] == 503
        raw.write(body[:5])
        services.silence = 0.0
        raw.write(body[5:])
        assert (await _ask(raw, "read"))[0] == 200


async def test_refused_and_closed(services: PlainServices) -> None:
    """A client that asked for the connection to be closed gets its refusal, and then the end."""
    async with _site(services) as (site, _):
        raw = await site.connect()
        services.silence = 1.0
        assert (await _ask(raw, "read", "Connection: close\r\n"))[0] == 503
        assert await raw.is_closed()
        await site.until(lambda: not len(site.admission))


@pytest.mark.parametrize("line", ["GET /healthz", "GET /readyz", "OPTIONS /graphql"])
async def test_never_refused(services: PlainServices, line: str) -> None:
    """Health checks and preflight requests are answered however much there is to do."""
    async with _site(services) as (site, _):
        services.silence = 10.0
        raw = await site.connect()
        assert (await _ask(raw, "write"))[0] == 503
        raw.write(f"{line} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        head = await asyncio.wait_for(raw.reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert head.split()[1] in {b"200", b"204"}


async def test_off(services: PlainServices) -> None:
    """With OVERLOAD_DELAY_MS=0 nothing is refused."""
    async with _site(services, overload_delay_ms=0) as (site, shedder):
        services.silence, shedder.requests = 10.0, range(10_000)
        assert (await _ask(await site.connect(), "anonymous"))[0] == 200


async def test_requests_are_counted_while_they_are_answered(services: PlainServices) -> None:
    """A request counts until it is answered, and an event stream or a lost connection does not count."""
    async with _site(services) as (site, shedder):
        raw, gone = await site.connect(), await site.connect()
        assert (await _ask(raw, "read"))[0] == 200
        assert shedder.running == 0
        raw.write(b"".join(_request("stream")))
        await asyncio.wait_for(raw.reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert shedder.running == 0
        gone.write(_request("read")[0])
        await site.until(lambda: site.admission.bodies)
        gone.writer.close()
        await site.until(lambda: len(site.admission) == 1)
        assert shedder.running == 0
        await services.events.put(None)


async def test_what_is_counted_and_logged(services: PlainServices) -> None:
    """Refusals are counted by kind and by the setting that refused, and logged at most once a minute."""
    before, shed = METER.refusals["store_patience_ms"], METER.shed["read"]
    with logged() as lines:
        async with _site(services) as (site, _):
            raw = await site.connect()
            services.silence = 1.0
            for _ in range(70):  # each takes two seconds by the clock, which is read twice
                await _ask(raw, "read")
    assert METER.refusals["store_patience_ms"] == before + 70
    assert METER.shed["read"] == shed + 70
    records = [line for line in lines if line["event"] == "load_shed"]
    assert [record["read"] for record in records] == [1, 30, 30]


async def test_background_gives_way() -> None:
    """Work in the background waits while requests wait, and no longer than it is told."""
    background = Background()
    await background.give_way(1_000)  # there is nothing to wait for
    background.note_load()
    assert background.must_wait
    waiting = asyncio.create_task(background.give_way(0.1))
    await asyncio.wait_for(waiting, PATIENCE)
    assert background.must_wait


async def test_nothing_counts_after_its_connection(services: PlainServices) -> None:
    """A client that leaves while requests wait behind the one being answered leaves none that counts."""
    async with _site(services) as (site, shedder):
        raw = await site.connect()
        head, body = _request("anonymous")
        raw.write(head + body[:-1])
        await site.until(lambda: site.admission.bodies)
        raw.write(body[-1:] + (head + body) * 3)
        raw.writer.transport.abort()
        await site.until(lambda: not site.admission)
        assert (await _ask(await site.connect(), "anonymous"))[0] == 200
        await site.until(lambda: shedder.running == 0)


async def test_refused_chunks(services: PlainServices) -> None:
    """A body of chunks of several packets that is refused unread costs no later request of its connection."""
    async with _site(services) as (site, _):
        raw = await site.connect()
        services.silence = PATIENCE_MS / 1000
        raw.write(b"POST /graphql HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 4)
        assert (await raw.response())[0] == 503
        raw.write(b"1\r\nx\r\n0\r\n\r\n")
        await site.until(lambda: site.admission.pauses)
        services.silence = 0.0
        assert (await _ask(raw, "anonymous"))[0] == 200
