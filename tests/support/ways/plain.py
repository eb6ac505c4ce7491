"""The two ways over the small schema, which needs no store."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from serving.http.app import DOOR
from tests.support.spans import Spans
from tests.support.transport.raw import Site, serving
from tests.support.transport.small import Event, PlainServices, logged
from tests.support.ways.bodies import Asked
from tests.support.ways.cases import Case
from tests.support.ways.way import Lines, Record, Seen, Way, counting_arrivals

DEEP = "{ items { nodes " + "{ children " * 30 + "{ name }" + " }" * 30 + " } }"
FOLLOW = "mutation Follow($ids: [ID!]!) { follow(input: { userIds: $ids }) { name } }"
ECHO = "query Echo($text: String!) { echo(text: $text) }"
TWO = 'query A { square } query B { echo(text: "b") } mutation C { follow(input: { userIds: [] }) { name } }'
DOCUMENTS = (
    Asked("{ square }"),
    Asked("{ square }"),
    Asked("query Square($n: Int) { square(number: $n) }", {"n": 3}, "Square"),
    Asked("query Square($n: Int) { square(number: $n) }", {"n": "3"}),
    Asked(ECHO, {"text": "ü😀 \u2028 </script>"}),
    Asked(ECHO, {"text": "\ud800"}),
    Asked(ECHO, {}),
    Asked(ECHO, {"text": "x" * 3_000}),
    Asked(TWO, {}, "A"),
    Asked(TWO, {}, "B"),
    Asked(TWO, {}, "C"),
    Asked(TWO, {}, "D"),
    Asked(TWO),
    Asked("{ viewer whence requestId }"),
    Asked("query Whence { whence requestId viewer }", {}, "Whence"),
    Asked("{ broken }"),
    Asked("query Broken { brokenPromise }"),
    Asked("{ misfit bare refused square }"),
    Asked("query Fatal { fatal }"),
    Asked(FOLLOW, {"ids": ["1", 2]}, "Follow"),
    Asked(FOLLOW, {"ids": "1"}),
    Asked(FOLLOW, {"ids": None}),
    Asked("subscription { events { number } }"),
    Asked("subscription Events { events { number text contextNumber } }", {}, "Events"),
    Asked("{ nope }"),
    Asked("{ square"),
    Asked("query { square(number: 1.5) }"),
    Asked("fragment F on Query { square } { ...F }"),
    Asked(DEEP),
    Asked("{ " + " ".join(f"a{n}: square" for n in range(40)) + " }"),
    Asked("{ items(first: 1000000) { nodes { name } } }"),
    Asked("query Long" + "g" * 200 + " { square }"),
    Asked("{ __typename __schema { queryType { name } } }"),
    Asked("#" + "x" * 2_000 + "\n{ square }"),
)
AUTHORIZATIONS = (b"Bearer alice-phone",) * 80 + (
    b"bearer  bob-phone",
    b"Bearer bob-",
    b"Bearer nobody",
    b"Bearer",
    b"alice-phone",
    b"Basic YTpi",
    b"Bearer alice-phone, Bearer bob-phone",
    b"",
    b"Bearer \xff",
    b"Bearer alice-phone ",
)
STRICT: dict[str, Any] = {
    "max_body": 4_096,
    "cors_origins": ("https://app.example",),
    "trusted_proxies": ("127.0.0.9/32",),
    "metrics_port": 1,  # nothing listens there: the page of metrics is not served
    "store_patience_ms": 100,
    "traces_percent": 100,
}
WIDE: dict[str, Any] = {"cors_origins": ("*",), "overload_delay_ms": 0, "traces_percent": 0}


class Moments:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class OneEach:
    """A queue of events in which each subscriber finds one event and the end."""

    is_end: bool = True

    async def get(self) -> Event | None:
        self.is_end = not self.is_end
        return None if self.is_end else Event(number=1, text="x")


class PlainWay(Way):
    """A way over the small schema."""

    def __init__(self, site: Site, services: PlainServices, spans: Spans, lines: Lines) -> None:
        super().__init__(site, spans, services.contexts, lines)
        self._services = services
        self._shedder.clock = self._clock = Moments()

    async def send(self, case: Case) -> Seen:
        self._clock.now += 1  # with the next request, the gate looks at how long the store is silent
        self._services.silence = case.silence
        seen = await super().send(case)
        self._services.closed.clear()
        return seen


class PlainWays:
    """Both ways over the small schema, under some settings."""

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    async def record(self, cases: Sequence[Case], *, is_lean: bool) -> Record:
        """Serve in one of the ways, and return what was observed."""
        services, spans = PlainServices(), Spans()
        services.events = cast("Any", OneEach())
        with logged() as lines, counting_arrivals():
            async with serving(services, take_span=spans.keep, **self._settings) as site:
                site.app[DOOR].lean = is_lean
                return await PlainWay(site, services, spans, lines).record(cases, _nothing)


async def _nothing() -> list[str]:
    return []
