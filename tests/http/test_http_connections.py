"""Connections: how many are allowed, how long they may wait, and which are closed for new ones."""

import asyncio
import json
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from tests.support.servers.processes import perch
from tests.support.transport import clients
from tests.support.transport.clients import PROTOCOL, Talk
from tests.support.transport.raw import BODY, HEAD, PATIENCE, event_stream, event_stream_request, serving
from tests.support.transport.small import PlainServices, logged

services = clients.services

LONG = 1000  # s, longer than any test
DRIP = 0.02  # s between two bytes of a slow client


# ------------------------------------------------------------ time limits


async def test_silent_connection_is_closed(services: PlainServices) -> None:
    """A connection that never sends a head is closed after REQUEST_HEAD_SECONDS, a kept one is not."""
    async with serving(services, request_head_seconds=0, keep_alive_seconds=LONG) as site:
        silent, kept = await site.waiting(), await site.waiting()
        assert await kept.ask() == 200
        site.admission.sweep()
        assert await silent.is_closed()
        assert await kept.ask() == 200


async def test_head_on_a_kept_connection_has_the_same_limit(services: PlainServices) -> None:
    """The first byte of a next request starts its time limit."""
    async with serving(services, request_head_seconds=0, keep_alive_seconds=LONG) as site:
        raw = await site.connect()
        assert await raw.ask() == 200
        raw.write(HEAD[:10])
        await site.until(lambda: site.admission.heads)
        site.admission.sweep()
        assert await raw.is_closed()


async def test_drip_does_not_extend_the_time(services: PlainServices) -> None:
    """A client that sends its head byte by byte has no more time than one that sends nothing."""
    async with serving(services, request_head_seconds=1, keep_alive_seconds=LONG) as site:
        raw = await site.connect()
        raw.write(b"GET /graphql HTTP/1.1\r\nX-Slow: ")
        reading = asyncio.create_task(raw.is_closed())
        async with asyncio.timeout(PATIENCE):
            while not (await asyncio.wait({reading}, timeout=DRIP))[0]:
                raw.write(b"a")
        assert reading.result()


async def test_idle_connection_is_closed(services: PlainServices) -> None:
    """A connection without a next request is closed after KEEP_ALIVE_SECONDS."""
    async with serving(services, request_head_seconds=LONG, keep_alive_seconds=0) as site:
        raw = await site.connect()
        assert await raw.ask() == 200
        await site.until(lambda: site.admission.pauses)
        site.admission.sweep()
        assert await raw.is_closed()


async def test_work_has_no_time_limit_of_the_connection(services: PlainServices) -> None:
    """An event stream and a websocket outlast all limits on waiting."""
    async with serving(services, request_head_seconds=0, keep_alive_seconds=0) as site:
        stream = await event_stream(await site.connect())
        async with ClientSession(f"http://127.0.0.1:{site.port}") as session:
            talk = await Talk(await session.ws_connect("/graphql", protocols=(PROTOCOL,))).greet()
            site.admission.sweep()
            assert "next" in await talk.answer("{ square }")
        await services.events.put(None)
        assert b"complete" in await asyncio.wait_for(stream.reader.readuntil(b"data:\n"), PATIENCE)


async def test_client_that_does_not_read_its_answer(services: PlainServices) -> None:
    """A client that reads nothing of its answer for three heartbeats is disconnected."""
    body = json.dumps(
        {"query": "query($t: String!) { a: echo(text: $t) b: echo(text: $t) }", "variables": {"t": "x" * 4_000_000}}
    )
    async with serving(services, heartbeat_seconds=0, max_body=8_000_000) as site:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", site.port))
        head = HEAD.replace(str(len(BODY)).encode(), str(len(body)).encode())
        await asyncio.get_running_loop().sock_sendall(client, head + body.encode())
        await site.until(lambda: site.admission.unread)
        await asyncio.get_running_loop().sock_sendall(client, HEAD + BODY)  # requesting more is not reading
        assert await (await site.connect()).ask() == 200
        site.admission.sweep()
        await site.until(lambda: len(site.admission) == 1)
        client.close()


# ------------------------------------------------------------ how many


async def test_own_idle_connection_makes_room(services: PlainServices) -> None:
    """At its limit, an address loses its longest waiting connection to its new one; no other address does."""
    async with serving(services, connections_per_address=2) as site:
        other = await site.waiting("127.0.0.3")
        first, second = await site.waiting("127.0.0.2"), await site.waiting("127.0.0.2")
        assert await (await site.connect("127.0.0.2")).ask() == 200
        assert await first.is_closed()
        assert await second.ask() == 200
        assert await other.ask() == 200


async def test_address_that_is_busy_on_all_its_connections(services: PlainServices) -> None:
    """An address whose connections are all busy is refused one more, in the usual form of refusals."""
    async with serving(services, connections_per_address=1) as site:
        stream = await event_stream(await site.connect("127.0.0.2"))
        status, headers, body = await (await site.connect("127.0.0.2")).response()
        assert (status, headers["retry-after"], headers["connection"]) == (429, "1", "close")
        assert (headers["server"], headers["x-content-type-options"]) == ("Perch", "nosniff")
        assert headers["x-request-id"]
        assert json.loads(body)["errors"][0]["extensions"]["code"] == "RATE_LIMITED"
        assert await (await site.connect("127.0.0.3")).ask() == 200
        stream.writer.close()
        await site.until(lambda: len(site.admission) == 1)
        assert await (await site.connect("127.0.0.2")).ask() == 200


