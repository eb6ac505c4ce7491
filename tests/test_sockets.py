"""Websockets: graphql-transport-ws as its protocol wants it, and a socket that ends with its session."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType, WSServerHandshakeError, web
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient
from strawberry.http.exceptions import WebSocketDisconnected

from resolvers.errors import RateLimited, ServiceUnavailable, Unauthenticated
from schema.channels import MESSAGES_WAITING, Channel
from schema.encoding import dumps
from schema.http import SOCKETS
from tests.small import ALICE, BOB, SECRET_TEXT, Event, PlainServices, logged

PROTOCOL = "graphql-transport-ws"
EVENTS = "subscription { events { number } }"
PATIENCE = 10  # s after which something that should happen never will

Client = TestClient[web.Request, web.Application]
Connect = Callable[..., Awaitable["Talk"]]


class Talk:
    """One websocket as a client holds it."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket

    async def say(self, **message: Any) -> None:
        await self.socket.send_str(json.dumps(message))

    async def hear(self) -> dict[str, Any]:
        message: dict[str, Any] = await self.socket.receive_json(timeout=PATIENCE)
        return message

    async def greet(self, payload: dict[str, Any] | None = None) -> Talk:
        await self.say(type="connection_init", payload=payload)
        assert await self.hear() == {"type": "connection_ack"}
        return self

    async def ask(self, query: str, id_: str = "1", **rest: Any) -> None:
        await self.say(id=id_, type="subscribe", payload={"query": query, **rest})

    async def answer(self, query: str, **rest: Any) -> dict[str, Any]:
        """Return the payload of the only message that answers a query."""
        await self.ask(query, **rest)
        message = await self.hear()
        if message["type"] == "next":
            assert await self.hear() == {"id": "1", "type": "complete"}
        assert message["id"] == "1"
        return {message["type"]: message["payload"]}

    async def close_code(self) -> int:
        """Return the code with which the server closes the socket; there must be nothing else to hear."""
        message = await self.socket.receive(timeout=PATIENCE)
        assert message.type in {WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.CLOSING}, message
        assert self.socket.close_code is not None
        return self.socket.close_code


@pytest.fixture
def services() -> PlainServices:
    return PlainServices()


@asynccontextmanager
async def within_patience() -> AsyncIterator[None]:
    async with asyncio.timeout(PATIENCE):
        yield


def token(text: str) -> dict[str, Any]:
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def connect(services: PlainServices, aiohttp_client: AiohttpClient) -> Connect:
    """Open a websocket; the first call may turn settings of the server."""
    clients: list[Client] = []

    async def opened(*, headers: dict[str, str] | None = None, **rest: Any) -> Talk:
        turned = {name: rest.pop(name) for name in list(rest) if hasattr(services.settings, name)}
        if not clients:
            clients.append(await aiohttp_client(services.app(**turned)))
        rest.setdefault("protocols", (PROTOCOL,))
        return Talk(await clients[0].ws_connect("/graphql", headers=headers, **rest))

    return opened


# ------------------------------------------------------------ operations


async def test_query_over_a_socket(connect: Connect) -> None:
    """A query is answered by one `next` and `complete`, as text frames in UTF-8."""
    talk = await (await connect()).greet()
    await talk.ask("query Q($t: String!) { echo(text: $t) }", variables={"t": "añ🏃"}, operationName="Q", extensions={})
    message = await talk.socket.receive(timeout=PATIENCE)
    assert message.type is WSMsgType.TEXT
    assert message.data == '{"id":"1","type":"next","payload":{"data":{"echo":"añ🏃"}}}'
    assert await talk.hear() == {"id": "1", "type": "complete"}


async def test_mutation_over_a_socket(connect: Connect) -> None:
    """A mutation runs on a socket as well."""
    talk = await (await connect()).greet()
    answer = await talk.answer('mutation { follow(input: {userIds: ["7"]}) { name } }')
    assert answer == {"next": {"data": {"follow": [{"name": "7"}]}}}


async def test_subscription(connect: Connect, services: PlainServices) -> None:
    """Each event is a `next`; the end of the source is `complete`."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    for number in (1, 2):
        await services.events.put(Event(number=number, text=""))
        payload = {"data": {"events": {"number": number}}}
        assert await talk.hear() == {"id": "1", "type": "next", "payload": payload}
    await services.events.put(None)
    assert await talk.hear() == {"id": "1", "type": "complete"}
    assert services.stopped.is_set()


async def test_events_are_not_counted_as_requests(connect: Connect, services: PlainServices) -> None:
    """A subscription counts once towards the rate limit, and its events know which fields are asked for."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    await services.events.put(Event(number=1, text=""))
    await talk.hear()
    operation, event = services.closed
    assert (operation.counted, event.counted) == (True, False)
    assert operation.fields == event.fields == frozenset({"events", "number"})


