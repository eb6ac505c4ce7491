"""Event streams: the operations of graphql-sse, a connection for each."""

import json
from typing import Any

import pytest
from pytest_aiohttp import AiohttpClient

from resolvers.process.errors import RateLimited, RequestError, ServiceUnavailable, Unauthenticated
from tests.support.transport import clients
from tests.support.transport.clients import (
    EVENT_STREAM,
    EVENTS,
    GRAPHQL,
    JSON,
    Client,
    first_code,
    post,
    within_patience,
)
from tests.support.transport.feeds import COMMENT, Feed, ask, subscribe, wanting
from tests.support.transport.small import ALICE, SECRET_TEXT, Event, PlainServices, logged

client = clients.client
services = clients.services


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_subscription(client: Client, services: PlainServices, method: str) -> None:
    """Each event is a `next`; the end of the source is `complete`, and the connection can be used again."""
    asked: dict[str, Any] = {"params" if method == "GET" else "json": {"query": EVENTS}}
    response = await client.request(method, "/graphql", headers=wanting(), **asked)
    feed = await Feed(response).opened()
    for number in (1, 2):
        await services.events.put(Event(number=number, text=""))
        assert await feed.receive() == {"data": {"events": {"number": number}}}
    await services.events.put(None)
    await feed.completed()
    assert services.stopped.is_set()
    assert await post(client, "{ square }") == (200, {"data": {"square": 1}})


async def test_headers_of_a_stream(client: Client) -> None:
    """No proxy may cache, compress or buffer a stream."""
    feed = await subscribe(client)
    headers = feed.response.headers
    assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert headers["Cache-Control"] == "no-store, no-transform"
    assert headers["X-Accel-Buffering"] == "no"
    assert headers["X-Request-Id"]
    feed.response.close()


async def test_heartbeat(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """Comments keep a stream without events open."""
    feed = await subscribe(await aiohttp_client(services.app(heartbeat_seconds=1)))
    assert [await feed.block(), await feed.block()] == [COMMENT, COMMENT]
    feed.response.close()


async def test_query_as_a_stream(client: Client) -> None:
    """A query is answered by one `next` and `complete`, in UTF-8."""
    asked: dict[str, Any] = {"variables": {"t": "añ\n🏃"}, "operationName": "Q", "extensions": {}}
    feed = await ask(client, "query Q($t: String!) { echo(text: $t) }", **asked)
    text = await feed.response.text()
    assert text == 'event: next\ndata: {"data":{"echo":"añ\\n🏃"}}\n\nevent: complete\ndata:\n\n'


async def test_mutation_as_a_stream(client: Client) -> None:
    """A mutation is answered the same way."""
    feed = await ask(client, 'mutation { follow(input: {userIds: ["7"]}) { name } }')
    assert await feed.receive() == {"data": {"follow": [{"name": "7"}]}}
    await feed.completed()


async def test_mutation_by_get(client: Client) -> None:
    """GET changes nothing, as a stream no more than otherwise."""
    query = 'mutation { follow(input: {userIds: ["7"]}) { name } }'
    response = await client.get("/graphql", params={"query": query}, headers=wanting())
    assert response.status == 200
    assert await Feed(response).refused() == "BAD_USER_INPUT"


async def test_token_of_a_stream(client: Client) -> None:
    """The token is sent in the header, as with any request."""
    assert await (await ask(client, "{ viewer }", "alice-phone")).receive() == {"data": {"viewer": ALICE}}


# ------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { events { number } flood(size: 1) }", "GRAPHQL_VALIDATION_FAILED"),
        ("query A { square } query B { square }", "BAD_USER_INPUT"),
        ("query($n: Int!) { square(number: $n) }", "BAD_USER_INPUT"),
        ("subscription($n: Int!) { flood(size: $n) }", "BAD_USER_INPUT"),
        ("{" + "square " * 3000 + "}", "QUERY_TOO_COMPLEX"),
    ],
)
async def test_wrong_operation(services: PlainServices, aiohttp_client: AiohttpClient, query: str, code: str) -> None:
    """An error of an operation is sent in a stream of status 200, as the protocol requires."""
    feed = await ask(await aiohttp_client(services.app()), query)
    assert (feed.response.status, feed.response.content_type) == (200, EVENT_STREAM)
    assert await feed.refused() == code


