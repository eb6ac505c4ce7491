"""Watches operations that are traced, and logs slow ones."""

import random
from collections.abc import Callable
from functools import partial

import structlog
from graphql import OperationDefinitionNode

from serving.observing import Observed, Recorder, Watch, code_of
from store.client.metering import WORK
from store.client.tracing import SPAN, Parent, Span, SpanKind, Take, log_trace, new_trace, read_parent
from store.settings import Settings

NAME_MOST = 100  # Characters of an operation's name in a span.
UNREAD = "operation"  # The name of an operation's span until its document was read. Then it is the operation's type.
ROUND_TRIPS_LOGGED = 20  # First round trips of a slow operation.
FAULTS = {"INTERNAL", "SERVICE_UNAVAILABLE"}  # Outcomes that make a span an error. Others are the client's doing.

Explain = Callable[[OperationDefinitionNode], list[str]]
Trusts = Callable[[str | None], bool]

log = structlog.get_logger(__name__)


class WatchingRecorder:
    """Decides which operations are traced, and tells the recorder of metrics of all."""

    def __init__(
        self, metrics: Recorder, settings: Settings, explain: Explain, trusts: Trusts, take: Take | None
    ) -> None:
        """Watch operations. `take` gets the spans of those that are traced; without it, none is.

        `explain` returns the plan of an operation. `trusts` says whether the other end of a connection is a proxy that
        may decide what is traced.
        """
        self._metrics = metrics
        self._explain = explain
        self._take = take
        self._share = settings.traces_percent / 100
        self._slow_ms = settings.slow_operation_ms
        self._trusts = trusts

    def start(self, traceparent: str = "", peer: str | None = None) -> Observed:
        observed = self._metrics.start()
        trace, parent = self._trace(traceparent, peer) if self._take else (0, 0)
        if trace or self._slow_ms:
            self._watch(observed, trace, parent)
        return observed

    def begin(self, observed: Observed) -> None:
        self._metrics.begin(observed)
        if observed.watch and observed.is_subscription:
            SPAN.set(None)  # its events go on for hours; metrics count them

    def end(self, observed: Observed) -> None:
        self._metrics.end(observed)
        if observed.watch is None:
            return
        SPAN.set(None)  # the next request of the connection runs in the same context
        WORK.set(None)
        span, outcome = observed.watch.span, code_of(observed.error)
        span.facts = {"round_trips": observed.round_trips, "outcome": outcome}
        if observed.operation is not None:
            span.name = observed.operation.operation.value
            if observed.operation.name:
                span.facts["name"] = observed.operation.name.value[:NAME_MOST]
        span.error = outcome if outcome in FAULTS else ""
        span.end()
        if self._slow_ms and span.ms >= self._slow_ms and not observed.is_subscription:
            self._log(observed, observed.watch)
        observed.watch.round_trips.clear()  # each refers back to the list

    def _trace(self, traceparent: str, peer: str | None) -> tuple[int, int]:
        """Return the trace of a request and the span that it belongs to; zeros where it is not traced.

        A client decides only if it is a trusted proxy. Else anybody could have all requests traced.
        """
        parent = read_parent(traceparent) if traceparent else None
        if parent is None:
            return (new_trace() if self._is_chosen() else 0), 0
        log_trace(parent.trace)
        decided = parent if self._trusts(peer) else None
        return (parent.trace, parent.span) if self._is_chosen(decided) else (0, 0)

    def _is_chosen(self, parent: Parent | None = None) -> bool:
        return random.random() < self._share if parent is None else parent.is_sampled  # noqa: S311  keeps no secret

    def _watch(self, observed: Observed, trace: int, parent: int) -> None:
        noted: list[Span] = []
        take = partial(self._note, noted) if self._slow_ms else self._take or noted.append
        span = Span(SpanKind.OPERATION, UNREAD, take, trace, parent)
        observed.watch = Watch(span, noted)
        SPAN.set(span)
        WORK.set(observed)
        if trace:
            log_trace(trace)

    def _note(self, noted: list[Span], span: Span) -> None:
        if span.kind is SpanKind.ROUND_TRIP and len(noted) < ROUND_TRIPS_LOGGED:
            noted.append(span)
        if span.trace and self._take:
            self._take(span)

    def _log(self, observed: Observed, watch: Watch) -> None:
        operation, span = observed.operation, watch.span
        log.warning(
            "slow_operation",
            operation=span.facts.get("name"),
            ms=span.ms,
            outcome=span.facts["outcome"],
            commands=observed.commands,
            round_trips=observed.round_trips,
            first_round_trips=[
                {"at_ms": round((one.began - span.began) / 1e6, 1), "ms": one.ms, "commands": one.facts["commands"]}
                for one in watch.round_trips
            ],
            plan=self._explain(operation) if operation is not None else [],
        )


def watching(metrics: Recorder, settings: Settings, explain: Explain, trusts: Trusts, take: Take | None) -> Recorder:
    """Return the recorder of metrics itself where nothing is traced and slow operations are not logged."""
    is_on = take or settings.slow_operation_ms
    return WatchingRecorder(metrics, settings, explain, trusts, take) if is_on else metrics