async def test_each_operation_and_each_event_has_a_context_of_its_own(
    connect: Connect, services: PlainServices
) -> None:
    """No two operations and no two events share loaders; each is checked, a subscription before it begins."""
    talk = await (await connect()).greet()
    await talk.ask("subscription { events { contextNumber } }")
    numbers = set()
    for number in range(3):
        await services.events.put(Event(number=number, text=""))
        numbers.add((await talk.hear())["payload"]["data"]["events"]["contextNumber"])
    assert len(numbers) == 3
    assert [services.contexts[number] for number in sorted(numbers)] == services.closed[1:]
    await talk.ask("{ square }", id_="2")
    assert (await talk.hear())["payload"] == {"data": {"square": 1}}
    assert len(set(map(id, services.closed))) == len(services.closed) == 1 + 3 + 1


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("", "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { events { number } flood(size: 1) }", "GRAPHQL_VALIDATION_FAILED"),
        ("query A { square } query B { square }", "BAD_USER_INPUT"),
        ("query($n: Int!) { square(number: $n) }", "BAD_USER_INPUT"),
        ("subscription($n: Int!) { flood(size: $n) }", "BAD_USER_INPUT"),
        ("{" + "square " * 3000 + "}", "QUERY_TOO_COMPLEX"),
    ],
)
async def test_wrong_query_is_an_error_of_its_operation(connect: Connect, query: str, code: str) -> None:
    """A query that cannot be executed is answered by `error` under its id; the socket goes on."""
    talk = await (await connect()).greet()
    (error, *_) = (await talk.answer(query))["error"]
    assert error["extensions"]["code"] == code
    assert await talk.answer("{ square }") == {"next": {"data": {"square": 1}}}


