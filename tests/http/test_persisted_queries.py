"""Automatic persisted queries: a client sends the hash of a document, and the document only when that is unknown."""

import json
from hashlib import sha256
from typing import Any

import pytest
from pytest_aiohttp import AiohttpClient

from tests.support.transport import clients
from tests.support.transport.clients import EVENT_STREAM, EVENTS, GRAPHQL, Client, Connect, first_code
from tests.support.transport.small import Event, PlainServices

client = clients.client
connect = clients.connect
services = clients.services

SQUARE = "query Square($n: Int!) { square(number: $n) }"


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def persisted(text: str, **rest: Any) -> dict[str, Any]:
    """Return the extension by which Apollo's clients name a document."""
    return {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": digest(text)}}, **rest}


async def send(client: Client, body: dict[str, Any], accept: str = GRAPHQL) -> tuple[int, dict[str, Any]]:
    response = await client.post("/graphql", json=body, headers={"Accept": accept})
    return response.status, await response.json(content_type=None)


async def test_hash_after_the_document(client: Client) -> None:
    """An unknown hash is refused as Apollo's protocol says; sent once with its document, the hash is enough."""
    status, body = await send(client, persisted(SQUARE, variables={"n": 3}))
    assert (status, first_code(body)) == (400, "PERSISTED_QUERY_NOT_FOUND")
    assert body["errors"][0]["message"] == "PersistedQueryNotFound"
    assert await send(client, persisted(SQUARE, query=SQUARE, variables={"n": 3})) == (200, {"data": {"square": 9}})
    assert await send(client, persisted(SQUARE, variables={"n": 4})) == (200, {"data": {"square": 16}})


@pytest.mark.parametrize("named", ["extensions", "documentId", "doc_id"])
async def test_names_in_an_address(client: Client, named: str) -> None:
    """By GET too, a known hash is enough: as Apollo's extension, as `documentId` or as `doc_id`."""
    await send(client, persisted(SQUARE, query=SQUARE, variables={"n": 1}))
    names = {
        "extensions": json.dumps(persisted(SQUARE)["extensions"]),
        "documentId": f"sha256:{digest(SQUARE)}",
        "doc_id": digest(SQUARE),
    }
    headers = {"Accept": f"text/html, {GRAPHQL}"}
    response = await client.get("/graphql", params={named: names[named], "variables": '{"n": 5}'}, headers=headers)
    assert (response.status, await response.json(content_type=None)) == (200, {"data": {"square": 25}})


async def test_mutation_by_get_is_refused(client: Client) -> None:
    """The hash of a mutation is no way around POST."""
    mutation = "mutation { follow(input: {userIds: []}) { name } }"
    assert (await send(client, persisted(mutation, query=mutation)))[0] == 200
    response = await client.get("/graphql", params={"documentId": digest(mutation)})
    assert response.status == 405


async def test_hash_of_another_document(client: Client) -> None:
    """A hash that is not the document's is refused, and names no document afterwards."""
    other = "{ square(number: 9) }"
    status, body = await send(client, persisted(SQUARE, query=other))
    assert (status, first_code(body)) == (400, "BAD_USER_INPUT")
    assert first_code((await send(client, persisted(SQUARE)))[1]) == "PERSISTED_QUERY_NOT_FOUND"


async def test_invalid_document_is_not_kept(client: Client) -> None:
    """The hash of a document that cannot be executed stays unknown."""
    status, body = await send(client, persisted("{ nothing }", query="{ nothing }"))
    assert (status, first_code(body)) == (400, "GRAPHQL_VALIDATION_FAILED")
    assert first_code((await send(client, persisted("{ nothing }")))[1]) == "PERSISTED_QUERY_NOT_FOUND"


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"documentId": 7}, "`documentId` must be a string, not a number"),
        ({"doc_id": []}, None),
        ({"doc_id": [1]}, "`doc_id` must be a string, not an array"),
        ({"extensions": {"persistedQuery": "x"}}, "`extensions.persistedQuery` must be an object, not a string"),
        ({"extensions": {"persistedQuery": {"version": 2}}}, "`extensions.persistedQuery.version` must be 1"),
        (
            {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": ""}}},
            "`extensions.persistedQuery.sha256Hash` must be a string of at least one character",
        ),
    ],
)
async def test_malformed_names(client: Client, connect: Connect, sent: dict[str, Any], message: str | None) -> None:
    """A malformed name of a document is refused with the rule: by HTTP with 400, on a websocket with 4400."""
    status, body = await send(client, sent, accept="application/json")
    assert (status, first_code(body)) == (400, "BAD_USER_INPUT")
    assert body["errors"][0]["message"] == (message or "`query` is missing")
    talk = await (await connect()).greet()
    await talk.say(id="1", type="subscribe", payload=sent)
    assert await talk.close_code() == 4400


async def test_least_recently_used_is_dropped(services: PlainServices, aiohttp_client: AiohttpClient) -> None:
    """Hashes take no memory without bound: they are dropped with their documents, the least recently used first."""
    client = await aiohttp_client(services.app(documents_kept_mib=1, max_tokens=1_000))
    long = ["{" + " ".join(f"a{turn}_{one}: __typename" for one in range(30)) + "}" for turn in range(20)]
    for text in long:
        assert (await send(client, persisted(text, query=text)))[0] == 200
        assert (await send(client, persisted(long[0])))[0] == 200  # used again and again
    assert first_code((await send(client, persisted(long[1])))[1]) == "PERSISTED_QUERY_NOT_FOUND"
    assert (await send(client, persisted(long[-1])))[0] == 200


async def test_on_a_websocket(connect: Connect, services: PlainServices) -> None:
    """On a websocket, hashes serve queries and subscriptions alike."""
    talk = await (await connect()).greet()
    refused = await talk.answer("", **persisted(EVENTS))
    assert refused["error"][0]["extensions"]["code"] == "PERSISTED_QUERY_NOT_FOUND"
    for payload in (persisted(EVENTS, query=EVENTS), {"documentId": f"sha256:{digest(EVENTS)}"}):
        await talk.say(id="1", type="subscribe", payload=payload)
        await services.events.put(Event(number=1, text=""))
        assert (await talk.receive())["payload"] == {"data": {"events": {"number": 1}}}
        await services.events.put(None)
        assert await talk.receive() == {"id": "1", "type": "complete"}


async def test_in_an_event_stream(client: Client, services: PlainServices) -> None:
    """An event stream begins with a hash, and says in an event when the hash is unknown."""
    headers = {"Accept": EVENT_STREAM}
    unknown = await client.post("/graphql", json=persisted(EVENTS), headers=headers)
    assert unknown.status == 200
    assert "PERSISTED_QUERY_NOT_FOUND" in (await unknown.text())
    for body in (persisted(EVENTS, query=EVENTS), persisted(EVENTS)):
        await services.events.put(Event(number=2, text=""))
        await services.events.put(None)
        response = await client.post("/graphql", json=body, headers=headers)
        assert 'event: next\ndata: {"data":{"events":{"number":2}}}' in await response.text()
