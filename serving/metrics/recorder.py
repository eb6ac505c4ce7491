"""Measures the operations of a process, and brings its other counts to where the page of metrics finds them."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any

import prometheus_client
from graphql import GraphQLError
from prometheus_client import CollectorRegistry, Gauge, Histogram

from serving.metrics import catalogue, page, sharing
from serving.metrics.catalogue import Counted, Metric, MetricSources
from serving.observing import NoRecorder, Observed, code_of
from store.client.background import BACKGROUND
from store.client.database import Database
from store.client.metering import METER, WORK
from store.client.tasks import stop

NAMES_KEPT = 100  # Names of operations that become labels, unless clients may only execute trusted documents.
NAME_MOST = 100  # Characters of a name that becomes a label.
NAMELESS, OTHER = "(none)", "(other)"
# Operations that are counted together, from the caches of the processor. That halves what metrics cost.
COUNTED_TOGETHER = 100
TICK_SECONDS = 0.1  # Between two measurements of the event loop's delay.
LATEST_COLLECTION = 50  # Ticks after which a collection gives way to requests no longer.
TICKS_PER_COLLECTION = 10  # So the counts of a process that is killed lack its last second.


class PrometheusRecorder:
    """Measures operations."""

    def __init__(self, sources: MetricSources, *, all_names: bool) -> None:
        self.registry = registry = CollectorRegistry()
        self._sources = sources
        self._most = None if all_names else NAMES_KEPT
        operations: list[Any] = [_made(metric, registry) for metric in catalogue.OF_OPERATIONS]
        self._operations, self._all_seconds, self._round_trips, self._commands = operations
        self._seconds: dict[str, Any] = {}  # The histograms by the names of operations.
        self._ended: list[Observed] = []  # Operations that are still to be counted.
        self._subscriptions: Any = _made(catalogue.SUBSCRIPTIONS, registry)
        self._delay: Any = _made(catalogue.LOOP_DELAY, registry)
        self._gauges = {_made(metric, registry): read for metric, read in catalogue.GAUGES.items()}
        self._counts = [_Rising(_made(metric, registry), read(sources)) for metric, read in catalogue.COUNTS.items()]

    # ------------------------------------------------------------ operations

    def start(self, traceparent: str = "", peer: str | None = None) -> Observed:  # noqa: ARG002  the protocol has it
        observed = Observed(began=time.perf_counter())
        WORK.set(observed)
        return observed

    def begin(self, observed: Observed) -> None:
        if observed.is_subscription:
            self._subscriptions.inc()

    def end(self, observed: Observed) -> None:
        if observed.is_subscription:
            self._subscriptions.dec()
        else:
            observed.seconds = time.perf_counter() - observed.began
        if observed.error is not None and (limit := _limit(observed.error)):
            METER.refusals[limit] += 1
        self._ended.append(observed)
        if len(self._ended) >= COUNTED_TOGETHER:
            self._count_ended()

    def _count_ended(self) -> None:
        ended, self._ended = self._ended, []
        outcomes: Counter[tuple[str, str]] = Counter()
        round_trips: Counter[str] = Counter()
        commands: Counter[str] = Counter()
        for observed in ended:
            name = self._name(observed)
            outcomes[name, code_of(observed.error)] += 1
            round_trips[name] += observed.round_trips
            commands[name] += observed.commands
            if not observed.is_subscription:
                self._seconds[name].observe(observed.seconds)
        for labels, count in outcomes.items():
            self._operations.labels(*labels).inc(count)
        for name in round_trips:
            self._round_trips.labels(name).inc(round_trips[name])
            self._commands.labels(name).inc(commands[name])

    def _name(self, observed: Observed) -> str:
        """Return the label of an operation. Only one that was executed may add a new label."""
        operation = observed.operation
        name = NAMELESS if operation is None or operation.name is None else operation.name.value
        if name not in self._seconds:
            is_full = self._most is not None and len(self._seconds) >= self._most
            if name != NAMELESS and (is_full or len(name) > NAME_MOST or _is_refused(observed.error)):
                name = OTHER
            if name not in self._seconds:
                self._seconds[name] = self._all_seconds.labels(name)
        return name

    # ------------------------------------------------------------ everything else

    async def run(self) -> None:
        """Measure the event loop's delay and collect counts, until cancelled."""
        loop, ticks = asyncio.get_running_loop(), 0
        while True:
            due = loop.time() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            self._delay.observe(max(loop.time() - due, 0.0))
            self._count_ended()
            ticks += 1
            if ticks >= (LATEST_COLLECTION if BACKGROUND.must_wait else TICKS_PER_COLLECTION):
                self.collect()
                ticks = 0

    def collect(self) -> None:
        """Bring the counts of the process to where the page finds them."""
        self._count_ended()
        for count, read in zip(self._counts, catalogue.COUNTS.values(), strict=True):
            count.rise(read(self._sources))
        for gauge, read_gauge in self._gauges.items():
            gauge.set(read_gauge(self._sources))


@contextlib.asynccontextmanager
async def measuring(db: Database, recorder: PrometheusRecorder | NoRecorder) -> AsyncIterator[None]:
    """Measure this process, and serve its metrics unless its parent does that for all."""
    if isinstance(recorder, NoRecorder):
        yield
        return
    running_on = asyncio.create_task(recorder.run())
    try:
        if sharing.is_shared():
            yield
        else:
            async with page.served(db, recorder.registry, recorder.collect):
                yield
    finally:
        await stop(running_on)
        recorder.collect()


def of_worker(db: Database) -> contextlib.AbstractAsyncContextManager[None]:
    """Measure a process that only does deferred work. Its operations, plans and connections stay zero."""
    return measuring(db, PrometheusRecorder(MetricSources(METER), all_names=False))


class _Rising:
    """A counter that follows a number which only rises, or several by their labels."""

    def __init__(self, counter: Any, now: Counted) -> None:
        self._counter = counter
        self._last = _by_labels(now)

    def rise(self, now: Counted) -> None:
        counts = _by_labels(now)
        for labels, count in counts.items():
            risen = count - self._last.get(labels, 0)
            if risen:
                (self._counter.labels(*labels) if labels else self._counter).inc(risen)
        self._last = counts


def _by_labels(counts: Counted) -> dict[tuple[str, ...], float]:
    if not isinstance(counts, Mapping):
        return {(): counts}
    return {label if isinstance(label, tuple) else (label,): count for label, count in counts.items()}


def _made(metric: Metric, registry: CollectorRegistry) -> Any:
    if metric.kind == "histogram":
        return Histogram(metric.name, metric.meaning, metric.labels, registry=registry, buckets=catalogue.SECONDS)
    if metric.kind == "gauge":
        return Gauge(metric.name, metric.meaning, metric.labels, registry=registry, multiprocess_mode="livesum")
    return prometheus_client.Counter(metric.name, metric.meaning, metric.labels, registry=registry)


def _limit(error: GraphQLError) -> str:
    return getattr(error, "limit", "") or getattr(error.original_error, "limit", "")


def _is_refused(error: GraphQLError | None) -> bool:
    return error is not None and error.path is None
