"""Trusted documents: with a manifest, a server executes its documents and no others."""

import json
from hashlib import md5, sha256
from pathlib import Path
from typing import Any

import pytest
from pytest_aiohttp import AiohttpClient

from store.settings import Settings
from store.settings.declaring import SettingError
from tests.support.transport import clients
from tests.support.transport.clients import EVENT_STREAM, EVENTS, GRAPHQL, Client, Connect, first_code
from tests.support.transport.small import Event, PlainServices, small_schema

connect = clients.connect
services = clients.services

SQUARE = "query Square($n: Int!) { square(number: $n) }"
BY_RELAY = md5(SQUARE.encode(), usedforsecurity=False).hexdigest()
SHA256 = sha256(EVENTS.encode()).hexdigest()
BY_CODEGEN = f"sha256:{SHA256}"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Write a manifest with an entry as relay-compiler writes it, and one as graphql-codegen does."""
    file = tmp_path / "persisted.json"
    file.write_text(json.dumps({BY_RELAY: SQUARE, BY_CODEGEN: EVENTS}), encoding="utf-8")
    return file


@pytest.fixture
async def client(services: PlainServices, aiohttp_client: AiohttpClient, manifest: Path) -> Client:
    return await aiohttp_client(services.app(trusted_documents=str(manifest)))


async def send(client: Client, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    response = await client.post("/graphql", json=body, headers={"Accept": GRAPHQL})
    return response.status, await response.json(content_type=None)


@pytest.mark.parametrize(
    "named",
    [
        {"documentId": BY_RELAY},
        {"doc_id": BY_RELAY},
        {"documentId": f"sha256:{sha256(SQUARE.encode()).hexdigest()}"},
        {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": sha256(SQUARE.encode()).hexdigest()}}},
        {"query": SQUARE},
    ],
    ids=["documentId", "doc_id", "sha256", "persistedQuery", "query"],
)
async def test_a_trusted_document_is_executed(client: Client, named: dict[str, Any]) -> None:
    """A document of the file is executed, by its id there, by its SHA-256, or sent as it is."""
    assert await send(client, {**named, "variables": {"n": 6}}) == (200, {"data": {"square": 36}})


@pytest.mark.parametrize(
    "sent",
    [
        {"query": "{ square }"},
        {"query": f"{SQUARE} "},
        {"query": "{ __schema { queryType { name } } }"},
        {"documentId": "unknown"},
        {"documentId": "unknown", "query": "{ square }"},
        {
            "query": "{ square }",
            "extensions": {
                "persistedQuery": {"version": 1, "sha256Hash": sha256(b"{ square }").hexdigest()},
            },
        },
    ],
    ids=["query", "space", "introspection", "id", "id and query", "persistedQuery"],
)
async def test_all_else_is_refused(client: Client, sent: dict[str, Any], services: PlainServices) -> None:
    """Any other document is refused before anything is read, however often it is sent."""
    for _ in range(2):
        status, body = await send(client, sent)
        assert (status, first_code(body)) == (400, "DOCUMENT_NOT_TRUSTED")
    assert services.closed == []


async def test_streams(client: Client, connect: Connect, services: PlainServices, manifest: Path) -> None:
    """Websockets and event streams execute trusted documents only."""
    await services.events.put(Event(number=3, text=""))
    await services.events.put(None)
    response = await client.post("/graphql", json={"documentId": SHA256}, headers={"Accept": EVENT_STREAM})
    assert '{"data":{"events":{"number":3}}}' in await response.text()
    talk = await (await connect(trusted_documents=str(manifest))).greet()
    assert (await talk.answer("{ square }"))["error"][0]["extensions"]["code"] == "DOCUMENT_NOT_TRUSTED"
    assert await talk.answer("", documentId=BY_RELAY, variables={"n": 2}) == {"next": {"data": {"square": 4}}}


async def test_no_explorer(client: Client) -> None:
    """GraphiQL could execute nothing, so its address says that it is off."""
    response = await client.get("/graphql", headers={"Accept": "text/html"})
    assert first_code(await response.json(content_type=None)) == "DOCUMENT_NOT_TRUSTED"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "no such file or directory"),
        (b"\xff", "it must be UTF-8"),
        (b"{", "it is not valid JSON"),
        (b"[]", "it must be a JSON object of ids and documents, not an array"),
        (b"{}", "it must be a JSON object of ids and documents, not an empty one"),
        (b'{"a": 1}', "the document 'a' must be a string, not a number"),
        (b'{"": "{ square }"}', "a document has an empty id"),
        (b'{"a": "{ square }", "b": "{"}', "the document 'b': Syntax Error"),
        (b'{"a": "{ nothing }"}', "the document 'a': Cannot query field 'nothing' on type 'Query'."),
        (json.dumps({str(n): "{ nothing }" for n in range(5)}).encode(), "; and 2 more"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, content: bytes | None, reason: str) -> None:
    """A file that is missing, is no manifest or has an invalid document stops the server with the reason."""
    file = tmp_path / "persisted.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingError) as refused:
        small_schema(Settings(trusted_documents=str(file)))
    assert str(refused.value).startswith(f"TRUSTED_DOCUMENTS={file}: ")
    assert reason in str(refused.value)
