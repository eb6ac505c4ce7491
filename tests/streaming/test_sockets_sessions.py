"""Websockets: the session of a socket, its end, and the origins that may open one."""

from typing import Any

import pytest
from aiohttp import WSMsgType, WSServerHandshakeError
from pytest_aiohttp import AiohttpClient

from tests.support.transport import clients
from tests.support.transport.clients import EVENTS, PATIENCE, PROTOCOL, Connect, Talk, token, within_patience
from tests.support.transport.small import ALICE, BOB, PlainServices

connect = clients.connect
services = clients.services


# ------------------------------------------------------------ the session


@pytest.mark.parametrize("key", ["Authorization", "authorization", "AUTHORIZATION"])
async def test_token_in_the_payload(connect: Connect, key: str) -> None:
    """The token is a key of the first message, in any case."""
    talk = await (await connect()).greet({key: "Bearer alice-phone"})
    assert await talk.answer("{ viewer }") == {"next": {"data": {"viewer": ALICE}}}


async def test_token_in_the_handshake(connect: Connect) -> None:
    """A client that can send headers may send the token there; the payload takes precedence."""
    talk = await (await connect(headers=token("alice-phone"))).greet()
    assert await talk.answer("{ viewer }") == {"next": {"data": {"viewer": ALICE}}}
    talk = await (await connect(headers=token("alice-phone"))).greet(token("bob-phone"))
    assert await talk.answer("{ viewer }") == {"next": {"data": {"viewer": BOB}}}


@pytest.mark.parametrize("payload", [None, {}, {"Authorization": None}])
async def test_anonymous_socket(connect: Connect, payload: Any) -> None:
    """Without a token the socket is anonymous."""
    talk = await (await connect()).greet(payload)
    assert await talk.answer("{ viewer }") == {"next": {"data": {"viewer": None}}}


async def test_sockets_end_with_their_session(connect: Connect, services: PlainServices) -> None:
    """When a session ends its sockets close at once, and their subscriptions with them; others stay."""
    phone = await (await connect()).greet(token("alice-phone"))
    laptop = await (await connect()).greet(token("alice-laptop"))
    bob = await (await connect()).greet(token("bob-phone"))
    nobody = await (await connect()).greet()
    await phone.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
    services.end_session(ALICE, "phone")
    assert await phone.close_code() == 4403
    async with within_patience():
        await services.stopped.wait()
    for talk in (laptop, bob, nobody):
        assert "next" in await talk.answer("{ viewer }")
    services.end_session(ALICE, None)
    assert await laptop.close_code() == 4403
    for talk in (bob, nobody):
        assert "next" in await talk.answer("{ viewer }")


async def test_session_that_ends_during_the_handshake(
    connect: Connect, services: PlainServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that ends during its check still closes the socket."""

    async def ends_meanwhile(_: object) -> bool:
        services.end_session(ALICE, "phone")
        return True

    monkeypatch.setattr(services, "session_is_valid", ends_meanwhile)
    talk = await connect()
    await talk.say(type="connection_init", payload=token("alice-phone"))
    message = await talk.socket.receive(timeout=PATIENCE)
    if message.type is WSMsgType.TEXT:  # the acknowledgement may have been on its way
        message = await talk.socket.receive(timeout=PATIENCE)
    assert talk.socket.close_code == 4403


async def test_lost_message_of_an_ended_session(connect: Connect, services: PlainServices) -> None:
    """If no message says that a session has ended, the next heartbeat finds out."""
    talk = await (await connect(heartbeat_seconds=1)).greet(token("alice-phone"))
    services.ended_sessions.add((ALICE, "phone"))
    assert await talk.close_code() == 4403


async def test_store_away_at_a_heartbeat(connect: Connect, services: PlainServices) -> None:
    """A socket survives a time in which its session cannot be checked."""
    talk = await (await connect(heartbeat_seconds=1)).greet(token("alice-phone"))
    services.is_away = True
    services.checked.clear()
    async with within_patience():
        await services.checked.wait()
    assert "next" in await talk.answer("{ viewer }")


async def test_sockets_per_member(connect: Connect) -> None:
    """One socket above a member's limit is refused; another member's, and one after closing, is not."""
    first = await (await connect(sockets_per_member=2)).greet(token("alice-phone"))
    await (await connect()).greet(token("alice-laptop"))
    third = await connect()
    await third.say(type="connection_init", payload=token("alice-phone"))
    assert await third.close_code() == 1013
    await (await connect()).greet(token("bob-phone"))
    await first.socket.close()
    await (await connect()).greet(token("alice-phone"))


async def test_sockets_per_anonymous_address(connect: Connect) -> None:
    """Anonymous sockets count by address."""
    trusting: dict[str, Any] = {"sockets_per_member": 1, "trusted_proxies": ("127.0.0.0/8",)}
    here, there = {"X-Forwarded-For": "192.0.2.1"}, {"X-Forwarded-For": "192.0.2.2"}
    await (await connect(headers=here, **trusting)).greet()
    second = await connect(headers=here)
    await second.say(type="connection_init")
    assert await second.close_code() == 1013
    await (await connect(headers=there)).greet()


async def test_sockets_per_ipv6_prefix(connect: Connect) -> None:
    """All addresses of an IPv6 /64 count as one client, which can choose any of them."""
    trusting: dict[str, Any] = {"sockets_per_member": 1, "trusted_proxies": ("127.0.0.0/8",)}
    await (await connect(headers={"X-Forwarded-For": "2001:db8::1"}, **trusting)).greet()
    second = await connect(headers={"X-Forwarded-For": "2001:db8::ffff:2"})
    await second.say(type="connection_init")
    assert await second.close_code() == 1013
    await (await connect(headers={"X-Forwarded-For": "2001:db8:0:1::1"})).greet()


# ------------------------------------------------------------ origins


@pytest.mark.parametrize(
    ("listed", "origin", "allowed"),
    [
        ((), None, True),
        ((), "same", True),
        ((), "https://evil.example", False),
        ((), "null", False),
        (("https://app.example",), "https://app.example", True),
        (("https://app.example",), "https://APP.example:443", True),
        (("https://app.example",), "http://app.example", False),
        (("https://app.example",), "https://app.example.evil.example", False),
        (("*",), "https://any.example", True),
    ],
)
async def test_origin_of_a_socket(
    services: PlainServices, aiohttp_client: AiohttpClient, listed: tuple[str, ...], origin: str | None, allowed: bool
) -> None:
    """A page may open a socket from the server's own origin or a listed one; programs send no origin."""
    client = await aiohttp_client(services.app(cors_origins=listed))
    if origin == "same":
        origin = str(client.make_url("/")).rstrip("/")
    headers = {"Origin": origin} if origin else {}
    if allowed:
        await Talk(await client.ws_connect("/graphql", protocols=(PROTOCOL,), headers=headers)).greet()
    else:
        with pytest.raises(WSServerHandshakeError) as refused:
            await client.ws_connect("/graphql", protocols=(PROTOCOL,), headers=headers)
        assert refused.value.status == 403


async def test_handshake_that_is_none(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A handshake without its key is refused like any malformed request."""
    client = await aiohttp_client(services.app())
    response = await client.get("/graphql", headers={"Upgrade": "websocket", "Connection": "Upgrade"})
    assert response.status == 400
    assert (await response.json())["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
