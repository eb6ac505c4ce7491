"""Event streams: their sessions, their limits, and every way in which they end."""

import asyncio
import socket
import sys
from typing import Any, cast

import pytest
from aiohttp import ClientSession, web
from pytest_aiohttp import AiohttpClient

from serving.http.app import CONNECTIONS
from tests.support.transport import clients
from tests.support.transport.clients import EVENTS, PROTOCOL, Client, Talk, post, token, within_patience
from tests.support.transport.feeds import ask, subscribe
from tests.support.transport.live import until
from tests.support.transport.small import ALICE, Event, PlainContext, PlainServices, logged

client = clients.client
services = clients.services

AT_ONCE = 2  # s, less than any time-out of the server
TURNS = 200  # of the loop; a stream that still has not moved is stuck
FLOOD = "subscription { flood(size: 100000) }"


# ------------------------------------------------------------ clients that leave


async def test_client_closes(client: Client, services: PlainServices) -> None:
    """When the client closes, its subscription releases its resources at once, and no fault is logged."""
    feed = await subscribe(client)
    async with within_patience():
        await services.started.wait()
        with logged() as lines:
            feed.response.close()
            await services.stopped.wait()
            await until_empty(services)
    assert not [line for line in lines if line["log_level"] in {"error", "warning"}]


async def test_client_vanishes_amid_a_flood(client: Client, services: PlainServices) -> None:
    """When the connection breaks during a large write, the same happens."""
    with logged() as lines:
        feed = await subscribe(client, FLOOD)
        await feed.receive()
        feed.response.close()
        async with within_patience():
            await services.stopped.wait()
            await until_empty(services)
    assert not [line for line in lines if line["log_level"] in {"error", "warning"}]


async def test_client_closes_its_side_only(client: Client, services: PlainServices) -> None:
    """A client that has closed its side is gone, even if it could still be written to."""
    query = EVENTS.replace(" ", "%20").replace("{", "%7B").replace("}", "%7D")
    reader, writer = await asyncio.open_connection(client.host, client.port)
    writer.write(f"GET /graphql?query={query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n".encode())
    async with within_patience():
        await services.started.wait()
        writer.write_eof()
        await services.stopped.wait()
        await reader.read()
    writer.close()
    await writer.wait_closed()


