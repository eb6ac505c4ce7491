"""Sessions of graphql-transport-ws websockets: authentication, messages and the reasons to close."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import structlog
from strawberry.aiohttp.views import GraphQLView
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.types import ConnectionInitMessage, Message

from resolvers.process.errors import RequestError, ServiceUnavailable, Unauthenticated
from resolvers.process.tokens import Claims
from schema.execution.operations import Schema
from schema.execution.parameters import Parameters, bearer
from schema.execution.ports import Context, Services
from serving.observing import Recorder
from serving.overload.kinds import of_operation
from serving.streaming.connections import Connection, Connections, Peer
from serving.streaming.room import Turn
from serving.streaming.websocket import Channel, Close
from serving.streaming.websocket_messages import fault
from serving.streaming.websocket_operations import OperationsHandler

log = structlog.get_logger(__name__)


class SocketHandler(OperationsHandler, Connection):
    """One websocket from its handshake to its end."""

    def __init__(
        self,
        view: GraphQLView[Any, Any],
        channel: Channel,
        schema: Schema,
        *,
        services: Services,
        new_context: Callable[[Claims | None], Context],
        connections: Connections,
        recorder: Recorder,
        peer: Peer,
    ) -> None:
        OperationsHandler.__init__(self, view, channel, schema, services.settings, recorder)
        Connection.__init__(self, services, connections, peer)
        self._new_context = new_context

    # ------------------------------------------------------------ its life

    def on_request_accepted(self) -> None:
        """Start the task that guards the socket."""
        self._connections.add(self)
        self._guarding = asyncio.create_task(self._guard())

    async def shutdown(self) -> None:
        """Release everything that the socket holds, once either side has closed it."""
        await self.leave()

    def _patience(self) -> float:
        # The client must send `connection_init` first.
        return super()._patience() if self.connection_init_received else self._services.settings.socket_init_seconds

    async def _examine(self) -> Close | None:
        if not self.connection_init_received:
            return Close.SILENT
        if self.websocket.ws.closed:
            # aiohttp's heartbeat has closed the socket, but a send still waits. Only dropping the connection ends it.
            self.websocket.cut()
        return await super()._examine()

    async def _close(self, close: Close) -> None:
        if close is Close.FORBIDDEN:
            await self.finish_mutations()  # one of them may have ended the session
        await self.websocket.end(close)

    async def _stop(self) -> None:
        await self.websocket.stop()

    def refusal(self, asked: Parameters) -> RequestError | None:
        """Return why an operation is not begun, if the process has too much to do."""
        shedder = self._connections.shedder
        if not shedder.arrive():
            return None
        return shedder.refuse(of_operation(self.schema.known_operation(asked), is_signed_in=self.claims is not None))

    @contextmanager
    def held(self, asked: Parameters) -> Iterator[Turn | None]:
        """Count the cost of an operation for its owner while it runs; raises RateLimited above the limit."""
        cost = self.schema.event_cost(asked)
        counted = self._connections.shedder.answering() if cost is None else nullcontext()
        with counted, self._connections.costs.held(self.owner, cost):
            yield self.turn(self.websocket.room, cost)

    # ------------------------------------------------------------ its messages

    async def handle_message(self, message: Message) -> None:
        """Handle a message, or close the socket when it is malformed or cannot be handled."""
        wrong = fault(message)
        if wrong is not None:
            await self.handle_invalid_message(wrong)
            return
        try:
            await super().handle_message(message)
        except WebSocketDisconnected:
            raise
        except Exception:
            log.exception("a websocket message could not be handled", type=message["type"])
            await self.websocket.end(Close.BROKEN)

    async def handle_connection_init(self, message: ConnectionInitMessage) -> None:
        """Authenticate the client, and acknowledge the connection."""
        if self.connection_init_received:
            await self.websocket.end(Close.TOO_MANY_INITS)
            return
        self.connection_init_received = True
        try:
            await self._identify(message.get("payload") or {})
        except Unauthenticated as error:
            await self.websocket.end(Close.FORBIDDEN, error.message)
            return
        except ServiceUnavailable:
            await self.websocket.end(Close.TRY_AGAIN)
            return
        if not self._connections.admit(self):
            await self.websocket.end(Close.TOO_MANY_SOCKETS)
            return
        self.context = self._new_context(self.claims)
        self._news.set()  # from now on the guard waits for a heartbeat at a time
        await self.send_message({"type": "connection_ack"})
        self.connection_acknowledged = True

    async def _identify(self, payload: dict[str, object]) -> None:
        authorization = next((value for key, value in payload.items() if key.lower() == "authorization"), None)
        if authorization is None and self._peer.authorization:
            authorization = self._peer.authorization.reveal()
        if authorization is None:
            return
        if not isinstance(authorization, str):
            raise Unauthenticated("Authorization must be `Bearer TOKEN`")
        # Set before the session is looked up. If the session ends in between, this socket is found and closed.
        self.claims = self._services.tokens.read(bearer(authorization))
        if not await self._services.session_is_valid(self.claims):
            raise Unauthenticated("The session has ended")
