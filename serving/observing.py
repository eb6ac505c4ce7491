"""One operation as it is observed while it runs, and who is told when it begins and ends."""

from dataclasses import dataclass, field
from typing import Protocol

from graphql import GraphQLError, OperationDefinitionNode, OperationType

from store.client.metering import StoreWork
from store.client.tracing import Span

TRACEPARENT = "traceparent"  # the header of W3C Trace Context
OK = "ok"  # the outcome of an operation without errors


@dataclass(slots=True)
class Watch:
    """What is noted of an operation that is traced, or would be logged as slow."""

    span: Span
    round_trips: list[Span] = field(default_factory=list)  # the first ones


@dataclass(slots=True)
class Observed(StoreWork):
    """One operation while it runs."""

    operation: OperationDefinitionNode | None = None  # None until its document was read
    error: GraphQLError | None = None  # the first
    began: float = 0.0
    seconds: float = 0.0  # until it was answered; subscriptions have none
    watch: Watch | None = None  # if it is traced, or would be logged as slow

    def fail(self, error: GraphQLError | None) -> None:
        """Note an error; the first one counts."""
        self.error = self.error or error

    @property
    def is_subscription(self) -> bool:
        return self.operation is not None and self.operation.operation is OperationType.SUBSCRIPTION

    @property
    def is_mutation(self) -> bool:
        return self.operation is not None and self.operation.operation is OperationType.MUTATION


class Recorder(Protocol):
    """Is told when operations begin and end."""

    def start(self, traceparent: str = "", peer: str | None = None) -> Observed:
        """Return a new operation, which is the running one from now on. It may have a trace, of the other end's."""

    def begin(self, observed: Observed) -> None:
        """Note that the document of an operation was read: `observed.operation` is known."""

    def end(self, observed: Observed) -> None:
        """Note that an operation has ended."""


class NoRecorder:
    """Measures nothing."""

    def start(self, traceparent: str = "", peer: str | None = None) -> Observed:  # noqa: ARG002  the protocol has it
        return Observed()

    def begin(self, observed: Observed) -> None:
        pass

    def end(self, observed: Observed) -> None:
        pass


def code_of(error: GraphQLError | None) -> str:
    """Return the outcome of an operation: the code of its first error, or `ok`."""
    return OK if error is None else str((error.extensions or {}).get("code", "INTERNAL"))