async def test_unknown_operation_name(connect: Connect) -> None:
    """An operation name that the document does not have is an error of its operation."""
    talk = await (await connect()).greet()
    (error,) = (await talk.answer("query A { square }", operationName="B"))["error"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"


async def test_faults_are_masked_on_a_socket(connect: Connect) -> None:
    """An unexpected exception in a field shows its place and nothing else."""
    talk = await (await connect(headers={"X-Request-Id": "look-here"})).greet()
    with logged() as lines:
        payload = (await talk.answer("{ broken }"))["next"]
    (error,) = payload["errors"]
    assert payload["data"] == {"broken": None}
    assert error["message"] == "Internal error"
    assert error["extensions"] == {"code": "INTERNAL", "requestId": "look-here"}
    assert len([line for line in lines if line["log_level"] == "error"]) == 1


async def test_fault_of_an_event(connect: Connect, services: PlainServices) -> None:
    """A field that fails for one event is masked, and the subscription goes on."""
    talk = await (await connect()).greet()
    await talk.ask("subscription { events { number broken } }")
    for number in (1, 2):
        await services.events.put(Event(number=number, text=""))
        payload = (await talk.hear())["payload"]
        assert payload["data"] == {"events": {"number": number, "broken": None}}
        assert payload["errors"][0]["message"] == "Internal error"


async def test_fault_of_a_source(connect: Connect, services: PlainServices) -> None:
    """A subscription whose source fails ends with a masked `error`."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    with logged() as lines:
        await services.events.put(RuntimeError(SECRET_TEXT))
        message = await talk.hear()
    assert (message["type"], message["payload"][0]["message"]) == ("error", "Internal error")
    assert SECRET_TEXT not in json.dumps(message)
    assert len([line for line in lines if line["log_level"] == "error"]) == 1
    assert await talk.answer("{ square }") == {"next": {"data": {"square": 1}}}


@pytest.mark.parametrize("error", [ServiceUnavailable("away"), RateLimited("too many", 9), Unauthenticated("ended")])
async def test_fatal_error_of_a_query(connect: Connect, services: PlainServices, error: Any) -> None:
    """When the whole operation fails, it is answered by `error` and no data."""
    talk = await (await connect()).greet()
    services.fatal = error
    expected = {"message": error.message, "extensions": {"code": error.code}}
    assert await talk.answer("{ square }") == {"error": [expected]}


async def test_fatal_error_of_a_subscription(connect: Connect, services: PlainServices) -> None:
    """A subscription whose session has ended does not begin."""
    talk = await (await connect()).greet()
    services.fatal = Unauthenticated("ended")
    assert (await talk.answer(EVENTS))["error"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    assert not services.started.is_set()


async def test_fatal_error_of_an_event(connect: Connect, services: PlainServices) -> None:
    """An event that cannot be answered ends its subscription: its client starts again from its last cursor."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
    services.fatal = ServiceUnavailable("away")
    await services.events.put(Event(number=1, text=""))
    message = await talk.hear()
    assert (message["type"], message["payload"][0]["extensions"]["code"]) == ("error", "SERVICE_UNAVAILABLE")
    async with within_patience():
        await services.stopped.wait()


async def test_client_completes_a_subscription(connect: Connect, services: PlainServices) -> None:
    """`complete` ends the source, and the id can be used again at once."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
    await talk.say(id="1", type="complete")
    assert await talk.answer("{ square }") == {"next": {"data": {"square": 1}}}
    assert services.stopped.is_set()


async def test_complete_of_nothing(connect: Connect) -> None:
    """`complete` may cross the server's own: an unknown id is no fault."""
    talk = await (await connect()).greet()
    await talk.say(id="7", type="complete")
    assert await talk.answer("{ square }") == {"next": {"data": {"square": 1}}}


async def test_too_many_operations(connect: Connect, services: PlainServices) -> None:
    """One operation more than allowed gets an error under its id; when one has ended there is room again."""
    talk = await (await connect(subscriptions_per_socket=1)).greet()
    await talk.ask(EVENTS)
    await talk.ask("{ square }", id_="2")
    message = await talk.hear()
    assert (message["id"], message["type"]) == ("2", "error")
    assert message["payload"][0]["extensions"]["code"] == "RATE_LIMITED"
    await services.events.put(None)
    assert await talk.hear() == {"id": "1", "type": "complete"}
    assert await talk.answer("{ square }") == {"next": {"data": {"square": 1}}}


@pytest.mark.parametrize("payload", [None, {}, {"any": "thing"}])
async def test_ping_and_pong(connect: Connect, payload: Any) -> None:
    """A ping is answered by a pong, before the handshake too; a pong is answered by nothing."""
    talk = await connect()
    await talk.say(type="ping", payload=payload)
    assert await talk.hear() == {"type": "pong"}
    await talk.say(type="pong", payload=payload)
    await talk.greet()


# ------------------------------------------------------------ close codes


@pytest.mark.parametrize(
    "message",
    [
        "",
        "{",
        "null",
        '"x"',
        "[]",
        "7",
        "{}",
        '{"type": null}',
        '{"type": 7}',
        '{"type": ["ping"]}',
        '{"type": "unknown"}',
        '{"type": "connection_ack"}',
        '{"type": "start", "id": "1", "payload": {"query": "{ square }"}}',
        '{"type": "next", "id": "1", "payload": {}}',
        '{"type": "connection_init", "payload": "x"}',
        '{"type": "connection_init", "payload": []}',
        '{"type": "ping", "payload": 7}',
        '{"type": "pong", "payload": "x"}',
        '{"type": "complete"}',
        '{"type": "complete", "id": 7}',
        '{"type": "subscribe"}',
        '{"type": "subscribe", "id": "1"}',
        '{"type": "subscribe", "payload": {"query": "{ square }"}}',
        '{"type": "subscribe", "id": 1, "payload": {"query": "{ square }"}}',
        '{"type": "subscribe", "id": null, "payload": {"query": "{ square }"}}',
        '{"type": "subscribe", "id": "", "payload": {"query": "{ square }"}}',
        '{"type": "subscribe", "id": ["1"], "payload": {"query": "{ square }"}}',
        '{"type": "subscribe", "id": "1", "payload": null}',
        '{"type": "subscribe", "id": "1", "payload": "{ square }"}',
        '{"type": "subscribe", "id": "1", "payload": []}',
        '{"type": "subscribe", "id": "1", "payload": {}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": null}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": 7}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ square }", "variables": "x"}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ square }", "variables": []}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ square }", "operationName": 7}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ square }", "extensions": []}}',
        '{"type": "ping", "payload": {"n": NaN}}',
        '{"type": "ping", "payload": {"text": "\\ud83c"}}',
        "[" * 5000,
    ],
)
@pytest.mark.parametrize("greeted", [False, True])
async def test_malformed_messages_close_with_4400(connect: Connect, message: str, greeted: bool) -> None:
    """What is no message of the protocol closes the socket, before and after the handshake."""
    talk = await connect()
    if greeted:
        await talk.greet()
    await talk.socket.send_str(message)
    assert await talk.close_code() == 4400


async def test_binary_message_closes_with_4400(connect: Connect) -> None:
    """Messages are text."""
    talk = await connect()
    await talk.socket.send_bytes(b'{"type": "ping"}')
    assert await talk.close_code() == 4400


async def test_subscribe_before_the_handshake_closes_with_4401(connect: Connect) -> None:
    """Nothing is executed before the acknowledgement."""
    talk = await connect()
    await talk.ask("{ square }")
    assert await talk.close_code() == 4401


@pytest.mark.parametrize(
    "payload",
    [
        token("mallory"),
        token("bob-ended"),
        {"Authorization": "Basic YWxpY2U6eA=="},
        {"Authorization": "Bearer"},
        {"Authorization": ""},
        {"Authorization": "alice-phone"},
        {"Authorization": 7},
        {"Authorization": ["Bearer alice-phone"]},
        {"authorization": "Bearer mallory"},
    ],
)
async def test_refused_token_closes_with_4403(connect: Connect, services: PlainServices, payload: Any) -> None:
    """A token that is forged, of another scheme or of an ended session is refused, never taken for anonymous."""
    services.ended_sessions.add((BOB, "ended"))
    talk = await connect()
    await talk.say(type="connection_init", payload=payload)
    assert await talk.close_code() == 4403


@pytest.mark.parametrize("protocols", [(), ("graphql-ws",), ("chat",)])
async def test_other_subprotocols_close_with_4406(connect: Connect, protocols: tuple[str, ...]) -> None:
    """Only graphql-transport-ws is spoken, not its predecessor."""
    talk = await connect(protocols=protocols)
    assert await talk.close_code() == 4406


async def test_silence_closes_with_4408(connect: Connect) -> None:
    """Who never introduces itself is closed."""
    talk = await connect(socket_init_seconds=0)
    assert await talk.close_code() == 4408


async def test_id_in_use_closes_with_4409(connect: Connect, services: PlainServices) -> None:
    """An id belongs to one operation at a time."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    await talk.ask("{ square }")
    assert await talk.close_code() == 4409
    async with within_patience():
        await services.stopped.wait()


async def test_second_handshake_closes_with_4429(connect: Connect) -> None:
    """A socket is opened once."""
    talk = await (await connect()).greet()
    await talk.say(type="connection_init")
    assert await talk.close_code() == 4429


async def test_large_message_closes_with_1009(connect: Connect) -> None:
    """A message larger than a body may be is not read."""
    talk = await (await connect(max_body=2048)).greet()
    await talk.say(type="ping", payload={"x": "x" * 3000})
    assert await talk.close_code() == 1009


async def test_store_away_at_the_handshake_closes_with_1013(connect: Connect, services: PlainServices) -> None:
    """While the session cannot be checked, the client is asked to come again."""
    services.is_away = True
    talk = await connect()
    await talk.say(type="connection_init", payload=token("alice-phone"))
    assert await talk.close_code() == 1013


async def test_fault_while_a_message_is_handled_closes_with_1011(
    connect: Connect, services: PlainServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault outside every operation closes the socket, tells nothing, and is logged once."""

    def broken(_: str) -> None:
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(services.tokens, "read", broken)
    talk = await connect()
    with logged() as lines:
        await talk.say(type="connection_init", payload=token("alice-phone"))
        assert await talk.close_code() == 1011
    assert len([line for line in lines if line["log_level"] == "error"]) == 1


# ------------------------------------------------------------ whose it is, and for how long


@pytest.mark.parametrize("key", ["Authorization", "authorization", "AUTHORIZATION"])
async def test_token_in_the_payload(connect: Connect, key: str) -> None:
    """The token comes as a key of the first message, whatever its case."""
    talk = await (await connect()).greet({key: "Bearer alice-phone"})
    assert await talk.answer("{ viewer }") == {"next": {"data": {"viewer": ALICE}}}


async def test_token_in_the_handshake(connect: Connect) -> None:
    """A client that can send headers may send the token there; the payload counts more."""
    talk = await (await connect(headers=token("alice-phone"))).greet()
    assert await talk.answer("{ viewer }") == {"next": {"data": {"viewer": ALICE}}}
    talk = await (await connect(headers=token("alice-phone"))).greet(token("bob-phone"))
    assert await talk.answer("{ viewer }") == {"next": {"data": {"viewer": BOB}}}


@pytest.mark.parametrize("payload", [None, {}, {"Authorization": None}])
async def test_anonymous_socket(connect: Connect, payload: Any) -> None:
    """Without a token the socket is nobody's."""
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
    """A session that ends while it is being looked up closes the socket all the same."""

    async def ends_meanwhile(_: object) -> bool:
        services.end_session(ALICE, "phone")
        return True

    monkeypatch.setattr(services, "session_stands", ends_meanwhile)
    talk = await connect()
    await talk.say(type="connection_init", payload=token("alice-phone"))
    message = await talk.socket.receive(timeout=PATIENCE)
    if message.type is WSMsgType.TEXT:  # the acknowledgement may have been on its way
        message = await talk.socket.receive(timeout=PATIENCE)
    assert talk.socket.close_code == 4403


async def test_lost_message_of_an_ended_session(connect: Connect, services: PlainServices) -> None:
    """Should nobody tell that a session has ended, the next heartbeat finds out."""
    talk = await (await connect(heartbeat_seconds=1)).greet(token("alice-phone"))
    services.ended_sessions.add((ALICE, "phone"))
    assert await talk.close_code() == 4403


async def test_store_away_at_a_heartbeat(connect: Connect, services: PlainServices) -> None:
    """A socket survives that its session cannot be looked up for a while."""
    talk = await (await connect(heartbeat_seconds=1)).greet(token("alice-phone"))
    services.is_away = True
    services.checked.clear()
    async with within_patience():
        await services.checked.wait()
    assert "next" in await talk.answer("{ viewer }")


async def test_sockets_per_member(connect: Connect) -> None:
    """One socket more than a member may have is refused; another member's, and one after closing, is not."""
    first = await (await connect(sockets_per_member=2)).greet(token("alice-phone"))
    await (await connect()).greet(token("alice-laptop"))
    third = await connect()
    await third.say(type="connection_init", payload=token("alice-phone"))
    assert await third.close_code() == 4429
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
    assert await second.close_code() == 4429
    await (await connect(headers=there)).greet()


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


# ------------------------------------------------------------ how it ends


async def test_client_closes(connect: Connect, services: PlainServices) -> None:
    """When the client closes, its subscriptions let go of what they hold, and no fault is logged."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
        with logged() as lines:
            await talk.socket.close()
            await services.stopped.wait()
    assert not [line for line in lines if line["log_level"] in {"error", "warning"}]


async def test_client_vanishes(connect: Connect, services: PlainServices) -> None:
    """When the connection breaks, the same happens."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
        with logged() as lines:
            talk.socket.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
            await services.stopped.wait()
    assert not [line for line in lines if line["log_level"] in {"error", "warning"}]


async def test_clean_up_is_not_broken_off(connect: Connect, services: PlainServices) -> None:
    """A subscription that is ending when its client leaves lets go of everything in peace."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
    services.may_stop.clear()
    await talk.say(id="1", type="complete")
    await talk.answer("{ square }")
    await talk.socket.close()
    services.may_stop.set()
    async with within_patience():
        await services.stopped.wait()


async def test_client_without_a_heartbeat(connect: Connect, services: PlainServices) -> None:
    """A client that answers no ping is given up."""
    talk = await (await connect(heartbeat_seconds=1, autoping=False)).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.stopped.wait()


async def test_client_that_does_not_read(connect: Connect, services: PlainServices) -> None:
    """What a client does not read is not produced without end; in the end it is given up."""
    talk = await (await connect(heartbeat_seconds=1)).greet()
    for number in range(20):
        await talk.ask("subscription { flood(size: 100000) }", id_=str(number))
    async with within_patience():
        await services.stopped.wait()
    assert 20 <= services.advanced < 1000  # 100 MB; the buffers of the kernel take some tens


async def test_shutdown_closes_with_1001(connect: Connect, services: PlainServices) -> None:
    """When the process stops, open sockets are told that it goes away, and their subscriptions end."""
    talks = [await (await connect()).greet() for _ in range(3)]
    await talks[0].ask(EVENTS)
    async with within_patience():
        await services.started.wait()
    codes = asyncio.gather(*(talk.close_code() for talk in talks))
    assert services.served is not None
    await services.served.shutdown()
    assert await codes == [1001, 1001, 1001]
    async with within_patience():
        await services.stopped.wait()
    assert len(services.served[SOCKETS]) == 0


async def test_no_task_outlives_its_socket(connect: Connect, services: PlainServices) -> None:
    """However clients leave, and in the middle of whatever, nothing of their sockets goes on."""
    before = asyncio.all_tasks()
    leaving: list[Callable[[Talk], Any]] = [
        lambda talk: talk.socket.close(),
        lambda talk: talk.socket.send_str("["),
        lambda talk: talk.socket.get_extra_info("socket").shutdown(socket.SHUT_RDWR),
        lambda talk: talk.say(id="1", type="complete"),
    ]
    for leave in leaving:
        talk = await (await connect()).greet()
        await talk.ask(EVENTS, id_="0")
        await talk.ask("subscription { flood(size: 20000) }")
        await talk.hear()
        left = leave(talk)
        if left is not None:
            await left
    assert services.served is not None
    await services.served.shutdown()
    left_over = {task.get_coro().__qualname__ for task in asyncio.all_tasks() - before}  # type: ignore[union-attr]
    assert not {name for name in left_over if name.startswith(("Channel", "SocketHandler", "OperationsHandler"))}


async def test_socket_while_the_process_stops(connect: Connect, services: PlainServices) -> None:
    """A socket that comes during the shutdown is asked to come again elsewhere."""
    await (await connect()).greet()
    assert services.served is not None
    await services.served.shutdown()
    with pytest.raises(WSServerHandshakeError) as refused:
        await connect()
    assert refused.value.status == 503


class Slow:
    """A websocket and its view, of which the client reads only when it is told to."""

    def __init__(self) -> None:
        self.closed = False
        self.reads = asyncio.Semaphore(0)
        self.sent: list[str] = []

    async def send_str(self, text: str) -> None:
        await self.reads.acquire()
        if text == "{}":
            raise asyncio.CancelledError
        self.sent.append(text)

    def encode_json(self, message: object) -> str:
        return dumps(message)


@pytest.fixture
async def slow() -> AsyncIterator[tuple[Slow, Channel]]:
    slow = Slow()
    channel: Any = Channel(slow, None, slow)  # type: ignore[arg-type]
    yield slow, channel
    await channel.stop()


async def turns_of_the_loop() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_sender_waits_for_a_slow_client(slow: tuple[Slow, Channel]) -> None:
    """A few messages wait for a client that does not read; whoever sends more waits with them, in order."""
    socket_, channel = slow
    messages = [{"n": number} for number in range(MESSAGES_WAITING + 10)]
    sending = [asyncio.create_task(channel.send_json(message)) for message in messages]
    await turns_of_the_loop()
    assert sum(task.done() for task in sending) == MESSAGES_WAITING + 1  # one of them is with the writer
    for _ in messages:
        socket_.reads.release()
    await asyncio.gather(*sending)
    await turns_of_the_loop()
    assert socket_.sent == [dumps(message) for message in messages]


async def test_sender_that_is_cancelled_disturbs_nobody(slow: tuple[Slow, Channel]) -> None:
    """An operation cancelled while it waits to send takes its message along, and no other."""
    socket_, channel = slow
    sending = [asyncio.create_task(channel.send_json({"n": number})) for number in range(MESSAGES_WAITING + 3)]
    await turns_of_the_loop()
    sending[-2].cancel()
    for _ in sending:
        socket_.reads.release()
    results = await asyncio.gather(*sending, return_exceptions=True)
    assert [type(result) for result in results].count(asyncio.CancelledError) == 1
    await turns_of_the_loop()
    assert len(socket_.sent) == len(sending) - 1


async def test_writing_outlives_a_cancelled_neighbour(slow: tuple[Slow, Channel]) -> None:
    """All who wait for aiohttp to make room are cancelled when one of them is: the writer goes on."""
    socket_, channel = slow
    await channel.send_json({})
    await channel.send_json({"n": 1})
    socket_.reads.release()
    socket_.reads.release()
    await turns_of_the_loop()
    assert socket_.sent == ['{"n":1}']


async def test_nothing_is_sent_to_a_closed_socket(slow: tuple[Slow, Channel]) -> None:
    """Who sends to a closed socket is told so."""
    socket_, channel = slow
    socket_.closed = True
    with pytest.raises(WebSocketDisconnected):
        await channel.send_json({"n": 1})
