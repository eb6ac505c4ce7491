"""Clients of the small schema: over HTTP, and on a websocket."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType, web
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient

from tests.support.transport.small import PlainContext, PlainServices

JSON = "application/json"
GRAPHQL = "application/graphql-response+json"
EVENT_STREAM = "text/event-stream"

Client = TestClient[web.Request, web.Application]


@pytest.fixture
def services() -> PlainServices:
    return PlainServices()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Event]:
    """Hold operations up until an event is set."""
    may_end, close = asyncio.Event(), PlainContext.close

    async def late(context: PlainContext) -> None:
        await may_end.wait()
        await close(context)

    monkeypatch.setattr(PlainContext, "close", late)
    yield may_end
    may_end.set()


@pytest.fixture
async def client(services: PlainServices, aiohttp_client: AiohttpClient) -> Client:
    return await aiohttp_client(services.app(max_body=4096))


async def post(client: Client, query: object, **rest: Any) -> tuple[int, dict[str, Any]]:
    headers = rest.pop("headers", {})
    response = await client.post("/graphql", json={"query": query, **rest}, headers=headers)
    return response.status, await response.json(content_type=None)


def first_code(body: dict[str, Any]) -> str:
    assert set(body) == {"errors"}
    code: str = body["errors"][0]["extensions"]["code"]
    return code


PROTOCOL = "graphql-transport-ws"
EVENTS = "subscription { events { number } }"
PATIENCE = 10  # s after which an expected event counts as lost
Connect = Callable[..., Awaitable["Talk"]]


class Talk:
    """A websocket as a client holds it."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket

    async def say(self, **message: Any) -> None:
        await self.socket.send_str(json.dumps(message))

    async def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = await self.socket.receive_json(timeout=PATIENCE)
        return message

    async def greet(self, payload: dict[str, Any] | None = None) -> "Talk":
        await self.say(type="connection_init", payload=payload)
        assert await self.receive() == {"type": "connection_ack"}
        return self

    async def ask(self, query: str, id_: str = "1", **rest: Any) -> None:
        await self.say(id=id_, type="subscribe", payload={"query": query, **rest})

    async def answer(self, query: str, **rest: Any) -> dict[str, Any]:
        """Return the payload of the only message that answers a query."""
        await self.ask(query, **rest)
        message = await self.receive()
        if message["type"] == "next":
            assert await self.receive() == {"id": "1", "type": "complete"}
        assert message["id"] == "1"
        return {message["type"]: message["payload"]}

    async def close_code(self) -> int:
        """Return the code with which the server closes the socket; no other message may arrive."""
        message = await self.socket.receive(timeout=PATIENCE)
        assert message.type in {WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.CLOSING}, message
        assert self.socket.close_code is not None
        return self.socket.close_code


@asynccontextmanager
async def within_patience() -> AsyncIterator[None]:
    async with asyncio.timeout(PATIENCE):
        yield


def token(text: str) -> dict[str, Any]:
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def connect(services: PlainServices, aiohttp_client: AiohttpClient) -> Connect:
    """Open a websocket; the first call may change the server's settings."""
    clients: list[Client] = []

    async def opened(*, headers: dict[str, str] | None = None, **rest: Any) -> Talk:
        turned = {name: rest.pop(name) for name in list(rest) if hasattr(services.settings, name)}
        if not clients:
            clients.append(await aiohttp_client(services.app(**turned)))
        rest.setdefault("protocols", (PROTOCOL,))
        return Talk(await clients[0].ws_connect("/graphql", headers=headers, **rest))

    return opened
