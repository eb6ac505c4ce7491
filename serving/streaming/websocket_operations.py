"""Operations on a websocket. Each runs in a task of its own, and its messages carry its id."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from typing import Any, cast

import structlog
from graphql import GraphQLError, OperationDefinitionNode, OperationType
from strawberry.aiohttp.views import GraphQLView
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler, Operation
from strawberry.subscriptions.protocols.graphql_transport_ws.types import CompleteMessage, SubscribeMessage
from strawberry.types.execution import ExecutionResult

from resolvers.process.errors import RateLimited, RequestError
from schema.execution.encoding import dumps
from schema.execution.operations import Schema
from schema.execution.parameters import Parameters, document_id
from schema.execution.ports import Context
from schema.execution.sharing import SharedResult
from serving.observing import Observed, Recorder
from serving.streaming.deliver import RETRY_SECONDS, deliver
from serving.streaming.room import Turn
from serving.streaming.websocket import Channel, Close
from store.settings import Settings

_MUTATION_SECONDS = 4.0  # time limit for mutations to answer once their session has ended

log = structlog.get_logger(__name__)


class SocketOperation(Operation[Context | None, None]):
    """One operation on a websocket, with its GraphQL parameters."""

    def __init__(self, handler: OperationsHandler, message: SubscribeMessage) -> None:
        payload = cast("dict[str, Any]", message["payload"])
        query, name = payload.get("query") or "", payload.get("operationName") or None
        super().__init__(handler, message["id"], query, payload.get("variables"), name)
        extensions = payload.get("extensions")
        self.asked = Parameters(query, name, self.variables, extensions, document_id(payload))
        self.turn: Turn | None = None
        self.is_mutation = False
        self.observed: Observed | None = None
        self._head = f'{{"id":{dumps(self.id)},"type":"next","payload":'.encode()

    async def send_next(self, execution_result: ExecutionResult) -> None:
        """Send one result. A shared result is already encoded as JSON."""
        if self.turn is not None:
            self.turn.rendered()
        if not isinstance(execution_result, SharedResult):
            if self.observed and execution_result.errors:
                self.observed.fail(execution_result.errors[0])
            await super().send_next(execution_result)
        elif not self.completed:
            channel = cast("Channel", self.handler.websocket)
            await channel.send_text(f"{self._head.decode()}{execution_result.json.decode()}}}")

    def send_now(self, result: SharedResult) -> bool:
        """Send a shared result at once; return False, and send nothing, if it would have to wait."""
        return not self.completed and cast("Channel", self.handler.websocket).send_now(self._head, result.json)

    async def send_initial_errors(self, errors: list[GraphQLError]) -> None:
        """Send request errors, which end the operation."""
        if self.observed:
            self.observed.fail(errors[0])
        await super().send_initial_errors(errors)

    async def send_complete(self) -> None:
        """Send `complete`, unless the operation has already been completed."""
        await self.send_operation_message({"id": self.id, "type": "complete"})


class OperationsHandler(BaseGraphQLTransportWSHandler[Context | None, None]):
    """Starts operations, runs them, and ends them with the socket."""

    schema: Schema
    websocket: Channel

    def __init__(
        self,
        view: GraphQLView[Any, Any],
        channel: Channel,
        schema: Schema,
        settings: Settings,
        recorder: Recorder,
    ) -> None:
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
        self._recorder = recorder
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
            await operation.send_initial_errors([RateLimited(too_many, RETRY_SECONDS, "subscriptions_per_socket")])
            return
        if refused := self.refusal(operation.asked):
            self.operations[operation.id] = operation
            await operation.send_initial_errors([refused])
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
        one = cast("SocketOperation", operation)  # `handle_subscribe` starts no other kind
        one.observed = self._recorder.start()
        try:
            one.asked, document = await self.schema.find(one.asked, context)  # before `held`: it may exceed a limit
            declared = document.operation(one.asked.operation_name)
            self._recorder.begin(one.observed, declared)
            one.is_mutation = _is_mutation(declared)
            with self.held(one.asked) as one.turn:
                context.room = one.turn or self.websocket.room
                context.send_now = None if one.turn else one.send_now
                await deliver(one, self.schema, one.asked, context)
        except RequestError as error:
            with suppress(WebSocketDisconnected):
                await operation.send_initial_errors([error])
        finally:
            self._recorder.end(one.observed)
            if self.operations.get(operation.id) is operation:
                del self.operations[operation.id]
            ms = round((time.perf_counter() - started) * 1000, 1)
            log.info("operation", operation=operation.operation_name, operation_id=operation.id, ms=ms)

    @abstractmethod
    def refusal(self, asked: Parameters) -> RequestError | None:
        """Return why an operation is not begun, if the process has too much to do."""

    @abstractmethod
    def held(self, asked: Parameters) -> AbstractContextManager[Turn | None]:
        """Count the cost of an operation while it runs, and return its turns; raises RateLimited above the limit."""

    def forget_id(self, id: str) -> None:  # noqa: A002  strawberry's name
        """Make an id available again."""
        self.operations.pop(id, None)

    async def finish_mutations(self) -> None:
        """Cancel all operations but mutations, and wait for these: they are committed, so their clients must know."""
        running = [cast("SocketOperation", one) for one in self.operations.values()]
        mutations = {one.task for one in running if one.is_mutation and one.task}
        for task in self._tasks - mutations:
            if not task.cancelling():
                task.cancel()
        if mutations:
            await asyncio.wait(mutations, timeout=_MUTATION_SECONDS)

    async def end_operations(self) -> None:
        """Cancel all operations, and wait until they have released everything."""
        self.operations.clear()
        for task in self._tasks:
            if not task.cancelling():  # a second cancellation would interrupt the clean-up of the first
                task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


def _is_mutation(operation: OperationDefinitionNode | None) -> bool:
    return operation is not None and operation.operation is OperationType.MUTATION