async def test_no_limit_for_a_trusted_proxy(services: PlainServices) -> None:
    """The connections of a trusted proxy count as those of many clients."""
    async with serving(services, connections_per_address=1, trusted_proxies=("127.0.0.2/32",)) as site:
        raws = [await site.waiting("127.0.0.2") for _ in range(3)]
        assert [await raw.ask() for raw in raws] == [200, 200, 200]


async def test_no_limit_per_address(services: PlainServices) -> None:
    """CONNECTIONS_PER_ADDRESS can be turned off."""
    async with serving(services, connections_per_address=0) as site:
        raws = [await site.waiting() for _ in range(3)]
        assert [await raw.ask() for raw in raws] == [200, 200, 200]


async def test_longest_waiting_connection_makes_room(services: PlainServices) -> None:
    """At the limit, the longest waiting connection is closed: before, within and between requests alike."""
    async with serving(services, max_connections=3) as site:
        kept = await site.connect("127.0.0.2")
        assert await kept.ask() == 200
        within = await site.waiting("127.0.0.3")
        within.write(HEAD + BODY[:5])
        await site.until(lambda: site.admission.bodies)
        silent = await site.waiting("127.0.0.4")
        for gone, newcomer in ((kept, "127.0.0.5"), (within, "127.0.0.6"), (silent, "127.0.0.7")):
            assert await (await site.connect(newcomer)).ask() == 200
            assert await gone.is_closed()


async def test_body_that_never_ends_is_no_fault(services: PlainServices) -> None:
    """A connection lost within a body, or closed for another one, is one ordinary line of the log."""
    with logged() as lines:
        async with serving(services, most=1) as site:
            within = await site.waiting("127.0.0.2")
            within.write(HEAD + BODY[:5])
            await site.until(lambda: site.admission.bodies)
            assert await (await site.connect("127.0.0.3")).ask() == 200
            await site.until(lambda: len(lines) == 2)
    assert [line["status"] for line in lines if line["event"] == "request"] == [400, 200]
    assert {line["log_level"] for line in lines} == {"info"}


async def test_work_is_never_closed_for_a_newcomer(services: PlainServices) -> None:
    """If all connections are busy, a new one is refused with a time to try again."""
    async with serving(services, most=2) as site:
        stream = await event_stream(await site.connect("127.0.0.2"))
        working = await site.connect("127.0.0.3")
        working.write(HEAD + BODY)
        await working.response()
        second = await event_stream(working)
        status, headers, body = await (await site.connect("127.0.0.4")).response()
        assert (status, headers["retry-after"]) == (503, "1")
        assert json.loads(body)["errors"][0]["extensions"]["code"] == "SERVICE_UNAVAILABLE"
        for one in (stream, second):
            assert not one.reader.at_eof()


async def test_streams_leave_room_for_requests(services: PlainServices) -> None:
    """Websockets and event streams together take four fifths of all connections at most."""
    async with serving(services, max_connections=5) as site, AsyncExitStack() as stack:
        session = await stack.enter_async_context(ClientSession(f"http://127.0.0.1:{site.port}"))
        opening = [session.ws_connect("/graphql", protocols=(PROTOCOL,)) for _ in range(3)]
        sockets = [await stack.enter_async_context(socket) for socket in opening]
        stream = await event_stream(await site.connect())
        with pytest.raises(WSServerHandshakeError) as refused:
            await session.ws_connect("/graphql", protocols=(PROTOCOL,))
        assert refused.value.status == 503
        raw = await site.connect()
        raw.write(event_stream_request())
        assert (await raw.response())[0] == 503
        assert await (await site.connect()).ask() == 200
        assert not stream.reader.at_eof()
        assert not any(one.closed for one in sockets)


async def test_lack_of_room_is_one_line_a_minute(services: PlainServices) -> None:
    """However many connections are closed or refused, the log has one line."""
    with logged() as lines:
        async with serving(services, connections_per_address=1) as site:
            for _ in range(3):
                assert await (await site.connect()).ask() == 200
                await site.until(lambda: site.admission.pauses)
            site.admission.sweep()
            assert await (await site.connect()).ask() == 200
            site.admission.sweep()
    (line,) = [line for line in lines if line["event"] == "connections_limited"]
    assert (line["closed"], line["refused"], line["log_level"]) == (2, 0, "warning")


async def test_four_hundred_idle_connections_on_256_files(tmp_path: Path) -> None:
    """A process that may open 256 files serves a client that works while 400 connections are idle."""
    async with perch(tmp_path, "serve", open_files=256) as process, AsyncExitStack() as stack:
        url = await process.url()
        port = int(url.rsplit(":", 1)[1])
        for number in range(400):
            address = f"127.0.0.{2 + number % 40}"
            _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            stack.callback(writer.close)
        async with ClientSession(url) as session:
            for _ in range(10):
                async with session.post(
                    "/graphql", json={"query": "{ __typename }"}, headers={"Connection": "close"}
                ) as answer:
                    assert (answer.status, await answer.json()) == (200, {"data": {"__typename": "Query"}})
        (lowered,) = [line for line in process.err.lines if "connections_lowered" in line]
        assert json.loads(lowered)["open_files"] == 256
