"""Log records of traced and of slow operations."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from resolvers.operation.context import Context
from resolvers.process.services import Services
from schema.execution.operations import Schema
from serving.http.app import create_app
from store.client.tracing import Parent, read_parent
from tests.support.people import Member, sign_up
from tests.support.servers import lines
from tests.support.spans import CALLER, NOT_SAMPLED, SAMPLED, TRACE, Spans
from tests.support.transport.live import watching

SECRET_TEXT = "nobody may read this in a log"
HOME_PAGE = "query Home { mine: homeTimeline(first: 5) { edges { node { ... on Post { author { login } } } } } }"


@pytest.fixture
async def slow(services: Services, built: Schema) -> AsyncIterator[TestClient[web.Request, web.Application]]:
    """An application that takes every operation for slow, and traces nothing."""
    services.settings = replace(services.settings, slow_operation_ms=1)
    async with TestClient(TestServer(create_app(built, services, Context))) as made:
        yield made


async def test_trace_id(spans: Spans, alice: Member) -> None:
    """The record of a traced request has the id of its trace, and no later record of the connection has it."""
    spans.take()
    with lines.written("INFO") as text:
        await alice.send(HOME_PAGE)
        await alice.client.get("/graphql?query={__typename}")
        await alice.client.get("/nothing")
    traces = {f"{span.trace:032x}" for span in spans.take()}
    first, second, third = (line.get("trace_id") for line in lines.read(text))
    assert {first, second} == traces
    assert first != second
    assert third is None


async def test_callers_trace_id(spans: Spans, alice: Member) -> None:
    """The record of a request has the caller's trace id."""
    spans.take()
    alice.headers = NOT_SAMPLED
    with lines.written("INFO") as text:
        await alice.send(HOME_PAGE)
    (line,) = lines.read(text)
    assert line["trace_id"] == f"{TRACE:032x}"
    assert all(span.id != CALLER for span in spans.take())


async def test_slow_operation(slow: TestClient[web.Request, web.Application], monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow operation is logged with its plan and its round trips, without texts of clients, and without tracing."""
    monkeypatch.setattr("store.client.tracing.Span.ms", 5.0)
    alice = await sign_up(Member(slow), "alice")
    await alice.post(SECRET_TEXT)
    with lines.written("WARNING") as text:
        await alice.send(HOME_PAGE)
    (line,) = lines.read(text)
    assert (line["event"], line["operation"], line["ms"], line["outcome"]) == ("slow_operation", "Home", 5.0, "ok")
    assert line["round_trips"] == len(line["first_round_trips"]) >= 1
    assert line["commands"] >= line["round_trips"]
    assert "Query.homeTimeline: for each" in line["plan"]
    assert "Status.author: batched" in line["plan"]
    assert SECRET_TEXT not in text.getvalue()
    assert "mine" not in text.getvalue()  # an alias is a text of a client
    assert "trace_id" not in line


async def test_fast_operations_and_subscriptions(
    slow: TestClient[web.Request, web.Application], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operation below the limit is not logged as slow, nor is a subscription, however long it lasts."""
    alice = await sign_up(Member(slow), "alice")
    with lines.written("WARNING") as text:
        monkeypatch.setattr("store.client.tracing.Span.ms", 0.9)
        await alice.send(HOME_PAGE)
        monkeypatch.setattr("store.client.tracing.Span.ms", 5.0)
        async with watching(alice, services.db):
            pass
    assert lines.read(text) == []


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        SAMPLED["traceparent"].upper(),
        SAMPLED["traceparent"] + "-00",
        SAMPLED["traceparent"].replace("00-", "ff-", 1),
        f"00-{0:032x}-{CALLER:016x}-01",
        f"00-{TRACE:032x}-{0:016x}-01",
        f"00-{TRACE:032x}-{CALLER:016x}-0g",
    ],
)
def test_malformed_parents(header: str) -> None:
    """A `traceparent` that the standard does not allow names nothing."""
    assert read_parent(header) is None


def test_parents() -> None:
    """A `traceparent` of any version names its trace and span, and says whether these are recorded."""
    assert read_parent(SAMPLED["traceparent"]) == Parent(TRACE, CALLER, is_sampled=True)
    assert read_parent(NOT_SAMPLED["traceparent"]) == Parent(TRACE, CALLER, is_sampled=False)
    assert read_parent(f"01-{TRACE:032x}-{CALLER:016x}-03-more") == Parent(TRACE, CALLER, is_sampled=True)
