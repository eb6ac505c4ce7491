"""The export of traces to a collector."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1 import trace_pb2

from serving.running import StartError
from serving.tracing import exporting, messages
from serving.tracing.exporting import exported
from store.client.database import Database
from store.client.tracing import Span, SpanKind
from store.settings import Settings
from store.settings.declaring import SettingError
from tests.support.people import Member
from tests.support.servers import lines
from tests.support.servers.processes import perch, visiting
from tests.support.spans import CALLER, TRACE

PATH = "/v1/traces"
NOBODY = "http://127.0.0.1:9/v1/traces"  # nothing listens on this port


class Collector:
    """A collector of traces that remembers what it was sent."""

    def __init__(self) -> None:
        self.spans: list[trace_pb2.Span] = []
        self.services: set[str] = set()
        self.headers: set[str | None] = set()
        self.status = 200
        app = web.Application()
        app.router.add_post(PATH, self._take)
        self.server = TestServer(app)

    async def _take(self, request: web.Request) -> web.Response:
        sent = ExportTraceServiceRequest.FromString(await request.read())
        self.headers.add(request.headers.get("authorization"))
        for resource in sent.resource_spans:
            facts = {fact.key: fact.value.string_value for fact in resource.resource.attributes}
            self.services.add(facts["service.name"])
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return web.Response(status=self.status)

    @property
    def url(self) -> str:
        return str(self.server.make_url(PATH))


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    made = Collector()
    await made.server.start_server()
    yield made
    await made.server.close()


@pytest.fixture
async def to_collector(settings: Settings, collector: Collector) -> AsyncIterator[Database]:
    """A database of a process that sends its spans to the collector."""
    header = "authorization=Basic Ym9iOg=="
    chosen = replace(settings, traces_url=collector.url, traces_headers=(header,), traces_service="site")
    made = Database(settings.redis_url, chosen)
    yield made
    await made.close()


async def test_message(to_collector: Database, collector: Collector) -> None:
    """A collector gets each part of a span as OpenTelemetry has it, with the headers and the name of the settings."""
    async with exported(to_collector):
        assert to_collector.take_span
        facts: dict[str, str | int] = {"name": "Home", "round_trips": 2}
        span = Span(SpanKind.OPERATION, "query", to_collector.take_span, TRACE, CALLER, facts=facts, error="INTERNAL")
        span.end()
        span.child(SpanKind.SCRIPT, "mint").end()
    assert to_collector.take_span is None
    first, second = collector.spans
    assert (first.name, first.kind, first.status.code) == (
        "query",
        first.SPAN_KIND_SERVER,
        first.status.STATUS_CODE_ERROR,
    )
    assert (int.from_bytes(first.trace_id), int.from_bytes(first.parent_span_id)) == (TRACE, CALLER)
    assert (first.start_time_unix_nano, first.end_time_unix_nano) == (span.began, span.ended)
    assert {fact.key: fact.value.string_value or fact.value.int_value for fact in first.attributes} == {
        "graphql.operation.name": "Home",
        "perch.round_trips": 2,
    }
    assert (second.name, second.trace_id, second.parent_span_id) == ("mint", first.trace_id, first.span_id)
    assert (collector.services, collector.headers) == ({"site"}, {"Basic Ym9iOg=="})


async def test_batches(to_collector: Database, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans that do not fit into one request are sent in several, and those that too many wait before are dropped."""
    monkeypatch.setattr(exporting, "BATCH", 2)
    monkeypatch.setattr(exporting, "WAITING_MOST", 5)
    with lines.written("WARNING") as text:
        async with exported(to_collector):
            assert to_collector.take_span
            for number in range(7):
                Span(SpanKind.JOB, str(number), to_collector.take_span, TRACE).end()
    assert [span.name for span in collector.spans] == ["0", "1", "2", "3", "4"]
    (line,) = lines.read(text)
    assert (line["event"], line["spans"], line["reason"]) == ("spans_dropped", 2, "too many wait")


@pytest.mark.parametrize("is_refusing", [False, True])
async def test_collector_away(to_collector: Database, collector: Collector, is_refusing: bool) -> None:
    """A collector that is away or refuses stops nobody: its spans are dropped, and one record says so."""
    if is_refusing:
        collector.status = 503
    else:
        to_collector.settings = replace(to_collector.settings, traces_url=NOBODY)
    with lines.written("WARNING") as text:
        async with asyncio.timeout(5), exported(to_collector):
            assert to_collector.take_span
            Span(SpanKind.JOB, "post", to_collector.take_span, TRACE).end()
    (line,) = lines.read(text)
    assert (line["event"], line["spans"]) == ("spans_dropped", 1)


async def test_process(tmp_path: Path, collector: Collector) -> None:
    """A server process sends its spans to the collector of TRACES_URL, the last ones when it ends."""
    async with perch(tmp_path, "serve", traces_url=collector.url, traces_percent=100) as running:
        async with visiting(await running.url()) as anonymous:
            await Member(anonymous.client).send("query Traced { publicTimeline(first: 1) { nodes { __typename } } }")
        await running.stop()
    assert {"query", "round trip"} <= {span.name for span in collector.spans}
    assert collector.services == {"perch"}


async def test_not_installed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, TRACES_URL is refused with what to install."""
    monkeypatch.delattr("serving.tracing.messages", raising=False)
    monkeypatch.setitem(sys.modules, "serving.tracing.messages", None)
    db = Database(settings.redis_url, replace(settings, traces_url=NOBODY))
    with pytest.raises(StartError, match=r"pip install 'perch\[tracing\]'"):
        async with exported(db):
            pass
    await db.close()


@pytest.mark.parametrize("url", ["collector:4318", "ftp://collector/v1/traces", "http://collector:4318", "http:///v1"])
def test_wrong_urls(url: str) -> None:
    """TRACES_URL has to be a URL of HTTP with a path."""
    with pytest.raises(SettingError, match="TRACES_URL"):
        Settings.from_environment({"TRACES_URL": url})


@pytest.mark.parametrize("headers", ["authorization", "=x", "a b=c", "authorization=x\ny"])
def test_wrong_headers(headers: str) -> None:
    """TRACES_HEADERS has to be names and values that HTTP allows; the refusal does not repeat them."""
    with pytest.raises(SettingError, match="TRACES_HEADERS must be headers such as authorization=Basic dXNlcg=="):
        Settings.from_environment({"TRACES_HEADERS": headers})


def test_long_messages() -> None:
    """A collector reads spans whose messages need one, two and three bytes for their lengths."""
    for length in (1, 60, 100, 200, 20_000, 70_000):
        span = Span(SpanKind.ROUND_TRIP, "x" * length, list[Span]().append, TRACE, facts={"count": 2**40})
        body = messages.encoded([span], messages.resource("perch"))
        ((scope,),) = (one.scope_spans for one in ExportTraceServiceRequest.FromString(body).resource_spans)
        (found,) = scope.spans
        assert (found.name, found.attributes[0].value.int_value, scope.scope.name) == (span.name, 2**40, "perch")
