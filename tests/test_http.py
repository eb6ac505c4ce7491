"""GraphQL over HTTP: what is answered, what is refused and how, and what surrounds every request."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from graphql import get_introspection_query
from pytest_aiohttp import AiohttpClient

from resolvers.errors import BadUserInput, RateLimited, RequestError, ServiceUnavailable, Unauthenticated
from schema import requests
from schema.addresses import Proxies
from schema.http import begin_shutdown
from schema.negotiation import choose, prefers_page
from schema.operations import PerEventExecutor
from tests.small import ALICE, SECRET_TEXT, PlainServices, logged, small_schema

JSON = "application/json"
GRAPHQL = "application/graphql-response+json"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

Client = TestClient[web.Request, web.Application]


@pytest.fixture
def services() -> PlainServices:
    return PlainServices()


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
    """An HTML form sends every field: empty ones mean nothing."""
    parameters = {"query": "{ square }", "variables": "", "operationName": "", "extensions": ""}
    response = await client.get("/graphql", params=parameters)
    assert (response.status, await response.json()) == (200, {"data": {"square": 1}})


async def test_mutation_by_post(client: Client) -> None:
    """A mutation runs by POST."""
    status, body = await post(client, 'mutation { follow(input: {userIds: ["1"]}) { name } }')
    assert (status, body) == (200, {"data": {"follow": [{"name": "1"}]}})


async def test_mutation_by_get_is_refused(client: Client) -> None:
    """GET never changes anything: a mutation is told to use POST."""
    response = await client.get("/graphql", params={"query": "mutation { follow(input: {userIds: []}) { name } }"})
    assert response.status == 405
    assert response.headers["Allow"] == "POST"
    assert first_code(await response.json()) == "BAD_USER_INPUT"


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_subscription_needs_a_websocket(client: Client, method: str) -> None:
    """A subscription by HTTP is told to come by websocket."""
    query = "subscription { events { number } }"
    sent: dict[str, Any] = {"params": {"query": query}} if method == "GET" else {"json": {"query": query}}
    response = await client.request(method, "/graphql", **sent)
    assert response.status == 400
    assert "websocket" in (await response.json())["errors"][0]["message"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD"])
async def test_other_methods_are_refused(client: Client, method: str) -> None:
    """Anything but GET, POST and OPTIONS is not allowed, and told what is."""
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
    """The query with which GraphiQL learns the schema is answered."""
    status, body = await post(client, get_introspection_query(), headers={"Accept": GRAPHQL})
    assert status == 200
    assert body["data"]["__schema"]["queryType"] == {"name": "Query", "kind": "OBJECT"}


# ------------------------------------------------------------ media types


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ([], JSON),
        ([""], JSON),
        (["*/*"], JSON),
        (["application/*"], JSON),
        ([JSON], JSON),
        ([GRAPHQL], GRAPHQL),
        ([f"{GRAPHQL}, {JSON}"], GRAPHQL),
        ([f"{JSON}, {GRAPHQL}"], GRAPHQL),
        ([f"{GRAPHQL}; charset=utf-8, {JSON}; charset=utf-8"], GRAPHQL),
        ([f'{GRAPHQL}; charset="UTF-8"'], GRAPHQL),
        ([f"{GRAPHQL};q=0.5, {JSON}"], JSON),
        ([f"{GRAPHQL};q=0.9, {JSON};q=0.8"], GRAPHQL),
        ([f"{GRAPHQL};q=0.5, */*"], JSON),
        ([f"{JSON};q=0, */*"], GRAPHQL),
        ([f"{GRAPHQL};q=0"], None),
        ([GRAPHQL, JSON], GRAPHQL),
        (["APPLICATION/JSON"], JSON),
        (["text/html, */*;q=0.1"], JSON),
        (["text/html"], None),
        (["text/event-stream"], None),
        ([f"{JSON}; charset=iso-8859-1"], None),
        ([f"{JSON};q=high"], None),
        (["nonsense"], None),
    ],
)
def test_media_type_follows_the_accept_header(accept: Sequence[str], media: str | None) -> None:
    """The best wish that can be met decides; a wildcard means the older type."""
    assert choose(accept) == media


async def test_media_type_of_the_answer(client: Client) -> None:
    """The answer has the type that was asked for, errors as well."""
    for query in ("{ square }", "{"):
        response = await client.post("/graphql", json={"query": query}, headers={"Accept": GRAPHQL})
        assert response.headers["Content-Type"] == f"{GRAPHQL}; charset=utf-8"


async def test_unacceptable_media_type(client: Client) -> None:
    """A client that takes neither type is told which there are."""
    response = await client.post("/graphql", json={"query": "{ square }"}, headers={"Accept": "image/png"})
    assert response.status == 406
    assert GRAPHQL in (await response.json())["errors"][0]["message"]


@pytest.mark.parametrize(
    ("query", "variables", "code"),
    [
        ("{", {}, "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", {}, "GRAPHQL_VALIDATION_FAILED"),
        ("query($n: Int!) { square(number: $n) }", {}, "BAD_USER_INPUT"),
        ("query($n: Int!) { square(number: $n) }", {"n": "many"}, "BAD_USER_INPUT"),
    ],
)
async def test_status_of_request_errors(client: Client, query: str, variables: dict[str, Any], code: str) -> None:
    """What cannot be executed is 400 for the newer media type and 200 for the older one, never with data."""
    for media, expected in ((GRAPHQL, 400), (JSON, 200)):
        status, body = await post(client, query, variables=variables, headers={"Accept": media})
        assert (status, first_code(body)) == (expected, code)


@pytest.mark.parametrize("media", [GRAPHQL, JSON])
async def test_queries_over_the_limits(services: PlainServices, aiohttp_client: AiohttpClient, media: str) -> None:
    """A query that is too long, deep, costly or full of aliases is 400 with either media type."""
    client = await aiohttp_client(services.app(max_tokens=40, max_depth=3, max_cost=30, max_aliases=2))
    for query in (
        "{ square " + "square " * 40 + "}",
        "{ items { nodes { children { name } } } }",
        "{ items { total nodes { name } } }",
        "{ a: square b: square c: square }",
    ):
        status, body = await post(client, query, headers={"Accept": media})
        assert (status, first_code(body)) == (400, "QUERY_TOO_COMPLEX")


async def test_cost_depends_on_the_variables_sent(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """The same query passes with a small number and is refused with a large one."""
    client = await aiohttp_client(services.app(max_cost=30))
    query = "query($n: Int!) { items(first: $n) { total } }"
    assert (await post(client, query, variables={"n": 29}))[0] == 200
    status, body = await post(client, query, variables={"n": 30})
    assert (status, first_code(body)) == (400, "QUERY_TOO_COMPLEX")


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"null", "null"),
        (b'"x"', "a string"),
        (b"[]", "an array"),
        (b'[{"query": "{ square }"}]', "an array"),
        (b"7", "a number"),
        (b"true", "a boolean"),
        (b"{}", "`query`"),
        (b'{"query": null}', "`query`"),
        (b'{"query": ""}', "`query`"),
        (b'{"query": 7}', "`query`"),
        (b'{"query": ["{ square }"]}', "`query`"),
        (b'{"query": "{ square }", "variables": "x"}', "`variables`"),
        (b'{"query": "{ square }", "variables": []}', "`variables`"),
        (b'{"query": "{ square }", "variables": 0}', "`variables`"),
        (b'{"query": "{ square }", "operationName": {}}', "`operationName`"),
        (b'{"query": "{ square }", "operationName": false}', "`operationName`"),
        (b'{"query": "{ square }", "extensions": "x"}', "`extensions`"),
        (b'{"query": "{ square }", "extensions": [1]}', "`extensions`"),
        (b'{"query": "{ square }", "variables": {"n": NaN}}', "JSON"),
        (b'{"query": "{ square }", "variables": {"n": ' + b"1" * 4000 + b"1" * 400 + b"}}", "413"),
        (b'{"query": "{ square(number: \\ud83c) }"}', "surrogate"),
        (b'{"query": "{ square }", "variables": {"n": ' + b"[" * 1500 + b"]" * 1500 + b"}}", "Nested"),
        (b'{"query": "\xff"}', "UTF-8"),
        ('{"query": "{ square }"}'.encode("utf-16"), "UTF-8"),
        ("\ufeff" + '{"query": "{ square }"}', "JSON"),
    ],
)
async def test_malformed_bodies(client: Client, body: bytes | str, part: str) -> None:
    """A body that is no GraphQL request is refused, and the message names what is wrong."""
    response = await client.post("/graphql", data=body, headers={"Content-Type": JSON})
    answer = await response.json()
    assert response.status == (413 if part == "413" else 400)
    assert first_code(answer) == "BAD_USER_INPUT"
    assert part == "413" or part in answer["errors"][0]["message"]


async def test_numbers_of_thousands_of_digits(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A number longer than Python reads is refused like any that is not JSON."""
    client = await aiohttp_client(services.app())
    body = b'{"query": "{ square }", "variables": {"n": ' + b"1" * 5000 + b"}}"
    response = await client.post("/graphql", data=body, headers={"Content-Type": JSON})
    assert (response.status, first_code(await response.json())) == (400, "BAD_USER_INPUT")
    status, body_ = await post(client, "{ square(number: " + "1" * 5000 + ") }")
    assert (status, first_code(body_)) == (200, "GRAPHQL_VALIDATION_FAILED")


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("", "`query`"),
        ("query=", "`query`"),
        ("query={square}&variables={", "`variables`"),
        ("query={square}&variables=[]", "`variables`"),
        ("query={square}&variables=%22x%22", "`variables`"),
        ("query={square}&extensions=1", "`extensions`"),
        ("query=%FF", "UTF-8"),
        ("query=%ED%A0%80", "UTF-8"),
    ],
)
async def test_malformed_addresses(client: Client, address: str, part: str) -> None:
    """A GET whose parameters are no GraphQL request is refused, and the message names what is wrong."""
    response = await client.get(f"/graphql?{address}")
    answer = await response.json()
    assert response.status == 400
    assert part in answer["errors"][0]["message"]


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("application/json; charset=UTF-8", 200),
        ('Application/JSON; charset="utf-8"', 200),
        ("application/json; charset=utf8", 200),
        ("application/json; charset=iso-8859-1", 415),
        ("application/json; charset=utf-16", 415),
        ("text/plain", 415),
        ("text/plain; charset=utf-8", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/graphql", 415),
        ("application/jsonp", 415),
        ("nonsense", 415),
    ],
)
async def test_content_type_of_the_body(client: Client, content_type: str, status: int) -> None:
    """A body is JSON in UTF-8 and says so; no HTML form can send that to another site."""
    response = await client.post("/graphql", data=b'{"query": "{ square }"}', headers={"Content-Type": content_type})
    assert response.status == status
    if status == 415:
        assert first_code(await response.json()) == "BAD_USER_INPUT"


