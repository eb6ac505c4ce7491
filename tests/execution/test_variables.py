"""Variables with too many values are refused before they are compared with their types."""

from typing import Any

import pytest
from pytest_aiohttp import AiohttpClient

from schema.execution import documents
from tests.support.transport import clients
from tests.support.transport.clients import EVENT_STREAM, GRAPHQL, Connect
from tests.support.transport.small import PlainServices

services, connect = clients.services, clients.connect

MOST = 8
MANY = {
    "unknown keys": {"i": {f"key{place}": 1 for place in range(MOST)}},
    "wrong ids": {"i": [[]] * MOST},
    "lists in lists": {"i": [[[1]] * 2] * 2},
    "undeclared variables": {f"v{place}": 1 for place in range(MOST + 1)},
}
QUERY = "query($i: [ID!]!) { nodes(ids: $i) { name } }"


@pytest.fixture
def uncoerced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable is compared with its type."""

    def fail(*_: object) -> None:
        raise AssertionError("the variables are compared with their types")

    monkeypatch.setattr(documents, "get_variable_values", fail)


@pytest.mark.parametrize("variables", MANY.values(), ids=MANY)
@pytest.mark.usefixtures("uncoerced")
async def test_too_many_values(connect: Connect, variables: dict[str, Any]) -> None:
    """A request with one value too many is refused with the rule, before any value is compared with its type."""
    talk = await (await connect(max_values=MOST)).greet()
    message = f"The variables have more than {MOST} values, those in lists and objects counted"
    for query in (QUERY, "subscription { events { number } }"):
        answer = (await talk.answer(query, variables=variables))["error"][0]
        assert (answer["message"], answer["extensions"]["code"]) == (message, "QUERY_TOO_COMPLEX")


@pytest.mark.parametrize("accept", [GRAPHQL, EVENT_STREAM])
@pytest.mark.usefixtures("uncoerced")
async def test_too_many_values_over_http(services: PlainServices, aiohttp_client: AiohttpClient, accept: str) -> None:
    """Over HTTP, the refusal is a request error with the status 400, or an event of the stream."""
    client = await aiohttp_client(services.app(max_values=MOST))
    body = {"query": QUERY, "variables": MANY["wrong ids"]}
    async with client.post("/graphql", json=body, headers={"Accept": accept}) as response:
        assert f"more than {MOST} values" in await response.text()
        assert response.status == (400 if accept == GRAPHQL else 200)


async def test_as_many_values_as_allowed(connect: Connect) -> None:
    """A request with as many values as allowed is answered."""
    talk = await (await connect(max_values=MOST)).greet()
    answer = await talk.answer(QUERY, variables={"i": ["1"] * (MOST - 1)})
    assert len(answer["next"]["data"]["nodes"]) == MOST - 1
