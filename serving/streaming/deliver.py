"""Runs operations that return several results, for any transport."""

from contextlib import aclosing, suppress
from typing import Protocol, cast

import structlog
from graphql import GraphQLError
from strawberry.types.execution import ExecutionResult

from schema.execution.encoding import NoResult, is_request_error
from schema.execution.errors import internal_error
from schema.execution.operations import Schema
from schema.execution.parameters import Parameters
from schema.execution.ports import Context

RETRY_SECONDS = 1  # room is made whenever an operation or a connection ends

log = structlog.get_logger(__name__)


class ClientGone(Exception):
    """Nothing can be sent, because the client is gone. Its connection notices that too, and ends itself."""


class ResultSender(Protocol):
    """Sends the results of an operation. On any transport, its methods raise ClientGone if nobody reads."""

    async def send_next(self, execution_result: ExecutionResult) -> None:
        """Send one result."""

    async def send_initial_errors(self, errors: list[GraphQLError]) -> None:
        """Send request errors, which end the operation."""

    async def send_complete(self) -> None:
        """Send the end of the operation, unless it was sent already."""


async def deliver(receiver: ResultSender, schema: Schema, asked: Parameters, context: Context) -> None:
    """Run an operation to its end, and send its results. Raises nothing but CancelledError."""
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
                    # A subscription ends here too. Its client subscribes again, and asks for the events that it missed
                    # while the database was away.
                    await receiver.send_initial_errors(result.errors or [])
                    return
                await receiver.send_next(result)
        await receiver.send_complete()
    except ClientGone:
        pass
    except Exception:
        log.exception("an operation failed", operation=asked.operation_name)
        with suppress(ClientGone):
            await receiver.send_initial_errors([internal_error(context)])