async def test_client_gone_before_the_answer(
    client: Client, services: PlainServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that leaves during the session check leaves nothing behind; no subscription begins."""
    looking, gone = asyncio.Event(), asyncio.Event()

    async def close(_: PlainContext) -> None:
        looking.set()
        await gone.wait()

    monkeypatch.setattr(PlainContext, "close", close)
    with logged() as lines:
        async with ClientSession() as session:
            asking = asyncio.create_task(ask(leaving(session, client), EVENTS))
            async with within_patience():
                await looking.wait()
            asking.cancel()
        await until(lambda: not cast("Any", client.server).handler.connections)
        gone.set()
        async with within_patience():
            await until_empty(services)
    assert not services.started.is_set()
    assert not [line for line in lines if line["log_level"] in {"error", "warning"}]


async def test_client_that_does_not_read(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A client that does not read limits what is produced; after some heartbeats it is disconnected."""
    client = await aiohttp_client(services.app(heartbeat_seconds=1))
    feed = await subscribe(client, FLOOD)
    async with within_patience():
        await services.stopped.wait()
    await until_empty(services)
    assert services.advanced < 300  # 30 MB; the kernel's buffers take some of it
    feed.response.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels have no such option")
async def test_client_gone_without_a_word(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """The kernel is set to give up a client that acknowledges nothing for three heartbeats."""
    client = await aiohttp_client(services.app(heartbeat_seconds=7))
    feed = await subscribe(client)
    (connection,) = cast("Any", client.server).handler.connections
    connected = connection.transport.get_extra_info("socket")
    assert connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 21_000  # ms
    feed.response.close()


async def test_no_task_outlives_its_stream(client: Client, services: PlainServices) -> None:
    """However streams end, nothing of them keeps running."""
    before = asyncio.all_tasks()
    left = await subscribe(client)
    left.response.close()
    ended = await subscribe(client, FLOOD, "alice-phone")
    services.end_session(ALICE, "phone")
    while await ended.receive():
        pass
    completed = await subscribe(client)
    await services.events.put(None)
    await completed.completed()
    await until_empty(services)
    tasks = {task.get_coro().__qualname__ for task in asyncio.all_tasks() - before}  # type: ignore[union-attr]
    assert not {name for name in tasks if name.startswith(("EventStream", "Connection", "deliver"))}


# ------------------------------------------------------------ sessions


async def test_streams_end_with_their_session(client: Client, services: PlainServices) -> None:
    """When a session ends its streams say so and end at once; others stay."""
    phone = await subscribe(client, EVENTS, "alice-phone")
    async with within_patience():
        await services.started.wait()
    services.end_session(ALICE, "phone")
    assert await phone.refused() == "UNAUTHENTICATED"
    assert services.stopped.is_set()
    laptop = await subscribe(client, EVENTS, "alice-laptop")
    bob = await subscribe(client, EVENTS, "bob-phone")
    services.end_session(ALICE, "phone")
    services.end_session(ALICE, None)
    assert await laptop.refused() == "UNAUTHENTICATED"
    await services.events.put(Event(number=1, text=""))
    assert "data" in await bob.receive()
    bob.response.close()


async def test_session_that_ends_while_it_is_looked_up(
    client: Client, services: PlainServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that ends before its stream has begun still ends it."""

    async def close(_: PlainContext) -> None:
        services.end_session(ALICE, "phone")

    monkeypatch.setattr(PlainContext, "close", close)
    feed = await subscribe(client, EVENTS, "alice-phone")
    assert await feed.refused() == "UNAUTHENTICATED"


async def test_session_of_a_client_that_does_not_read(client: Client, services: PlainServices) -> None:
    """The subscription ends with its session at once, whether or not its client reads."""
    feed = await subscribe(client, FLOOD, "alice-phone")
    await until_stuck(services)
    services.end_session(ALICE, "phone")
    async with asyncio.timeout(AT_ONCE):
        await services.stopped.wait()
    feed.response.close()


async def test_lost_message_of_an_ended_session(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """If no message says that a session has ended, the next heartbeat finds out."""
    feed = await subscribe(await aiohttp_client(services.app(heartbeat_seconds=1)), EVENTS, "alice-phone")
    services.ended_sessions.add((ALICE, "phone"))
    assert await feed.refused() == "UNAUTHENTICATED"


async def test_store_away_at_a_heartbeat(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A stream survives a time in which its session cannot be checked."""
    feed = await subscribe(await aiohttp_client(services.app(heartbeat_seconds=1)), EVENTS, "alice-phone")
    services.is_away = True
    async with within_patience():
        await services.checked.wait()
    await services.events.put(Event(number=1, text=""))
    assert "data" in await feed.receive()
    feed.response.close()


# ------------------------------------------------------------ limits


async def test_streams_and_sockets_per_member(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """Streams and sockets of a member count together; one too many is refused, and one that ends makes room."""
    client = await aiohttp_client(services.app(sockets_per_member=2))
    talk = await Talk(await client.ws_connect("/graphql", protocols=(PROTOCOL,))).greet(token("alice-phone"))
    first = await subscribe(client, EVENTS, "alice-phone")
    third = await ask(client, EVENTS, "alice-laptop")
    assert (third.response.status, third.response.headers["Retry-After"]) == (429, "1")
    assert await third.refused() == "RATE_LIMITED"
    other = await Talk(await client.ws_connect("/graphql", protocols=(PROTOCOL,))).greet(token("bob-phone"))
    socket = Talk(await client.ws_connect("/graphql", protocols=(PROTOCOL,)))
    await socket.say(type="connection_init", payload=token("alice-phone"))
    assert await socket.close_code() == 1013
    assert await (await ask(client, "{ viewer }", "alice-phone")).receive() == {"data": {"viewer": ALICE}}
    first.response.close()
    async with within_patience():
        await services.stopped.wait()
    again = await subscribe(client, EVENTS, "alice-phone")
    again.response.close()
    await talk.socket.close()
    await other.socket.close()


async def test_streams_per_anonymous_address(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """Anonymous streams count by address."""
    client = await aiohttp_client(services.app(sockets_per_member=1, trusted_proxies=("127.0.0.0/8",)))
    asked: dict[str, Any] = {"headers": {"X-Forwarded-For": "192.0.2.1"}}
    first = await (await ask(client, EVENTS, **asked)).opened()
    assert await (await ask(client, EVENTS, **asked)).refused() == "RATE_LIMITED"
    asked["headers"] = {"X-Forwarded-For": "192.0.2.2"}
    other = await (await ask(client, EVENTS, **asked)).opened()
    first.response.close()
    other.response.close()


# ------------------------------------------------------------ the end of the process


async def test_shutdown_completes(client: Client, services: PlainServices) -> None:
    """When the process stops, open streams are completed, and no new ones begin."""
    feeds = [await subscribe(client, EVENTS, "alice-phone") for _ in range(3)]
    assert services.served is not None
    async with within_patience():
        await services.served.shutdown()
    for feed in feeds:
        await feed.completed()
    assert services.stopped.is_set()
    assert len(services.served[CONNECTIONS]) == 0
    late = await ask(client, EVENTS, "alice-phone")
    assert late.response.status == 503
    assert await late.refused() == "SERVICE_UNAVAILABLE"
    assert (await post(client, "{ square }"))[0] == 200


async def until_empty(services: PlainServices) -> None:
    """Wait until the server has no more connections."""
    connections = cast("web.Application", services.served)[CONNECTIONS]
    await until(lambda: not len(connections))


async def until_stuck(services: PlainServices) -> None:
    """Wait until a flood has filled every buffer that nobody reads."""
    advanced, turns = -1, 0
    while turns < TURNS:
        turns = turns + 1 if services.advanced == advanced else 0
        advanced = services.advanced
        await asyncio.sleep(0)


def leaving(session: ClientSession, client: Client) -> Any:
    """Return a client that uses connections of its own."""

    class Leaving:
        async def post(self, path: str, **rest: Any) -> Any:
            return await session.post(client.make_url(path), **rest)

    return Leaving()
