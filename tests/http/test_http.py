"""GraphQL over HTTP: which requests are answered, and how operations end."""

import json
from typing import Any

import pytest
from graphql import get_introspection_query

from resolvers.process.errors import BadUserInput, RateLimited, RequestError, ServiceUnavailable, Unauthenticated
from schema.execution.executor import PerEventExecutor
from serving.http.view import GraphQLEndpoint
from tests.support.transport import clients
from tests.support.transport.clients import GRAPHQL, JSON, Client, first_code, post
from tests.support.transport.small import SECRET_TEXT, PlainServices, logged, small_schema

client = clients.client
services = clients.services


# ------------------------------------------------------------ what is answered


async def test_query_by_post(client: Client) -> None:
    """A query in a JSON body is answered as JSON in UTF-8."""
    response = await client.post("/graphql", json={"query": '{ echo(text: "añ🏃") }'})
    assert response.status == 200
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert await response.read() == '{"data":{"echo":"añ🏃"}}'.encode()


async def test_query_by_get(client: Client) -> None:
    """A query in the address is answered, with variables and extensions as JSON text."""
    parameters = {
        "query": "query Q($n: Int!) { square(number: $n) }",
        "variables": '{"n": 7}',
        "operationName": "Q",
        "extensions": "{}",
    }
    response = await client.get("/graphql", params=parameters)
    assert (response.status, await response.json()) == (200, {"data": {"square": 49}})


async def test_empty_parameters_of_an_address_count_as_absent(client: Client) -> None:
    """An HTML form sends every field: empty ones count as omitted."""
    parameters = {"query": "{ square }", "variables": "", "operationName": "", "extensions": ""}
    response = await client.get("/graphql", params=parameters)
    assert (response.status, await response.json()) == (200, {"data": {"square": 1}})


async def test_mutation_by_post(client: Client) -> None:
    """A mutation runs by POST."""
    status, body = await post(client, 'mutation { follow(input: {userIds: ["1"]}) { name } }')
    assert (status, body) == (200, {"data": {"follow": [{"name": "1"}]}})


