"""Websockets: the operations of graphql-transport-ws."""

import json
from typing import Any

import pytest
from aiohttp import WSMsgType

from resolvers.process.errors import RateLimited, ServiceUnavailable, Unauthenticated
from tests.support.transport import clients
from tests.support.transport.clients import EVENTS, PATIENCE, Connect, within_patience
from tests.support.transport.small import SECRET_TEXT, Event, PlainServices, logged

connect = clients.connect
services = clients.services


async def test_query_over_a_socket(connect: Connect) -> None:
    """A query is answered by one `next` and `complete`, as text frames in UTF-8."""
    talk = await (await connect()).greet()
    await talk.ask("query Q($t: String!) { echo(text: $t) }", variables={"t": "añ🏃"}, operationName="Q", extensions={})
    message = await talk.socket.receive(timeout=PATIENCE)
    assert message.type is WSMsgType.TEXT
    assert message.data == '{"id":"1","type":"next","payload":{"data":{"echo":"añ🏃"}}}'
    assert await talk.receive() == {"id": "1", "type": "complete"}


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
        assert await talk.receive() == {"id": "1", "type": "next", "payload": payload}
    await services.events.put(None)
    assert await talk.receive() == {"id": "1", "type": "complete"}
    assert services.stopped.is_set()


async def test_events_are_not_counted_as_requests(connect: Connect, services: PlainServices) -> None:
    """A subscription counts once towards the rate limit, and its events know the requested fields."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    await services.events.put(Event(number=1, text=""))
    await talk.receive()
    operation, event = services.closed
    assert (operation.counted, event.counted) == (True, False)
    assert operation.fields == event.fields == frozenset({"events", "number"})


async def test_each_operation_and_each_event_has_a_context_of_its_own(
    connect: Connect, services: PlainServices
) -> None:
    """Operations and events share no data loaders; each is checked, a subscription before it begins."""
    talk = await (await connect()).greet()
    await talk.ask("subscription { events { contextNumber } }")
    numbers = set()
    for number in range(3):
        await services.events.put(Event(number=number, text=""))
        numbers.add((await talk.receive())["payload"]["data"]["events"]["contextNumber"])
    assert len(numbers) == 3
    assert [services.contexts[number] for number in sorted(numbers)] == services.closed[1:]
    await talk.ask("{ square }", id_="2")
    assert (await talk.receive())["payload"] == {"data": {"square": 1}}
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
        payload = (await talk.receive())["payload"]
        assert payload["data"] == {"events": {"number": number, "broken": None}}
        assert payload["errors"][0]["message"] == "Internal error"


async def test_fault_of_a_source(connect: Connect, services: PlainServices) -> None:
    """A subscription whose source fails ends with a masked `error`."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    with logged() as lines:
        await services.events.put(RuntimeError(SECRET_TEXT))
        message = await talk.receive()
    assert (message["type"], message["payload"][0]["message"]) == ("error", "Internal error")
    assert SECRET_TEXT not in json.dumps(message)
    assert len([line for line in lines if line["log_level"] == "error"]) == 1
    assert await talk.answer("{ square }") == {"next": {"data": {"square": 1}}}


@pytest.mark.parametrize("error", [ServiceUnavailable("away"), RateLimited("too many", 9), Unauthenticated("ended")])
async def test_fatal_error_of_a_query(connect: Connect, services: PlainServices, error: Any) -> None:
    """If the whole operation fails, it is answered by `error` and no data."""
    talk = await (await connect()).greet()
    services.fatal = error
    expected = {"message": error.message, "extensions": error.extensions}
    assert expected["extensions"]["code"] == error.code
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
    message = await talk.receive()
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
    """One operation above the limit gets an error under its id; when one has ended there is room again."""
    talk = await (await connect(subscriptions_per_socket=1)).greet()
    await talk.ask(EVENTS)
    await talk.ask("{ square }", id_="2")
    message = await talk.receive()
    assert (message["id"], message["type"]) == ("2", "error")
    assert message["payload"][0]["extensions"]["code"] == "RATE_LIMITED"
    await services.events.put(None)
    assert await talk.receive() == {"id": "1", "type": "complete"}
    assert await talk.answer("{ square }") == {"next": {"data": {"square": 1}}}


@pytest.mark.parametrize("payload", [None, {}, {"any": "thing"}])
async def test_ping_and_pong(connect: Connect, payload: Any) -> None:
    """A ping is answered by a pong, even before the handshake; a pong gets no answer."""
    talk = await connect()
    await talk.say(type="ping", payload=payload)
    assert await talk.receive() == {"type": "pong"}
    await talk.say(type="pong", payload=payload)
    await talk.greet()
