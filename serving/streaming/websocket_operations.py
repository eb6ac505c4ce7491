"""Operations on a websocket. Each runs in a task of its own, and its messages carry its id."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from typing import Any, cast

import structlog
from strawberry.aiohttp.views import GraphQLView
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler, Operation
from strawberry.subscriptions.protocols.graphql_transport_ws.types import CompleteMessage, SubscribeMessage
from strawberry.types.execution import ExecutionResult

from resolvers.operation.errors import RateLimited, RequestError
from schema.execution.encoding import dumps
from schema.execution.operations import Schema
from schema.execution.parameters import Parameters
from schema.execution.ports import Context
from schema.execution.sharing import SharedResult
from serving.streaming.deliver import RETRY_SECONDS, deliver
from serving.streaming.room import Turn
from serving.streaming.websocket import Channel, Close
from store.settings import Settings

log = structlog.get_logger(__name__)


class SocketOperation(Operation[Context | None, None]):
    """One operation on a websocket, with its GraphQL parameters."""

    def __init__(self, handler: OperationsHandler, message: SubscribeMessage) -> None:
        payload = message["payload"]
        super().__init__(
            handler, message["id"], payload["query"], payload.get("variables"), payload.get("operationName") or None
        )
        self.asked = Parameters(self.query, self.operation_name, self.variables, payload.get("extensions"))
        self.turn: Turn | None = None
        self._id = dumps(self.id)

    async def send_next(self, execution_result: ExecutionResult) -> None:
        """Send one result. A shared result is already encoded as JSON."""
        if self.turn is not None:
            self.turn.rendered()
        if not isinstance(execution_result, SharedResult):
            await super().send_next(execution_result)
        elif not self.completed:
            channel = cast("Channel", self.handler.websocket)
            await channel.send_text(f'{{"id":{self._id},"type":"next","payload":{execution_result.json}}}')

    async def send_complete(self) -> None:
        """Send `complete`, unless the operation has already been completed."""
        await self.send_operation_message({"id": self.id, "type": "complete"})


class OperationsHandler(BaseGraphQLTransportWSHandler[Context | None, None]):
    """Starts operations, runs them, and ends them with the socket."""

    schema: Schema
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
        """Start an operation. Above the limit, it gets an error under its id."""
        if not self.connection_acknowledged:
            await self.websocket.end(Close.NOT_ACKNOWLEDGED)
            return
        if message["id"] in self.operations:
            await self.websocket.end(Close.ID_IN_USE, f"Subscriber for {message['id']} already exists")
            return
        operation = SocketOperation(self, message)
        # Cancelled operations count until they have ended. Otherwise a client could pile them up.
        if len(self.operations) >= self._most_operations or len(self._tasks) >= 2 * self._most_operations:
            self.operations[operation.id] = operation
            too_many = f"A websocket runs at most {self._most_operations} operations at a time"
            await operation.send_initial_errors([RateLimited(too_many, RETRY_SECONDS)])
            return
        operation.task = asyncio.create_task(self.run_operation(operation))
        self.operations[operation.id] = operation
        self._tasks.add(operation.task)
        operation.task.add_done_callback(self._tasks.discard)

    async def handle_complete(self, message: CompleteMessage) -> None:
        """End an operation at its client's request. It may have ended by itself meanwhile."""
        await self.cleanup_operation(message["id"])

    async def run_operation(self, operation: Operation[Context | None, None]) -> None:
        """Run an operation to its end. Raises nothing but CancelledError."""
        # Only an acknowledged socket has operations, and it has a context.
        context, started = cast("Context", self.context).fresh(), time.perf_counter()
        try:
            one = cast("SocketOperation", operation)  # `handle_subscribe` starts no other kind
            await self.schema.read(one.asked.query, context)  # before `held`: the query may exceed a limit
            with self.held(one.asked) as one.turn:
                context.room = one.turn or self.websocket.room
                await deliver(one, self.schema, one.asked, context)
        except RequestError as error:
            with suppress(WebSocketDisconnected):
                await operation.send_initial_errors([error])
        finally:
            if self.operations.get(operation.id) is operation:
                del self.operations[operation.id]
            ms = round((time.perf_counter() - started) * 1000, 1)
            log.info("operation", operation=operation.operation_name, operation_id=operation.id, ms=ms)

    @abstractmethod
    def held(self, asked: Parameters) -> AbstractContextManager[Turn | None]:
        """Count the cost of an operation while it runs, and return its turns; raises RateLimited above the limit."""

    def forget_id(self, id: str) -> None:  # noqa: A002  strawberry's name
        """Make an id available again."""
        self.operations.pop(id, None)

    async def end_operations(self) -> None:
        """Cancel all operations, and wait until they have released everything."""
        self.operations.clear()
        for task in self._tasks:
            if not task.cancelling():  # a second cancellation would interrupt the clean-up of the first
                task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