async def test_mutation_by_get_is_refused(client: Client) -> None:
    """GET never changes anything: a mutation is refused with a hint to use POST."""
    response = await client.get("/graphql", params={"query": "mutation { follow(input: {userIds: []}) { name } }"})
    assert response.status == 405
    assert response.headers["Allow"] == "POST"
    assert first_code(await response.json()) == "BAD_USER_INPUT"


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_subscription_needs_a_websocket(client: Client, method: str) -> None:
    """A subscription by HTTP is refused with a hint to use a websocket."""
    query = "subscription { events { number } }"
    sent: dict[str, Any] = {"params": {"query": query}} if method == "GET" else {"json": {"query": query}}
    response = await client.request(method, "/graphql", **sent)
    assert response.status == 400
    assert "websocket" in (await response.json())["errors"][0]["message"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD"])
async def test_other_methods_are_refused(client: Client, method: str) -> None:
    """Methods other than GET, POST and OPTIONS are refused, and the answer lists those allowed."""
    response = await client.request(method, "/graphql", json={"query": "{ square }"})
    assert response.status == 405
    assert response.headers["Allow"] == "GET, POST, OPTIONS"


async def test_one_of_several_operations(client: Client) -> None:
    """Of several operations the named one runs; naming none or an unknown one is refused."""
    query = "query A { square(number: 2) } query B { square(number: 3) }"
    assert await post(client, query, operationName="B") == (200, {"data": {"square": 9}})
    for name in (None, "", "C"):
        status, body = await post(client, query, operationName=name)
        assert (status, first_code(body)) == (400, "BAD_USER_INPUT")
    status, body = await post(client, "{ square }", operationName="Unknown")
    assert (status, first_code(body)) == (400, "BAD_USER_INPUT")
    assert "Unknown" in body["errors"][0]["message"]


async def test_introspection_query(client: Client) -> None:
    """GraphiQL's introspection query is answered."""
    status, body = await post(client, get_introspection_query(), headers={"Accept": GRAPHQL})
    assert status == 200
    assert body["data"]["__schema"]["queryType"] == {"name": "Query", "kind": "OBJECT"}


# ------------------------------------------------------------ how operations end


async def test_every_operation_is_closed(client: Client, services: PlainServices) -> None:
    """The session is checked at the end of each operation, even of one that was never executed."""
    for query in ("{ square }", "{ broken }", "{", "{ nothing }", "mutation { follow(input: {userIds: []}) { name } }"):
        services.closed.clear()
        await post(client, query)
        assert services.closed == [services.contexts[-1]]


async def test_context_knows_the_fields_of_the_document(client: Client, services: PlainServices) -> None:
    """Resolvers can tell which fields the document names, at any depth."""
    await post(client, "{ items { ...Names } } fragment Names on Items { nodes { name } }")
    assert services.contexts[-1].fields == frozenset({"items", "nodes", "name"})


@pytest.mark.parametrize("query", ["{ square }", "{", "{ nothing }", "{ a: square broken }"])
@pytest.mark.parametrize(
    ("error", "headers"),
    [
        (Unauthenticated("the session has ended"), {"WWW-Authenticate": "Bearer"}),
        (RateLimited("too many requests", 17), {"Retry-After": "17"}),
        (ServiceUnavailable("the database cannot be reached"), {"Retry-After": "1"}),
    ],
)
async def test_fatal_error_is_the_whole_answer(
    client: Client, services: PlainServices, query: str, error: RequestError, headers: dict[str, str]
) -> None:
    """When the session has ended, the rate is too high or the store is away, nothing else is answered."""
    services.fatal = error
    for media in (GRAPHQL, JSON):
        response = await client.post("/graphql", json={"query": query}, headers={"Accept": media})
        assert response.status == error.status
        assert await response.json(content_type=None) == {
            "errors": [{"message": error.message, "extensions": error.extensions}]
        }
        assert headers.items() <= response.headers.items()


async def test_fatal_error_found_by_a_resolver(client: Client) -> None:
    """A fatal error in a data loader discards the results of other fields."""
    status, body = await post(client, "{ square fatal viewer }")
    assert (status, first_code(body)) == (503, "SERVICE_UNAVAILABLE")


@pytest.mark.parametrize(
    ("query", "data"),
    [
        ("{ broken }", {"broken": None}),
        ("{ brokenPromise }", None),
        ("{ misfit }", {"misfit": None}),
        ("{ bare }", {"bare": None}),
    ],
)
async def test_faults_are_masked(client: Client, query: str, data: Any) -> None:
    """An unexpected exception shows its path and the request id, and is logged once with its traceback."""
    with logged() as lines:
        status, body = await post(client, query, headers={"X-Request-Id": "look-here"})
    (error,) = body["errors"]
    assert (status, body["data"], error["message"]) == (200, data, "Internal error")
    assert error["extensions"] == {"code": "INTERNAL", "requestId": "look-here"}
    assert error["path"] == [query.strip("{ }")]
    (fault,) = [line for line in lines if line["log_level"] == "error"]
    assert SECRET_TEXT in str(fault["exc_info"])
    assert (fault["request_id"], fault["path"]) == ("look-here", error["path"])


async def test_refusals_keep_their_text(client: Client) -> None:
    """An error meant for the client keeps text and code, and is not logged as a fault."""
    with logged() as lines:
        status, body = await post(client, "{ refused }")
    assert (status, body["data"]) == (200, {"refused": None})
    assert body["errors"][0]["message"] == "`first` must be at least 1"
    assert body["errors"][0]["extensions"] == {"code": BadUserInput.code}
    assert not [line for line in lines if line["log_level"] == "error"]


async def test_arguments_that_no_type_check_could_foresee(client: Client) -> None:
    """A null that reaches an argument through a variable is the client's error, not the server's."""
    query = "query($n: Int) { square(number: $n) }"
    status, body = await post(client, query, variables={"n": None})
    assert (status, body["data"]) == (200, None)
    assert body["errors"][0]["extensions"] == {"code": "BAD_USER_INPUT"}


async def test_fault_outside_every_field(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the executor itself is 500, masked and logged once."""

    def broken(*_: object) -> None:
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(PerEventExecutor, "execute_operation", broken)
    with logged() as lines:
        status, body = await post(client, "{ broken }")  # operations that fail are left to it
    assert (status, first_code(body)) == (500, "INTERNAL")
    assert SECRET_TEXT not in json.dumps(body)
    assert len([line for line in lines if line["log_level"] == "error"]) == 1


async def test_fault_outside_graphql(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault before GraphQL begins is 500 with the same kind of body, and logged once."""

    def broken(*_: object) -> None:
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(GraphQLEndpoint, "_context", broken)
    with logged() as lines:
        response = await client.post("/graphql", json={"query": "{ square }"})
    body = await response.json()
    assert (response.status, first_code(body)) == (500, "INTERNAL")
    assert body["errors"][0]["extensions"]["requestId"] == response.headers["X-Request-Id"]
    assert SECRET_TEXT not in json.dumps(body)
    assert len([line for line in lines if line["log_level"] == "error"]) == 1


def test_schema_introspects_without_a_context() -> None:
    """Tools read the schema without any request, synchronously."""
    assert small_schema(PlainServices().settings).introspect()["__schema"]["queryType"]["name"] == "Query"