async def test_missing_content_type(client: Client) -> None:
    """A body that does not say what it is, is refused."""
    response = await client.post("/graphql", data=b"{}", skip_auto_headers=["Content-Type"])
    assert response.status == 415


async def chunks(size: int) -> AsyncIterator[bytes]:
    yield b'{"query": "{ square }", "x": "'
    for _ in range(size // 1024):
        yield b"x" * 1024
    yield b'"}'


async def test_large_bodies(client: Client) -> None:
    """A body larger than allowed is refused, announced, chunked or compressed; one of just the size is not."""
    frame = len('{"query": "{ square }", "x": ""}')
    fitting = json.dumps({"query": "{ square }", "x": "x" * (4096 - frame)})
    assert len(fitting) == 4096
    response = await client.post("/graphql", data=fitting, headers={"Content-Type": JSON})
    assert response.status == 200
    response = await client.post("/graphql", data=fitting + " ", headers={"Content-Type": JSON})
    assert (response.status, first_code(await response.json())) == (413, "BAD_USER_INPUT")
    response = await client.post("/graphql", data=chunks(1024), headers={"Content-Type": JSON})
    assert response.status == 200
    response = await client.post("/graphql", data=chunks(8192), headers={"Content-Type": JSON})
    assert (response.status, first_code(await response.json())) == (413, "BAD_USER_INPUT")
    bomb = gzip.compress(fitting.encode() + b" " * 1_000_000)
    headers = {"Content-Type": JSON, "Content-Encoding": "gzip"}
    response = await client.post("/graphql", data=bomb, headers=headers)
    assert response.status == 413


async def test_compressed_bodies(client: Client) -> None:
    """A gzip body is read; one that only claims to be gzip is refused."""
    headers = {"Content-Type": JSON, "Content-Encoding": "gzip"}
    response = await client.post("/graphql", data=gzip.compress(b'{"query": "{ square }"}'), headers=headers)
    assert response.status == 200
    response = await client.post("/graphql", data=b'{"query": "{ square }"}', headers=headers)
    assert response.status == 400


# ------------------------------------------------------------ who asks


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
    """Two tokens in one request are none."""
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
        (["::1/128"], "::1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        (["::1/128"], "::1", ["2001:db8::1"], "2001:db8::1"),
        ([], "::ffff:192.0.2.1", [], "192.0.2.1"),
        ([], None, ["203.0.113.9"], ""),
    ],
)
def test_client_address(trusted: list[str], peer: str | None, forwarded: list[str], client: str) -> None:
    """The client is the last address that no trusted proxy stands behind; what it says itself counts for nothing."""
    assert Proxies(trusted).client(peer, forwarded) == client


