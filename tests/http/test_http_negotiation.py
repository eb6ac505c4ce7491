"""GraphQL over HTTP: media types, and the status of each."""

from collections.abc import Sequence
from typing import Any

import pytest
from pytest_aiohttp import AiohttpClient

from schema.execution.costs import RESOLVED_PRICE
from serving.http.negotiation import choose
from tests.support.transport import clients
from tests.support.transport.clients import EVENT_STREAM, GRAPHQL, JSON, Client, first_code, post
from tests.support.transport.small import PlainServices

client = clients.client
services = clients.services


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
        ([EVENT_STREAM], EVENT_STREAM),
        ([f"{JSON}; charset=iso-8859-1"], None),
        ([f"{JSON};q=high"], None),
        (["nonsense"], None),
    ],
)
def test_media_type_follows_the_accept_header(accept: Sequence[str], media: str | None) -> None:
    """The best preference that can be met decides; a wildcard means the older type."""
    assert choose(tuple(accept)) == media


async def test_media_type_of_the_answer(client: Client) -> None:
    """The answer has the requested type, errors included."""
    for query in ("{ square }", "{"):
        response = await client.post("/graphql", json={"query": query}, headers={"Accept": GRAPHQL})
        assert response.headers["Content-Type"] == f"{GRAPHQL}; charset=utf-8"


async def test_unacceptable_media_type(client: Client) -> None:
    """A client that accepts neither type is refused with the available types."""
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
    """A request that cannot be executed is 400 for the newer media type and 200 for the older one, without data."""
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
    client = await aiohttp_client(services.app(max_cost=RESOLVED_PRICE + 29))
    query = "query($n: Int!) { items(first: $n) { total } }"
    assert (await post(client, query, variables={"n": 29}))[0] == 200
    status, body = await post(client, query, variables={"n": 30})
    assert (status, first_code(body)) == (400, "QUERY_TOO_COMPLEX")
