"""Spans: what an operation or a job does, and when. Nothing here knows who records them.

A span is made only while somebody watches the running operation or job. For all other work, SPAN holds None.
"""

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from enum import Enum

_HEADER = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_SAMPLED = 1  # the flag in the last part of a `traceparent`


class SpanKind(Enum):
    """What a span is the time of."""

    OPERATION = "operation"
    ROUND_TRIP = "round trip"
    SCRIPT = "script"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Parent:
    """The span that a `traceparent` names. It may belong to another process."""

    trace: int
    span: int
    is_sampled: bool


@dataclass(slots=True)
class Span:
    """The time of one operation, round trip, script or job. Times are ns since 1970."""

    kind: SpanKind
    name: str
    take: "Take"  # gets the span when it has ended
    trace: int = 0  # 0 belongs to no trace
    parent: int = 0  # 0 is the first span of its trace
    id: int = field(default_factory=lambda: random.getrandbits(64))
    began: int = field(default_factory=time.time_ns)
    ended: int = 0
    error: str = ""  # its class or code
    facts: dict[str, str | int] = field(default_factory=dict)

    def child(self, kind: SpanKind, name: str) -> "Span":
        """Return a new span that begins now and belongs to this one."""
        return Span(kind, name, self.take, self.trace, self.id)

    def end(self, error: BaseException | None = None) -> None:
        """End the span now, and hand it to `take`."""
        self.ended = time.time_ns()
        if error is not None:
            self.error = type(error).__name__
        self.take(self)

    @property
    def ms(self) -> float:
        """How long the span has lasted, ms."""
        return round((self.ended - self.began) / 1_000_000, 1)

    @property
    def traceparent(self) -> str:
        """The header by which another process continues the trace; "" where there is no trace."""
        return f"00-{self.trace:032x}-{self.id:016x}-{_SAMPLED:02x}" if self.trace else ""


Take = Callable[[Span], None]


SPAN: ContextVar[Span | None] = ContextVar("span", default=None)  # of what is running, if somebody watches it
LOGGED: ContextVar[Mapping[str, str]] = ContextVar("logged", default={})  # noqa: B039  fields of all log lines; nobody changes it
_UNWATCHED: AbstractContextManager[None] = nullcontext()


def read_parent(header: str) -> Parent | None:
    """Return what a `traceparent` of W3C Trace Context names; None for a malformed one.

    Later versions than 00 may have more parts. The version ff is forbidden.
    """
    match = _HEADER.fullmatch(header)
    if match is None or match[1] == "ff" or (match[1] == "00" and match[5]):
        return None
    trace, span, flags = (int(part, 16) for part in match.group(2, 3, 4))
    return Parent(trace, span, bool(flags & _SAMPLED)) if trace and span else None


def new_trace() -> int:
    """Return the id of a new trace."""
    return random.getrandbits(128)


def running_trace() -> str:
    """Return the `traceparent` of what is running, which its jobs carry; "" where it belongs to no trace."""
    span = SPAN.get()
    return span.traceparent if span is not None else ""


@contextmanager
def running(span: Span | None) -> Iterator[None]:
    """Make a span the running one. With None, nobody watches what follows."""
    token = SPAN.set(span)
    try:
        yield
    finally:
        SPAN.reset(token)


def log_trace(trace: int) -> Token[Mapping[str, str]]:
    """Have all later log lines name a trace."""
    return LOGGED.set({**LOGGED.get(), "trace_id": f"{trace:032x}"})


def part(kind: SpanKind, name: str) -> AbstractContextManager[Span | None]:
    """Watch a part of what is running, if somebody watches that."""
    parent = SPAN.get()
    return _UNWATCHED if parent is None else _part(parent.child(kind, name))


@contextmanager
def _part(span: Span) -> Iterator[Span]:
    with running(span):
        try:
            yield span
        except BaseException as error:
            span.end(error)
            raise
    span.end()
