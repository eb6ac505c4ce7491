"""Subscribing needs a session, and the number of subscriptions is limited, over every transport."""

import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import jwt
import pytest
from aiohttp import WSMsgType

from resolvers.process.services import Services
from store.settings import Settings
from tests.support.people import SECRET, Member, shrunk
from tests.support.probes.sessions import log_in
from tests.support.transport.clients import PROTOCOL
from tests.support.transport.live import ACTIVITY, HOME, MESSAGES, NOTIFICATIONS, subscribed, until
from tests.support.transport.site_live import SAMPLE, STREAM
from tests.support.transport.transports import (
    GET,
    POST,
    SOCKET,
    TRANSPORTS,
    FeedLine,
    connections,
    line,
    listening,
    places,
)

SUBSCRIPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "stream": (STREAM, {"filter": {"track": ["tea"]}}),
    "sample": (SAMPLE, {"percent": 100}),
    "home": (HOME, {}),
    "notifications": (NOTIFICATIONS, {}),
    "messages": (MESSAGES, {}),
    "activity": (ACTIVITY, {"post": "status_00000000000001"}),
}
OPEN_MOST, SUBSCRIBED_MOST = 3, 50


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a few connections of a member."""
    return shrunk(settings, sockets_per_member=OPEN_MOST)


async def _expired(member: Member) -> str:
    assert member.token
    claims = jwt.decode(member.token, SECRET, algorithms=["HS256"])
    return jwt.encode({**claims, "exp": int(time.time()) - 1}, SECRET, algorithm="HS256")


async def _forged(member: Member) -> str:
    assert member.token
    claims = jwt.decode(member.token, SECRET, algorithms=["HS256"])
    return jwt.encode(claims, "another secret, which is as long as the right one", algorithm="HS256")


async def _revoked(member: Member) -> str:
    device = await log_in(replace(member, token=None), member.login)
    await device.do("logOut")
    assert device.token
    return device.token


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("query", "asked"), SUBSCRIPTIONS.values(), ids=SUBSCRIPTIONS)
async def test_nobody(services: Services, anonymous: Member, transport: str, query: str, asked: dict[str, Any]) -> None:
    """Without a token no subscription is accepted, whether or not an argument is wrong as well."""
    for more in ({}, {"percent": 0}, {"filter": {}, "after": "x"}):
        async with line(transport, anonymous, query, **asked | (more if more.keys() & asked.keys() else {})) as one:
            assert (await one.refusal())[0] == "UNAUTHENTICATED"
    await until(lambda: not connections(anonymous))
    assert places(services) == 0


@pytest.mark.parametrize("make", [_expired, _forged, _revoked])
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_tokens_that_are_refused(
    services: Services, alice: Member, transport: str, make: Callable[[Member], Awaitable[str]]
) -> None:
    """An expired, forged or revoked token closes a websocket with 4403 and gives an event stream status 401."""
    stranger = replace(alice, token=await make(alice))
    if transport == SOCKET:
        async with alice.client.ws_connect("/graphql", protocols=(PROTOCOL,)) as socket:
            payload = {"Authorization": f"Bearer {stranger.token}"}
            await socket.send_json({"type": "connection_init", "payload": payload})
            message = await socket.receive(timeout=10)
            assert (message.type, message.data) == (WSMsgType.CLOSE, 4403)
    else:
        async with line(transport, stranger, STREAM) as one:
            assert isinstance(one, FeedLine)
            assert one.feed.response.status == 401
            assert one.feed.response.headers["WWW-Authenticate"].startswith("Bearer")
            assert (await one.refusal())[0] == "UNAUTHENTICATED"
    await until(lambda: not connections(alice))
    assert places(services) == 0


async def test_the_fifty_first(services: Services, alice: Member) -> None:
    """One subscription too many on a socket is refused under its id; the others continue, and ending one makes room."""
    async with subscribed(alice, STREAM) as stream:

        async def ask(name: str) -> None:
            payload = {"query": STREAM, "variables": {}}
            await stream.socket.send_json({"id": name, "type": "subscribe", "payload": payload})

        for number in range(2, SUBSCRIBED_MOST + 2):
            await ask(str(number))
        refused = await stream.receive()
        assert (refused["id"], refused["type"]) == (str(SUBSCRIBED_MOST + 1), "error")
        assert refused["payload"][0]["extensions"]["code"] == "RATE_LIMITED"
        assert str(SUBSCRIBED_MOST) in refused["payload"][0]["message"]
        await until(lambda: len(services.listeners) == SUBSCRIBED_MOST)
        await alice.post("to all of them")
        assert len({(await stream.receive())["id"] for _ in range(SUBSCRIBED_MOST)}) == SUBSCRIBED_MOST
        await stream.complete()
        await until(lambda: len(services.listeners) == SUBSCRIBED_MOST - 1)
        await ask("again")
        await until(lambda: len(services.listeners) == SUBSCRIBED_MOST)
    await until(lambda: not places(services) and not connections(alice))


async def test_as_many_as_a_member_may_have(services: Services, alice: Member, bob: Member) -> None:
    """A member's websockets and event streams count together; one too many is refused, and ending one makes room."""
    async with AsyncExitStack() as stack:
        held = [
            await stack.enter_async_context(listening(services, transport, alice, STREAM))
            for transport in (SOCKET, POST, GET)
        ]
        for transport in (POST, GET):
            async with line(transport, alice, STREAM) as refused:
                assert isinstance(refused, FeedLine)
                response = refused.feed.response
                assert (response.status, response.headers["Retry-After"]) == (429, "1")
                assert (await refused.refusal())[0] == "RATE_LIMITED"
        async with alice.client.ws_connect("/graphql", protocols=(PROTOCOL,)) as socket:
            payload = {"Authorization": f"Bearer {alice.token}"}
            await socket.send_json({"type": "connection_init", "payload": payload})
            message = await socket.receive(timeout=10)
            assert (message.type, message.data) == (WSMsgType.CLOSE, 1013)
        await until(lambda: connections(alice) == OPEN_MOST)
        assert places(services) == OPEN_MOST
        async with listening(services, POST, bob, STREAM) as other:
            post = await bob.post("to everybody")
            for one in (*held, other):
                assert (await one.next())["post"]["id"] == post
        await until(lambda: places(services) == OPEN_MOST)
        held[1].cut()
        await until(lambda: places(services) == OPEN_MOST - 1)
        async with listening(services, GET, alice, STREAM) as again:
            post = await alice.post("to those who are left")
            assert (await again.next())["post"]["id"] == post
    await until(lambda: not places(services) and not connections(alice))
