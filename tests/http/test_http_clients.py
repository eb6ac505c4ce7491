"""GraphQL over HTTP: the client's token and address."""

import asyncio

import pytest
from aiohttp import ClientConnectionError, web
from pytest_aiohttp import AiohttpClient

from serving.http.middleware import observe
from serving.http.requests import Proxies
from tests.support.transport import clients
from tests.support.transport.clients import GRAPHQL, JSON, Client, first_code, post
from tests.support.transport.small import ALICE, PlainServices, logged

client = clients.client
services = clients.services


async def test_client_that_has_left(aiohttp_client: AiohttpClient) -> None:
    """A client that leaves before its websocket is open is no fault of the server, and nothing is logged as one."""
    answered: asyncio.Future[web.StreamResponse] = asyncio.get_running_loop().create_future()

    async def open_socket(request: web.Request) -> web.StreamResponse:
        assert request.transport
        request.transport.abort()
        await web.WebSocketResponse().prepare(request)
        raise AssertionError("the client has left")

    async def answer(request: web.Request) -> web.StreamResponse:
        answered.set_result(await observe(request, open_socket))
        return answered.result()

    app = web.Application()
    app.router.add_get("/", answer)
    client = await aiohttp_client(app)
    with logged() as lines, pytest.raises(ClientConnectionError):
        await client.ws_connect("/")
    assert (await answered).status == 200
    assert [line["event"] for line in lines] == ["request"]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
async def test_bearer_token(client: Client, scheme: str) -> None:
    """A token names the viewer; the scheme's case does not matter."""
    status, body = await post(client, "{ viewer }", headers={"Authorization": f"{scheme} alice-phone"})
    assert (status, body) == (200, {"data": {"viewer": ALICE}})


async def test_anonymous_request(client: Client) -> None:
    """Without a token the viewer is nobody."""
    assert await post(client, "{ viewer }") == (200, {"data": {"viewer": None}})


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Basic YWxpY2U6eA==", "alice-phone", "Bearer mallory", "Bearer alice phone", "Bearer ü"],
)
@pytest.mark.parametrize("media", [GRAPHQL, JSON])
async def test_refused_tokens(client: Client, authorization: str, media: str) -> None:
    """Another scheme, no token or a bad one is 401 with either media type: never taken for anonymous."""
    headers = {"Authorization": authorization, "Accept": media}
    response = await client.post("/graphql", json={"query": "{ square }"}, headers=headers)
    assert response.status == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert first_code(await response.json(content_type=None)) == "UNAUTHENTICATED"


async def test_two_authorization_headers(client: Client) -> None:
    """Two tokens in one request count as none."""
    headers = [("Authorization", "Bearer alice-phone"), ("Authorization", "Bearer bob-phone")]
    response = await client.post("/graphql", json={"query": "{ viewer }"}, headers=headers)
    assert response.status == 401


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "client"),
    [
        ([], "192.0.2.1", [], "192.0.2.1"),
        ([], "192.0.2.1", ["203.0.113.9"], "192.0.2.1"),
        (["10.0.0.0/8"], "10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        (["10.0.0.0/8"], "10.0.0.1", ["6.6.6.6, 203.0.113.9"], "203.0.113.9"),
        (["10.0.0.0/8"], "10.0.0.1", ["6.6.6.6, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        (["10.0.0.0/8"], "10.0.0.1", ["203.0.113.9", "10.0.0.2"], "203.0.113.9"),
        (["10.0.0.0/8"], "10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        (["10.0.0.0/8"], "10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"),
        (["10.0.0.0/8"], "10.0.0.1", ["unknown, 10.0.0.2"], "10.0.0.2"),
        (["10.0.0.0/8"], "10.0.0.1", [], "10.0.0.1"),
        (["10.0.0.0/8"], "10.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"),
        (["10.0.0.0/8"], "::ffff:10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        (["::1/128"], "::1", ["[2001:db8::1]:4711"], "2001:db8::/64"),
        (["::1/128"], "::1", ["2001:db8::1"], "2001:db8::/64"),
        (["::1/128"], "::1", ["2001:db8::ffff:1:2:3"], "2001:db8::/64"),
        (["::1/128"], "::1", ["2001:db8:0:1::1"], "2001:db8:0:1::/64"),
        ([], "fe80::1%eth0", [], "fe80::/64"),
        ([], "::ffff:192.0.2.1", [], "192.0.2.1"),
        ([], None, ["203.0.113.9"], ""),
    ],
)
def test_client_address(trusted: list[str], peer: str | None, forwarded: list[str], client: str) -> None:
    """The client is the last address that is no trusted proxy; for IPv6, its /64 prefix."""
    assert Proxies(trusted).client(peer, forwarded) == client


async def test_client_address_and_agent_reach_the_context(
    services: PlainServices, aiohttp_client: AiohttpClient
) -> None:
    """Resolvers see the address behind a trusted proxy, and a user agent that is safe to store."""
    client = await aiohttp_client(services.app(trusted_proxies=("127.0.0.0/8",)))
    headers = {"X-Forwarded-For": "203.0.113.9", "User-Agent": "phone " + "x" * 1000}
    _, body = await post(client, "{ whence }", headers=headers)
    assert body["data"]["whence"] == "203.0.113.9 phone " + "x" * 294
