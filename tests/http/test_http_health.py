"""Health, a server that stops, clients that leave, and kept connections."""

import asyncio
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from pytest_aiohttp import AiohttpClient

from serving.http import requests
from serving.http.app import begin_shutdown
from store.client.health import Readiness
from tests.support.transport import clients
from tests.support.transport.clients import JSON, Client, post
from tests.support.transport.small import PlainServices, logged

client = clients.client
services = clients.services


READY: dict[str, Any] = {"reads": True, "writes": True, "states": []}


async def readiness(client: Client) -> tuple[list[int], dict[str, Any]]:
    """Return the statuses of /readyz and /readyz/writes, and their answer."""
    responses = [await client.get(path) for path in ("/readyz", "/readyz/writes")]
    reads, writes = [await response.json() for response in responses]
    assert reads == writes
    return [response.status for response in responses], reads


@pytest.mark.parametrize(
    ("store", "statuses"),
    [
        (READY, [200, 200]),
        ({"reads": True, "writes": False, "states": ["OOM"]}, [200, 503]),
        ({"reads": True, "writes": True, "states": ["SILENT"]}, [200, 200]),
        ({"reads": False, "writes": False, "states": ["SILENT"]}, [503, 503]),
    ],
)
async def test_health(client: Client, services: PlainServices, store: dict[str, Any], statuses: list[int]) -> None:
    """The process is live whatever the store does. It is ready for reads and for writes as the store is."""
    services.ready = Readiness(**store)
    assert await readiness(client) == (statuses, store)
    response = await client.get("/healthz")
    assert (response.status, await response.text()) == (200, "ok")


async def test_not_ready_once_it_stops(client: Client) -> None:
    """As soon as the shutdown begins, both checks of readiness say so, and requests are still answered."""
    assert client.app is not None
    begin_shutdown(client.app)
    assert await readiness(client) == ([503, 503], {"reads": False, "writes": False, "states": ["STOPPING"]})
    assert (await client.get("/healthz")).status == 200
    assert (await post(client, "{ square }"))[0] == 200


async def test_requests_under_way_are_finished(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A request that came before the shutdown is answered."""
    app = services.app()
    entered, may_go = asyncio.Event(), asyncio.Event()

    async def slow(_: web.Request) -> web.Response:
        entered.set()
        await may_go.wait()
        return web.Response(text="done")

    async def stopping_began(_: web.Application) -> None:
        may_go.set()

    app.router.add_get("/slow", slow)
    app.on_shutdown.append(stopping_began)
    client = await aiohttp_client(app)
    asking = asyncio.create_task(client.get("/slow"))
    await entered.wait()
    stopping = asyncio.create_task(client.server.close())
    response = await asking
    assert await response.text() == "done"
    await stopping


async def test_client_that_leaves_while_it_sends(client: Client) -> None:
    """A client that goes away in the middle of its body breaks nothing and logs no fault."""
    with logged() as lines:
        reader, writer = await asyncio.open_connection(client.host, client.port)
        head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        writer.write(head.encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        assert await reader.read() == b""
        assert (await post(client, "{ square }"))[0] == 200
    assert not [line for line in lines if line["log_level"] == "error"]


async def test_client_that_stops_in_the_middle(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that does not end in time is refused: nobody holds a connection for ever."""
    monkeypatch.setattr(requests, "BODY_SECONDS", 0)
    reader, writer = await asyncio.open_connection(client.host, client.port)
    head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    writer.write(head.encode())
    assert await reader.readline() == b"HTTP/1.1 408 Request Timeout\r\n"
    writer.close()
    await writer.wait_closed()


async def test_connections_are_kept(client: Client) -> None:
    """Refusals leave the connection usable: the next request on it is answered."""
    connector = aiohttp.TCPConnector(limit=1)
    async with aiohttp.ClientSession(connector=connector) as session:
        for body in (b"[]", b"{", b'{"query": "{ square }"}'):
            url = client.make_url("/graphql")
            async with session.post(url, data=body, headers={"Content-Type": JSON}) as response:
                await response.read()
        assert response.status == 200
