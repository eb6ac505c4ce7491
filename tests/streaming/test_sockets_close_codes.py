"""Websockets: the close codes of the server, and the reasons for each."""

from typing import Any

import pytest

from tests.support.transport import clients
from tests.support.transport.clients import EVENTS, Connect, token, within_patience
from tests.support.transport.small import BOB, SECRET_TEXT, PlainServices, logged

connect = clients.connect
services = clients.services


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
    """A message outside the protocol closes the socket, before and after the handshake."""
    talk = await connect()
    if greeted:
        await talk.greet()
    await talk.socket.send_str(message)
    assert await talk.close_code() == 4400


async def test_binary_message_closes_with_4400(connect: Connect) -> None:
    """Messages must be text."""
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
    """Only graphql-transport-ws is supported, not its predecessor."""
    talk = await connect(protocols=protocols)
    assert await talk.close_code() == 4406


async def test_silence_closes_with_4408(connect: Connect) -> None:
    """A client that never sends `connection_init` is closed."""
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
    """A socket is initialised once."""
    talk = await (await connect()).greet()
    await talk.say(type="connection_init")
    assert await talk.close_code() == 4429


async def test_large_message_closes_with_1009(connect: Connect) -> None:
    """A message larger than a body's limit is not read."""
    talk = await (await connect(max_body=2048)).greet()
    await talk.say(type="ping", payload={"x": "x" * 3000})
    assert await talk.close_code() == 1009


async def test_store_away_at_the_handshake_closes_with_1013(connect: Connect, services: PlainServices) -> None:
    """While the session cannot be checked, the client is asked to try again."""
    services.is_away = True
    talk = await connect()
    await talk.say(type="connection_init", payload=token("alice-phone"))
    assert await talk.close_code() == 1013


async def test_fault_while_a_message_is_handled_closes_with_1011(
    connect: Connect, services: PlainServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault outside every operation closes the socket, reveals nothing, and is logged once."""

    def broken(_: str) -> None:
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(services.tokens, "read", broken)
    talk = await connect()
    with logged() as lines:
        await talk.say(type="connection_init", payload=token("alice-phone"))
        assert await talk.close_code() == 1011
    assert len([line for line in lines if line["log_level"] == "error"]) == 1