async def test_client_address_and_agent_reach_the_context(
    services: PlainServices, aiohttp_client: AiohttpClient
) -> None:
    """Resolvers see the address behind a trusted proxy, and a user agent that is safe to store."""
    client = await aiohttp_client(services.app(trusted_proxies=("127.0.0.0/8",)))
    headers = {"X-Forwarded-For": "203.0.113.9", "User-Agent": "phone " + "x" * 1000}
    _, body = await post(client, "{ whence }", headers=headers)
    assert body["data"]["whence"] == "203.0.113.9 phone " + "x" * 294


# ------------------------------------------------------------ how operations end


async def test_every_operation_is_closed(client: Client, services: PlainServices) -> None:
    """The session is checked at the end of each operation, also of one that was never executed."""
    for query in ("{ square }", "{ broken }", "{", "{ nothing }", "mutation { follow(input: {userIds: []}) { name } }"):
        services.closed.clear()
        await post(client, query)
        assert services.closed == [services.contexts[-1]]


async def test_context_knows_the_fields_of_the_document(client: Client, services: PlainServices) -> None:
    """Resolvers can tell which fields the document names, wherever they stand."""
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
            "errors": [{"message": error.message, "extensions": {"code": error.code}}]
        }
        assert headers.items() <= response.headers.items()


