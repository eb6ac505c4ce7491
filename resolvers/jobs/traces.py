"""The trace of the operation that has committed a job, continued by the worker that finishes it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from structlog.contextvars import bound_contextvars

from store.client.database import Database
from store.client.tracing import Parent, Span, SpanKind, Take, read_parent, running
from store.records.jobs import Job


def continued(db: Database, job: Job) -> AbstractContextManager[None]:
    """Watch an attempt at a job as a part of the operation that has committed it, if that operation was traced."""
    if db.take_span is None or (parent := read_parent(job.trace)) is None:
        return nullcontext()
    return _continued(db.take_span, parent)


@contextmanager
def _continued(take: Take, parent: Parent) -> Iterator[None]:
    # The process that has begun the operation ends its span. Here only its parts are recorded.
    operation = Span(SpanKind.OPERATION, "", take, parent.trace, id=parent.span)
    with running(operation), bound_contextvars(trace_id=f"{parent.trace:032x}"):
        yield
