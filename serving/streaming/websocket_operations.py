"""One operation on a websocket. It runs in a task of its own, and its messages carry its id."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from graphql import GraphQLError
from strawberry.types.execution import ExecutionResult

from schema.execution.encoding import JsonResult, encode, to_json
from schema.execution.parameters import Parameters, document_id
from serving.observing import Observed
from serving.streaming.room import RenderingTurn
from serving.streaming.websocket import TAIL, Channel


class SocketOperation:
    """An operation with its GraphQL parameters. It sends its results, and then exactly one message that ends it."""

    def __init__(
        self, message: Mapping[str, Any], channel: Channel, forget: "Callable[[SocketOperation], None]"
    ) -> None:
        """Prepare the operation of a `subscribe` message. `forget` makes its id available again, before it ends."""
        self.id: str = message["id"]
        payload = message["payload"]
        query, name = payload.get("query") or "", payload.get("operationName") or None
        variables, extensions = payload.get("variables"), payload.get("extensions")
        self.asked = Parameters(query, name, variables, extensions, document_id(payload))
        self.task: asyncio.Task[None] | None = None
        self.turn: RenderingTurn | None = None
        self.is_mutation = False
        self.observed: Observed | None = None
        self._channel = channel
        self._forget = forget
        self._is_completed = False
        self._head = b'{"id":%b,"type":"next","payload":' % encode(self.id)

    async def send_next(self, execution_result: ExecutionResult) -> None:
        """Send one result."""
        if self.turn is not None:
            self.turn.rendered()
        if self.observed and execution_result.errors:
            self.observed.fail(execution_result.errors[0])
        if not self._is_completed:
            await self._channel.send(b"".join((self._head, to_json(execution_result), TAIL)))

    def send_now(self, result: JsonResult) -> bool:
        """Send a shared result at once; return False, and send nothing, if it would have to wait."""
        return not self._is_completed and self._channel.send_now(self._head, result.json)

    async def send_initial_errors(self, errors: list[GraphQLError]) -> None:
        """Send request errors, which end the operation."""
        if self.observed:
            self.observed.fail(errors[0])
        await self._end({"id": self.id, "type": "error", "payload": [error.formatted for error in errors]})

    async def send_complete(self) -> None:
        """Send `complete`, unless the operation has already been completed."""
        await self._end({"id": self.id, "type": "complete"})

    async def _end(self, message: Mapping[str, object]) -> None:
        if self._is_completed:
            return
        self._is_completed = True
        self._forget(self)
        await self._channel.send(encode(message))