async def test_fatal_error_found_by_a_resolver(client: Client) -> None:
    """A fatal error that a look-up runs into discards what other fields have found."""
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
    """An unexpected exception shows its place and where to look it up, and is logged once with its traceback."""
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
    """A null that reaches an argument by a variable is the client's mistake, not the server's."""
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
        status, body = await post(client, "{ square }")
    assert (status, first_code(body)) == (500, "INTERNAL")
    assert SECRET_TEXT not in json.dumps(body)
    assert len([line for line in lines if line["log_level"] == "error"]) == 1


async def test_fault_outside_graphql(client: Client, services: PlainServices, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault before GraphQL begins is 500 with the same kind of body, and logged once."""

    def broken(**_: object) -> None:
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(services, "context", lambda _claims, **rest: broken(**rest))
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


# ------------------------------------------------------------ what surrounds a request


@pytest.mark.parametrize("given", ["abc-1_2.3", "x" * 64])
async def test_request_id_of_the_client(client: Client, given: str) -> None:
    """A sane id is taken over, shown to resolvers and sent back."""
    headers = {"X-Request-Id": given}
    response = await client.post("/graphql", json={"query": "{ requestId }"}, headers=headers)
    assert response.headers["X-Request-Id"] == given
    assert await response.json() == {"data": {"requestId": given}}


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a\tb", "ü", "<script>"])
async def test_request_id_that_is_not_sane(client: Client, given: str) -> None:
    """Any other id is replaced by a new one."""
    response = await client.get("/healthz", headers={"X-Request-Id": given})
    assert response.headers["X-Request-Id"] not in {"", given}


async def test_one_line_per_request(client: Client) -> None:
    """A request is logged in one line that tells neither token nor variables."""
    query = "query Echo($text: String!) { echo(text: $text) }"
    headers = {"Authorization": "Bearer alice-phone", "X-Request-Id": "r1"}
    with logged() as lines:
        await post(client, query, variables={"text": SECRET_TEXT}, headers=headers)
    (line,) = lines
    assert line.pop("ms") >= 0
    assert line == {
        "event": "request",
        "log_level": "info",
        "method": "POST",
        "path": "/graphql",
        "operation": "Echo",
        "status": 200,
        "request_id": "r1",
    }


async def test_security_headers(client: Client) -> None:
    """No answer may be sniffed, framed or kept."""
    response = await client.post("/graphql", json={"query": "{ square }"})
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert "aiohttp" not in response.headers["Server"]


async def test_unknown_path(client: Client) -> None:
    """A path where nothing is served has an error of the same form."""
    response = await client.get("/nothing")
    assert (response.status, first_code(await response.json())) == (404, "BAD_USER_INPUT")


async def test_method_of_another_path(client: Client) -> None:
    """A wrong method elsewhere is told what is allowed."""
    response = await client.post("/healthz")
    assert (response.status, response.headers["Allow"]) == (405, "GET,HEAD")
    assert first_code(await response.json()) == "BAD_USER_INPUT"


async def test_root_leads_to_graphql(client: Client) -> None:
    """Who opens the bare address comes to /graphql."""
    response = await client.get("/", allow_redirects=False)
    assert (response.status, response.headers["Location"]) == (302, "/graphql")


async def test_browser_gets_the_page(client: Client) -> None:
    """A browser that opens the endpoint sees GraphiQL, under the page's own policy."""
    response = await client.get("/graphql", headers={"Accept": BROWSER})
    assert (response.status, response.content_type) == (200, "text/html")
    assert "GraphiQL" in await response.text()
    assert "'self'" in response.headers["Content-Security-Policy"]


async def test_browser_with_a_query_gets_the_answer(client: Client) -> None:
    """An address with a query in it is answered with JSON, in a browser too."""
    response = await client.get("/graphql", params={"query": "{ square }"}, headers={"Accept": BROWSER})
    assert await response.json() == {"data": {"square": 1}}


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ([BROWSER], True),
        (["text/html"], True),
        (["text/html;q=0.5, application/json"], False),
        (["*/*"], False),
        ([], False),
        ([JSON], False),
        (["text/html;q=0"], False),
    ],
)
def test_who_prefers_the_page(accept: Sequence[str], expected: bool) -> None:
    """Only who asks for HTML by name, and no less than for JSON, gets the page."""
    assert prefers_page(accept) is expected


