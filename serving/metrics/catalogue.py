"""Every metric: its name, its meaning, its labels and where its value comes from."""

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass

from schema.execution.plans import Planner
from serving.overload.shedding import Shedder
from store.client.health import Health
from store.client.metering import Meter

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)  # bounds of histograms


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric as Prometheus shows it."""

    name: str  # without the suffix `_total`, which counters get
    kind: str  # counter, gauge or histogram
    meaning: str
    labels: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The name under which Prometheus stores it."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


@dataclass(frozen=True, slots=True)
class MetricSources:
    """What the counts and gauges of a process are read from."""

    meter: Meter
    planner: Planner | None = None  # None in a process that executes no operations by plan
    connections: Sized = ()  # websockets and event streams
    shedder: Shedder | None = None  # None in a process that answers no requests


def _counter(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(f"perch_{name}", "counter", meaning, labels)


def _gauge(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(f"perch_{name}", "gauge", meaning, labels)


def _histogram(name: str, meaning: str, *labels: str) -> Metric:
    return Metric(f"perch_{name}", "histogram", meaning, labels)


OPERATIONS = _counter(
    "operations",
    "operations that have ended; `outcome` is `ok` or the code of the first error",
    "operation",
    "outcome",
)
OPERATION_SECONDS = _histogram("operation_seconds", "time of a query or mutation until it is answered, s", "operation")
OPERATION_ROUND_TRIPS = _counter("operation_round_trips", "round trips to the store of operations", "operation")
OPERATION_COMMANDS = _counter("operation_commands", "commands that operations have sent to the store", "operation")
LOOP_DELAY = _histogram("event_loop_delay_seconds", "delay of a timer of the event loop, ten times a second, s")
SUBSCRIPTIONS = _gauge("subscriptions", "subscriptions that are running")

# Of a metric with labels, by the label or labels.
Counted = float | Mapping[str, int] | Mapping[tuple[str, str], int]
COUNTS: Mapping[Metric, Callable[[MetricSources], Counted]] = {
    _counter("store_round_trips", "round trips to the store, of operations and of all else"): lambda s: (
        s.meter.round_trips
    ),
    _counter("store_commands", "commands sent to the store"): lambda s: s.meter.commands,
    _counter("cache_hits", "values found in the cache of the process"): lambda s: s.meter.cache_hits,
    _counter("cache_reads", "values that the cache had to read from the store"): lambda s: s.meter.cache_reads,
    _counter("cached_answers", "queries that were answered with a cached answer"): lambda s: s.meter.answers,
    _counter("cache_invalidations", "changed keys that the store has reported"): lambda s: s.meter.invalidations,
    _counter("cache_clearings", "times that the whole cache was dropped"): lambda s: s.meter.clearings,
    _counter("plans", "operations that were begun by plan"): lambda s: s.planner.runs if s.planner else 0,
    _counter("plan_fallbacks", "of these, operations that graphql-core had to execute"): lambda s: (
        s.planner.given_up if s.planner else 0
    ),
    _counter("fanout_followers", "followers whose homes a delivery has reached"): lambda s: s.meter.followers,
    _counter("events", "events of the event log that the process has handed out"): lambda s: s.meter.events,
    _counter("event_gaps", "gaps reported to subscribers, who were too slow or came too late"): lambda s: s.meter.gaps,
    _counter("images", "pictures that were processed"): lambda s: s.meter.images,
    _counter("image_seconds", "time that the processing of pictures has taken, s"): lambda s: s.meter.image_seconds,
    _counter(
        "jobs", "attempts at jobs; `outcome` is `done`, `more`, `later` or `failed`", "kind", "outcome"
    ): lambda s: s.meter.jobs,
    _counter("refusals", "refusals; `limit` is the setting that refused", "limit"): lambda s: s.meter.refusals,
    _counter(
        "shed",
        "requests refused because the process had too much to do; `kind` is `anonymous`, `stream`, `read` or `write`",
        "kind",
    ): lambda s: s.meter.shed,
    _counter("uploads", "uploads that have ended; `outcome` is `ready` or why it failed", "outcome"): lambda s: (
        s.meter.uploads
    ),
    _counter("media_requests", "requests for pictures; `outcome` is `sent`, `redirected` or `refused`", "outcome"): (
        lambda s: s.meter.media
    ),
}

GAUGES: Mapping[Metric, Callable[[MetricSources], float]] = {
    _gauge("sockets", "open websockets and event streams"): lambda s: len(s.connections),
    _gauge("requests", "requests that are being answered, subscriptions excepted"): lambda s: (
        s.shedder.running if s.shedder else 0
    ),
    _gauge("request_limit", "requests that may be answered at a time; it falls while the process has too much to do"): (
        lambda s: s.shedder.controller.limit if s.shedder else 0
    ),
}

# Of the site, read from the store whenever the page is read.
JOBS_WAITING = _gauge("jobs_waiting", "unfinished jobs that are not dead")
JOBS_OLDEST = _gauge("jobs_oldest_seconds", "age of the oldest of these jobs, s; 0 without one")
JOBS_DEAD = _gauge("jobs_dead", "jobs set aside after too many failures")
NEWEST_ID = _gauge("newest_id_ahead_seconds", "by how much the newest id is ahead of the machine's clock, s; else 0")
STORE_UP = _gauge("store_up", "1 if the node of the store answers, else 0", "node")
STORE_WRITABLE = _gauge("store_writable", "1 if the node answers and accepts writes, else 0", "node")
STORE_STATE = _gauge(
    "store_state", "1; `state` keeps the node from answering or from writes, or is `OK`", "node", "state"
)
STORE_MEMORY = _gauge("store_memory_bytes", "memory that the node uses, bytes", "node")
STORE_MEMORY_LIMIT = _gauge(
    "store_memory_limit_bytes", "memory that the node may use: its `maxmemory`, or else its machine's, bytes", "node"
)
STORE_SECONDS = _gauge("store_latency_seconds", "time until the node has answered one command, s", "node")
STORE_CLOCK = _gauge(
    "store_clock_ahead_seconds", "by how much the node's clock is ahead of the machine's, s; below 0 if behind", "node"
)

OF_OPERATIONS = (OPERATIONS, OPERATION_SECONDS, OPERATION_ROUND_TRIPS, OPERATION_COMMANDS)
OF_SITE = (JOBS_WAITING, JOBS_OLDEST, JOBS_DEAD, NEWEST_ID)
OF_NODES: Mapping[Metric, Callable[[Health], float | None]] = {
    STORE_UP: lambda node: node.reads,
    STORE_WRITABLE: lambda node: node.reads and not node.state,
    STORE_STATE: lambda _: 1,
    STORE_MEMORY: lambda node: node.memory,
    STORE_MEMORY_LIMIT: lambda node: node.memory_limit,
    STORE_SECONDS: lambda node: node.seconds if node.reads else None,
    STORE_CLOCK: lambda node: node.clock,
}
ALL = (*OF_OPERATIONS, *COUNTS, *GAUGES, SUBSCRIPTIONS, LOOP_DELAY, *OF_SITE, *OF_NODES)


def metrics_table() -> str:
    """Return the documentation's table of all metrics, in Markdown."""
    rows = ["| metric | kind | labels | meaning |", "|---|---|---|---|"]
    for one in ALL:
        labels = ", ".join(f"`{label}`" for label in one.labels)
        rows.append(f"| `{one.shown}` | {one.kind} | {labels} | {one.meaning} |")
    return "\n".join(rows)