@pytest.mark.parametrize("query", ["{ square }", EVENTS])
@pytest.mark.parametrize(
    ("error", "status", "header"),
    [
        (Unauthenticated("ended"), 401, "WWW-Authenticate"),
        (RateLimited("too many", 9), 429, "Retry-After"),
        (ServiceUnavailable("away"), 503, "Retry-After"),
    ],
)
async def test_refused_before_it_begins(
    client: Client, services: PlainServices, query: str, error: RequestError, status: int, header: str
) -> None:
    """A client that may not ask, or not now, gets the fitting status, and the error in the stream's form."""
    services.fatal = error
    feed = await ask(client, query, "alice-phone")
    assert (feed.response.status, feed.response.content_type) == (status, EVENT_STREAM)
    assert header in feed.response.headers
    assert await feed.refused() == error.code
    assert not services.started.is_set()


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        ({"json": {}}, 400, "BAD_USER_INPUT"),
        ({"json": {"query": EVENTS, "variables": []}}, 400, "BAD_USER_INPUT"),
        ({"data": "{", "headers": {"Content-Type": JSON}}, 400, "BAD_USER_INPUT"),
        ({"data": "{}", "headers": {"Content-Type": "text/plain"}}, 415, "BAD_USER_INPUT"),
        ({"json": {"query": EVENTS}, "headers": {"Authorization": "Bearer mallory"}}, 401, "UNAUTHENTICATED"),
    ],
)
async def test_request_that_is_none(client: Client, request_: dict[str, Any], status: int, code: str) -> None:
    """A malformed GraphQL request or an invalid token has its usual HTTP status."""
    headers = wanting(**request_.pop("headers", {}))
    response = await client.post("/graphql", headers=headers, **request_)
    assert (response.status, response.content_type) == (status, EVENT_STREAM)
    assert await Feed(response).refused() == code


async def test_subscription_as_json(client: Client, services: PlainServices) -> None:
    """A client that does not accept event streams is refused with the required type; nothing begins."""
    for accept in (JSON, GRAPHQL, "*/*", f"{JSON}, text/*", f"{JSON}, {EVENT_STREAM};q=0"):
        status, body = await post(client, EVENTS, headers={"Accept": accept})
        assert (status, first_code(body)) == (400, "BAD_USER_INPUT")
        assert EVENT_STREAM in body["errors"][0]["message"]
    assert not services.started.is_set()


async def test_client_that_takes_either(client: Client, services: PlainServices) -> None:
    """If JSON is accepted too, operations with one result are answered in JSON, and others in a stream."""
    accept = {"Accept": f"{GRAPHQL}, {JSON}, {EVENT_STREAM}"}
    response = await client.post("/graphql", json={"query": "{ square }"}, headers=accept)
    assert response.content_type == GRAPHQL
    feed = await Feed(await client.post("/graphql", json={"query": EVENTS}, headers=accept)).opened()
    await services.events.put(None)
    await feed.completed()


# ------------------------------------------------------------ events


async def test_each_event_has_a_context_of_its_own(client: Client, services: PlainServices) -> None:
    """Events share no data loaders, each is checked, and only the subscription counts as a request."""
    feed = await subscribe(client, "subscription { events { contextNumber } }")
    numbers = set()
    for number in range(3):
        await services.events.put(Event(number=number, text=""))
        numbers.add((await feed.receive())["data"]["events"]["contextNumber"])
    assert len(numbers) == 3
    checked = [context for context in services.closed if not context.counted]
    assert checked == [services.contexts[number] for number in sorted(numbers)]
    feed.response.close()


async def test_fault_of_an_event(client: Client, services: PlainServices) -> None:
    """A field that fails for one event is masked, and the subscription goes on."""
    feed = await subscribe(client, "subscription { events { number broken } }")
    for number in (1, 2):
        await services.events.put(Event(number=number, text=""))
        answer = await feed.receive()
        assert answer["data"] == {"events": {"number": number, "broken": None}}
        assert answer["errors"][0]["message"] == "Internal error"
    feed.response.close()


async def test_fault_of_a_source(client: Client, services: PlainServices) -> None:
    """A subscription whose source fails ends with a masked error, logged once."""
    feed = await subscribe(client)
    with logged() as lines:
        await services.events.put(RuntimeError(SECRET_TEXT))
        answer = await feed.receive()
        await feed.completed()
    assert answer["errors"][0]["message"] == "Internal error"
    assert SECRET_TEXT not in json.dumps(answer)
    assert len([line for line in lines if line["log_level"] == "error"]) == 1


async def test_fatal_error_of_an_event(client: Client, services: PlainServices) -> None:
    """An event that cannot be answered ends its subscription: its client starts again from its last cursor."""
    feed = await subscribe(client)
    services.fatal = ServiceUnavailable("away")
    await services.events.put(Event(number=1, text=""))
    assert await feed.refused() == "SERVICE_UNAVAILABLE"
    async with within_patience():
        await services.stopped.wait()


async def test_one_line_per_stream(client: Client, services: PlainServices) -> None:
    """An ended stream is logged in one line with neither token nor variables."""
    with logged() as lines:
        feed = await subscribe(client, "subscription Live { events { number } }", "alice-phone")
        await services.events.put(None)
        await feed.completed()
    (line,) = lines
    assert (line["event"], line["operation"], line["status"]) == ("request", "Live", 200)
    assert "phone" not in str(line)
