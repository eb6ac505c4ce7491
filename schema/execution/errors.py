"""Turns errors into what the client may see: each has a code, and none reveals an internal fault."""

from collections.abc import Iterable
from types import TracebackType
from typing import Any

import structlog
from graphql import GraphQLError
from graphql.execution.values import get_argument_values

from resolvers.process.errors import BadUserInput, RequestError, unavailable
from schema.execution.ports import Context
from store.client.database import Unavailable

log = structlog.get_logger(__name__)


def present(errors: Iterable[GraphQLError], context: Context | None, operation: str | None) -> list[GraphQLError]:
    """Return errors as the client may see them, each with its code, and log the server's faults."""
    shown, logged = [], set()
    for error in errors:
        if "code" not in (error.extensions or {}):
            if isinstance(error.original_error, Unavailable):
                error = unavailable(error.original_error)  # noqa: PLW2901
            elif is_input_error(error):
                error.extensions = {**(error.extensions or {}), "code": BadUserInput.code}
            else:
                # When a data loader fails, each of its callers gets the same exception. It is logged once.
                if id(error.original_error or error) not in logged:
                    logged.add(id(error.original_error or error))
                    _log_fault(error, context, operation)
                # The client never sees the original error.
                error = internal_error(context, error)  # noqa: PLW2901
        shown.append(error)
    return shown


def internal_error(context: Context | None, error: GraphQLError | None = None) -> GraphQLError:
    """Return the error that the client sees for a server's fault: its path, its locations and the request id."""
    extensions = {"code": RequestError.code} | ({"requestId": context.request_id} if context else {})
    return GraphQLError(
        "Internal error", error.nodes if error else None, path=error.path if error else None, extensions=extensions
    )


def is_input_error(error: GraphQLError) -> bool:
    """Return whether a variable or an argument had a value that its type does not allow.

    graphql-core raises the same class for these and for resolvers whose result does not fit its type. An error without
    a path was raised before any resolver ran. For the others, only the traceback distinguishes arguments from results.
    """
    original = error.original_error
    if original is not None and not isinstance(original, GraphQLError):
        return False
    if error.path is None:
        return True
    return original is not None and _passes(original.__traceback__, get_argument_values)


def _passes(traceback: TracebackType | None, function: Any) -> bool:
    while traceback is not None:
        if traceback.tb_frame.f_code is function.__code__:
            return True
        traceback = traceback.tb_next
    return False


def _log_fault(error: GraphQLError, context: Context | None, operation: str | None) -> None:
    log.error(
        "an operation failed",
        path=error.path,
        operation=operation,
        request_id=context.request_id if context else None,
        exc_info=error.original_error or error,
    )
