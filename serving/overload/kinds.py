"""The kinds of requests, in the order in which they are refused. Reads and writes of members share what is left."""

from dataclasses import dataclass

from graphql import OperationDefinitionNode, OperationType


@dataclass(frozen=True, slots=True)
class RequestKind:
    """A kind of request, and what it may use before it is refused."""

    name: str
    share: float  # of the requests that may be answered at a time
    patience: int  # how many times STORE_PATIENCE_MS the store may be silent


ANONYMOUS = RequestKind("anonymous", 0.4, 1)
STREAM = RequestKind("stream", 0.6, 2)
READ = RequestKind("read", 1.0, 3)
WRITE = RequestKind("write", 1.0, 4)
KINDS = (ANONYMOUS, STREAM, READ, WRITE)

_OF_OPERATIONS = {OperationType.MUTATION: WRITE, OperationType.SUBSCRIPTION: STREAM, OperationType.QUERY: READ}


def of_operation(operation: OperationDefinitionNode | None, *, is_signed_in: bool) -> RequestKind:
    """Return the kind of an operation, None for one whose document has not been parsed yet.

    Whatever an anonymous client asks for ranks below all that members do. So no text of a client makes it rank higher.
    """
    if not is_signed_in:
        return ANONYMOUS
    return READ if operation is None else _OF_OPERATIONS[operation.operation]
