"""Operations on a websocket: each a task of its own, answered by messages that carry its id."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any, cast

import structlog
from strawberry.aiohttp.views import GraphQLView
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.schema.schema import StreamResult
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler, Operation
from strawberry.subscriptions.protocols.graphql_transport_ws.types import CompleteMessage, SubscribeMessage
from strawberry.types.execution import ExecutionResult
from strawberry.utils.aio import aclosing

from resolvers.errors import RateLimited
from schema.channels import Channel, Close
from schema.operations import Schema, internal_error, is_request_error
from schema.ports import Context
from store.settings import Settings

_RETRY_SECONDS = 1  # an operation that ends makes room at any time

log = structlog.get_logger(__name__)


class SocketOperation(Operation[Context | None, None]):
    """One operation and the extensions its message came with."""

    def __init__(self, handler: OperationsHandler, message: SubscribeMessage) -> None:
        payload = message["payload"]
        super().__init__(
            handler, message["id"], payload["query"], payload.get("variables"), payload.get("operationName") or None
        )
        self.extensions = payload.get("extensions")


class OperationsHandler(BaseGraphQLTransportWSHandler[Context | None, None]):
    """Starts operations, runs them, and ends them with the socket."""

    websocket: Channel

    def __init__(self, view: GraphQLView[Any, Any], channel: Channel, schema: Schema, settings: Settings) -> None:
        super().__init__(
            view,
            channel,
            None,
            None,
            schema,
            timedelta(seconds=settings.socket_init_seconds),
            settings.subscriptions_per_socket,
        )
        self._most_operations = settings.subscriptions_per_socket
        self._tasks: set[asyncio.Task[None]] = set()

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        """Start an operation; one too many gets an error under its id."""
        if not self.connection_acknowledged:
            await self.websocket.end(Close.NOT_ACKNOWLEDGED)
            return
        if message["id"] in self.operations:
            await self.websocket.end(Close.ID_IN_USE, f"Subscriber for {message['id']} already exists")
            return
        operation = SocketOperation(self, message)
        # Cancelled operations count as well, for as long as they take to end: else a client could pile them up.
        if len(self.operations) >= self._most_operations or len(self._tasks) >= 2 * self._most_operations:
            self.operations[operation.id] = operation
            too_many = f"A websocket runs at most {self._most_operations} operations at a time"
            await operation.send_initial_errors([RateLimited(too_many, _RETRY_SECONDS)])
            return
        operation.task = asyncio.create_task(self.run_operation(operation))
        self.operations[operation.id] = operation
        self._tasks.add(operation.task)
        operation.task.add_done_callback(self._tasks.discard)

    async def handle_complete(self, message: CompleteMessage) -> None:
        """End an operation that the client has heard enough of; it may have ended by itself meanwhile."""
        await self.cleanup_operation(message["id"])

    async def run_operation(self, operation: Operation[Context | None, None]) -> None:
        """Run an operation to its end; never raises but when cancelled."""
        # Only an acknowledged socket has operations, and then it has a context.
        context, started = cast("Context", self.context).fresh(), time.perf_counter()
        try:
            await self._run(cast("SocketOperation", operation), context)
        except WebSocketDisconnected:
            pass  # the reading side notices as well, and ends the socket
        except Exception:
            log.exception("an operation failed", operation=operation.operation_name)
            with suppress(WebSocketDisconnected):
                await operation.send_initial_errors([internal_error(context)])
        finally:
            if self.operations.get(operation.id) is operation:
                del self.operations[operation.id]
            ms = round((time.perf_counter() - started) * 1000, 1)
            log.info("operation", operation=operation.operation_name, operation_id=operation.id, ms=ms)

    async def _run(self, operation: SocketOperation, context: Context) -> None:
        results = await self.schema.stream(
            operation.query,
            variable_values=operation.variables,
            context_value=context,
            operation_name=operation.operation_name,
            operation_extensions=operation.extensions,
        )
        async with aclosing(results):
            await self._send_result_stream(operation, results)
        await operation.send_operation_message({"id": operation.id, "type": "complete"})

    async def _send_result_stream(
        self, operation: Operation[Context | None, None], result_source: StreamResult
    ) -> None:
        async for frame in result_source:
            result = cast("ExecutionResult", frame)  # the schema has no @defer and no @stream
            if is_request_error(result):
                # A subscription ends here too: what its client missed while the database was away, it asks for again.
                await operation.send_initial_errors(result.errors or [])
                return
            await operation.send_next(result)

    def forget_id(self, id: str) -> None:  # noqa: A002  strawberry's name
        """Let an id be used again."""
        self.operations.pop(id, None)

    async def end_operations(self) -> None:
        """Cancel all operations and wait until they have let go of what they held."""
        self.operations.clear()
        for task in self._tasks:
            if not task.cancelling():  # a second time would break off what the first one has it do
                task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
