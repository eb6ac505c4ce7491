"""Operations that answer bit by bit, whichever way their results go."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol, cast

import structlog
from graphql import GraphQLError
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.types.execution import ExecutionResult
from strawberry.utils.aio import aclosing

from schema.execution.errors import internal_error, is_request_error
from schema.execution.operations import Schema
from schema.execution.parameters import Parameters
from schema.execution.ports import Context
from schema.execution.results import NoResult

RETRY_SECONDS = 1  # an operation or a connection that ends makes room at any time

log = structlog.get_logger(__name__)


class Receiver(Protocol):
    """Takes what an operation answers; all raise WebSocketDisconnected, on whichever transport, when nobody reads."""

    async def send_next(self, execution_result: ExecutionResult) -> None:
        """Take one result."""

    async def send_initial_errors(self, errors: list[GraphQLError]) -> None:
        """Take the errors for which there is no result; it is the end."""

    async def send_complete(self) -> None:
        """Take the end, unless it has come."""


async def deliver(receiver: Receiver, schema: Schema, asked: Parameters, context: Context) -> None:
    """Run an operation to its end and hand over what it answers; never raises but when cancelled."""
    try:
        results = await schema.stream(
            asked.query,
            variable_values=asked.variables,
            context_value=context,
            operation_name=asked.operation_name,
            operation_extensions=asked.extensions,
        )
        async with aclosing(results):
            async for frame in results:
                result = cast("ExecutionResult", frame)  # the schema has no @defer and no @stream
                if isinstance(result, NoResult):
                    continue
                if is_request_error(result):
                    # A subscription ends here too: what its client missed while the database was away, it asks for
                    # again.
                    await receiver.send_initial_errors(result.errors or [])
                    return
                await receiver.send_next(result)
        await receiver.send_complete()
    except WebSocketDisconnected:
        pass  # whoever watches over the connection notices as well, and ends it
    except Exception:
        log.exception("an operation failed", operation=asked.operation_name)
        with suppress(WebSocketDisconnected):
            await receiver.send_initial_errors([internal_error(context)])
