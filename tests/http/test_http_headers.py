"""Around every HTTP request: its id, its log line, security headers, the page, and other origins."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from pytest_aiohttp import AiohttpClient

from serving.http import web_client
from serving.http.negotiation import prefers_page
from tests.support.transport import clients
from tests.support.transport.clients import JSON, Client, first_code, post
from tests.support.transport.small import SECRET_TEXT, PlainServices, logged

client = clients.client
services = clients.services

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


# ------------------------------------------------------------ around a request


@pytest.mark.parametrize("given", ["abc-1_2.3", "x" * 64])
async def test_request_id_of_the_client(client: Client, given: str) -> None:
    """A valid id is accepted, shown to resolvers and sent back."""
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
    """A request is logged in one line with neither token nor variables."""
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
    """No answer may be sniffed, framed or cached."""
    response = await client.post("/graphql", json={"query": "{ square }"})
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert "aiohttp" not in response.headers["Server"]


async def test_unknown_path(client: Client) -> None:
    """An unknown path has an error of the same form."""
    response = await client.get("/nothing")
    assert (response.status, first_code(await response.json())) == (404, "NOT_FOUND")


async def test_method_of_another_path(client: Client) -> None:
    """A wrong method on another path is refused with the allowed methods."""
    response = await client.post("/healthz")
    assert (response.status, response.headers["Allow"]) == (405, "GET,HEAD")
    assert first_code(await response.json()) == "BAD_USER_INPUT"


@pytest.fixture
def no_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody has built the web client, whatever this checkout holds."""
    monkeypatch.setattr(web_client, "DIST", tmp_path)


async def test_root_leads_to_graphql(no_client: None, client: Client) -> None:
    """Without the web client, the bare address redirects to /graphql."""
    response = await client.get("/", allow_redirects=False)
    assert (response.status, response.headers["Location"]) == (302, "/graphql")


async def test_browser_gets_the_page(client: Client) -> None:
    """A browser that opens the endpoint sees GraphiQL, under the page's own policy."""
    response = await client.get("/graphql", headers={"Accept": BROWSER})
    assert (response.status, response.content_type) == (200, "text/html")
    assert "GraphiQL" in await response.text()
    assert "'self'" in response.headers["Content-Security-Policy"]


async def test_browser_with_a_query_gets_the_answer(client: Client) -> None:
    """An address with a query in it is answered with JSON, even in a browser."""
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
    """Only a client that asks for HTML by name, and prefers it no less than JSON, gets the page."""
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
    assert response.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Type, X-Request-Id, traceparent"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert response.headers["Vary"] == "Origin"
    answer = await client.post("/graphql", json={"query": "{"}, headers={"Origin": "https://app.example"})
    assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
    assert answer.headers["Access-Control-Expose-Headers"] == "X-Request-Id, Retry-After"


async def test_other_origins_may_not_read(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """A page of an unlisted origin gets no permission, not even for error answers."""
    client = await aiohttp_client(services.app(cors_origins=("https://app.example",)))
    for origin in ("https://evil.example", "http://app.example", "https://app.example.evil.example", "null"):
        response = await client.options("/graphql", headers={**PREFLIGHT, "Origin": origin})
        assert response.status == 204
        assert "Access-Control-Allow-Origin" not in response.headers
        assert response.headers["Vary"] == "Origin"


async def test_no_origin_is_listed(client: Client) -> None:
    """By default no other origin is allowed; OPTIONS still lists the allowed methods."""
    response = await client.options("/graphql", headers=PREFLIGHT)
    assert (response.status, response.headers["Allow"]) == (204, "GET, POST, OPTIONS")
    assert "Access-Control-Allow-Origin" not in response.headers


async def test_any_origin(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """With `*` every page may call, as cookies are never read."""
    client = await aiohttp_client(services.app(cors_origins=("*",)))
    response = await client.post("/graphql", json={"query": "{ square }"}, headers={"Origin": "https://any.example"})
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_origin_with_a_path_is_a_wrong_setting() -> None:
    """A value that is more than an origin could never match, so the server does not start with it."""
    with pytest.raises(ValueError, match="origin"):
        PlainServices().app(cors_origins=("https://app.example/path",))
