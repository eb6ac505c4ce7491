"""GraphQL over HTTP: which bodies, addresses and content types are refused."""

import gzip
import json
from collections.abc import AsyncIterator

import pytest
from pytest_aiohttp import AiohttpClient

from tests.support.transport import clients
from tests.support.transport.clients import JSON, Client, first_code, post
from tests.support.transport.small import PlainServices

client = clients.client
services = clients.services


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
        (b'{"query": "\xff"}', "UTF-8"),
        ('{"query": "{ square }"}'.encode("utf-16"), "UTF-8"),
        ("\ufeff" + '{"query": "{ square }"}', "JSON"),
    ],
)
async def test_malformed_bodies(client: Client, body: bytes | str, part: str) -> None:
    """A body that is no GraphQL request is refused, and the message names the error."""
    response = await client.post("/graphql", data=body, headers={"Content-Type": JSON})
    answer = await response.json()
    assert response.status == (413 if part == "413" else 400)
    assert first_code(answer) == "BAD_USER_INPUT"
    assert part == "413" or part in answer["errors"][0]["message"]


@pytest.mark.parametrize("depth", [1_000, 9_000, 50_000])
async def test_nested_values(services: PlainServices, aiohttp_client: AiohttpClient, depth: int) -> None:
    """A value nested deeply is refused: by the JSON parser, by the number of values, or by the variable's type.

    The parser's own limit grows with the version of Python: some 1,000 levels in 3.11, and 10,000 in 3.13.
    """
    client = await aiohttp_client(services.app())
    document = b'"query($n: Int!) { square(number: $n) }"'
    body = b'{"query": ' + document + b', "variables": {"n": ' + b"[" * depth + b"]" * depth + b"}}"
    response = await client.post("/graphql", data=body, headers={"Content-Type": JSON})
    assert response.status in {200, 400}
    assert first_code(await response.json()) in {"BAD_USER_INPUT", "QUERY_TOO_COMPLEX"}


async def test_numbers_of_thousands_of_digits(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A number longer than Python reads is refused like a body that is not JSON."""
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
    """A GET whose parameters are no GraphQL request is refused, and the message names the error."""
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
    """A body must be JSON in UTF-8 and declare it; no HTML form can send that to another site."""
    response = await client.post("/graphql", data=b'{"query": "{ square }"}', headers={"Content-Type": content_type})
    assert response.status == status
    if status == 415:
        assert first_code(await response.json()) == "BAD_USER_INPUT"


async def test_missing_content_type(client: Client) -> None:
    """A body without a content type is refused."""
    response = await client.post("/graphql", data=b"{}", skip_auto_headers=["Content-Type"])
    assert response.status == 415


async def chunks(size: int) -> AsyncIterator[bytes]:
    yield b'{"query": "{ square }", "x": "'
    for _ in range(size // 1024):
        yield b"x" * 1024
    yield b'"}'


async def test_large_bodies(client: Client) -> None:
    """A body above the limit is refused, announced, chunked or compressed; one of exactly the limit is not."""
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