# ------------------------------------------------------------ other origins


PREFLIGHT = {
    "Origin": "https://app.example",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type",
}


async def test_preflight_of_a_listed_origin(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A page of a listed origin may send tokens and JSON, and read request id and retry time."""
    client = await aiohttp_client(services.app(cors_origins=("https://app.example", "https://b.example")))
    response = await client.options("/graphql", headers=PREFLIGHT)
    assert response.status == 204
    assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"
    assert response.headers["Access-Control-Allow-Methods"] == "GET, POST"
    assert response.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Type, X-Request-Id"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert response.headers["Vary"] == "Origin"
    answer = await client.post("/graphql", json={"query": "{"}, headers={"Origin": "https://app.example"})
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
    assert answer.headers["Access-Control-Expose-Headers"] == "X-Request-Id, Retry-After"


async def test_other_origins_may_not_read(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A page of an origin that is not listed gets no permission, also in error answers."""
    client = await aiohttp_client(services.app(cors_origins=("https://app.example",)))
    for origin in ("https://evil.example", "http://app.example", "https://app.example.evil.example", "null"):
        response = await client.options("/graphql", headers={**PREFLIGHT, "Origin": origin})
        assert response.status == 204
        assert "Access-Control-Allow-Origin" not in response.headers
        assert response.headers["Vary"] == "Origin"


async def test_no_origin_is_listed(client: Client) -> None:
    """By default no other origin is allowed; OPTIONS still says what the endpoint takes."""
    response = await client.options("/graphql", headers=PREFLIGHT)
    assert (response.status, response.headers["Allow"]) == (204, "GET, POST, OPTIONS")
    assert "Access-Control-Allow-Origin" not in response.headers


async def test_any_origin(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """With `*` every page may call, as no cookie is ever looked at."""
    client = await aiohttp_client(services.app(cors_origins=("*",)))
    response = await client.post("/graphql", json={"query": "{ square }"}, headers={"Origin": "https://any.example"})
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_origin_with_a_path_is_a_wrong_setting() -> None:
    """What is more than an origin could never match, so the server does not start with it."""
    with pytest.raises(ValueError, match="origin"):
        PlainServices().app(cors_origins=("https://app.example/path",))


# ------------------------------------------------------------ health


async def test_health(client: Client, services: PlainServices) -> None:
    """The process lives whether or not the store answers; it is ready only while it does."""
    for path in ("/healthz", "/readyz"):
        response = await client.get(path)
        assert (response.status, await response.text()) == (200, "ok")
    services.is_ready = False
    assert (await client.get("/healthz")).status == 200
    assert (await client.get("/readyz")).status == 503


async def test_not_ready_once_it_stops(client: Client) -> None:
    """As soon as the shutdown begins, /readyz says so, and requests are still answered."""
    assert client.app is not None
    begin_shutdown(client.app)
    assert (await client.get("/readyz")).status == 503
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
    """A body that does not come to its end in time is refused: nobody holds a connection for ever."""
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
