"""Sessions of graphql-transport-ws websockets: their messages, authentication, operations, and the reasons to close.

The protocol is that of https://github.com/enisdenjo/graphql-ws, PROTOCOL.md.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import structlog

from resolvers.process.errors import RateLimited, RequestError, ServiceUnavailable, Unauthenticated
from resolvers.process.tokens import Claims
from schema.execution.operations import Schema
from schema.execution.parameters import Parameters, bearer
from schema.execution.ports import Context, Services
from serving.observing import Recorder
from serving.overload.shedding import of_operation
from serving.streaming.connections import Connection, Connections, Peer
from serving.streaming.deliver import RETRY_SECONDS, ClientGone, deliver
from serving.streaming.room import RenderingTurn
from serving.streaming.websocket import Channel, Close, MalformedMessage, SocketOperation

_ACK = b'{"type":"connection_ack"}'
_PONG = b'{"type":"pong"}'
_MUTATION_SECONDS = 4.0  # time limit for mutations to answer once their session has ended

log = structlog.get_logger(__name__)


class SocketSession(Connection):
    """One websocket from its handshake to its end."""

    def __init__(
        self,
        channel: Channel,
        schema: Schema,
        *,
        services: Services,
        new_context: Callable[[Claims | None], Context],
        connections: Connections,
        recorder: Recorder,
        peer: Peer,
    ) -> None:
        super().__init__(services, connections, peer)
        self.channel = channel
        self._schema = schema
        self._new_context = new_context
        self._recorder = recorder
        self._is_initialised = False
        self._context: Context | None = None  # set once the connection is acknowledged
        self._operations: dict[str, SocketOperation] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # ------------------------------------------------------------ its life

    async def serve(self) -> None:
        """Handle the client's messages until either side closes the socket."""
        self._connections.add(self)
        self._guarding = asyncio.create_task(self._guard())
        try:
            while (message := await self.channel.receive()) is not None:
                await self._take(message)
                await asyncio.sleep(0)  # whatever else waits for the process has its turn
        except MalformedMessage as malformed:
            await self.channel.end(Close.MALFORMED, str(malformed))
        except ClientGone:
            pass
        finally:
            await self.leave()

    def _patience(self) -> float:
        # The client must send `connection_init` first.
        return super()._patience() if self._is_initialised else self._services.settings.socket_init_seconds

    async def _examine(self) -> Close | None:
        if not self._is_initialised:
            return Close.SILENT
        if self.channel.is_closed:
            # aiohttp's heartbeat has closed the socket, but a send still waits. Only dropping the connection ends it.
            self.channel.cut()
        return await super()._examine()

    async def _close(self, close: Close) -> None:
        if close is Close.FORBIDDEN:
            await self._finish_mutations()  # one of them may have ended the session
        await self.channel.end(close)

    async def _stop(self) -> None:
        await self.channel.stop()

    # ------------------------------------------------------------ its messages

    async def _take(self, message: Mapping[str, Any]) -> None:
        """Handle a message; close the socket when it cannot be handled."""
        try:
            match message["type"]:
                case "connection_init":
                    await self._initialise(message.get("payload") or {})
                case "subscribe":
                    await self._subscribe(message)
                case "complete":
                    self._complete(message["id"])
                case "ping":
                    await self.channel.send(_PONG)
                case _:
                    pass  # a client's pong needs no answer
        except ClientGone:
            raise
        except Exception:
            log.exception("a websocket message could not be handled", type=message["type"])
            await self.channel.end(Close.BROKEN)

    async def _initialise(self, payload: Mapping[str, object]) -> None:
        """Authenticate the client, and acknowledge the connection."""
        if self._is_initialised:
            await self.channel.end(Close.TOO_MANY_INITS)
            return
        self._is_initialised = True
        try:
            await self._identify(payload)
        except Unauthenticated as error:
            await self.channel.end(Close.FORBIDDEN, error.message)
            return
        except ServiceUnavailable:
            await self.channel.end(Close.TRY_AGAIN)
            return
        if not self._connections.admit(self):
            await self.channel.end(Close.TOO_MANY_SOCKETS)
            return
        self._context = self._new_context(self.claims)
        self._news.set()  # from now on the guard waits for a heartbeat at a time
        await self.channel.send(_ACK)

    async def _identify(self, payload: Mapping[str, object]) -> None:
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

    async def _subscribe(self, message: Mapping[str, Any]) -> None:
        """Start an operation. One that is refused gets an error under its id."""
        if self._context is None:
            await self.channel.end(Close.NOT_ACKNOWLEDGED)
            return
        if message["id"] in self._operations:
            await self.channel.end(Close.ID_IN_USE, f"Subscriber for {message['id']} already exists")
            return
        operation = SocketOperation(message, self.channel, self._forget)
        if refused := self._refusal(operation.asked):
            await operation.send_initial_errors([refused])
            return
        operation.task = asyncio.create_task(self._run(operation, self._context.fresh()))
        self._operations[operation.id] = operation
        self._tasks.add(operation.task)
        operation.task.add_done_callback(self._tasks.discard)

    def _complete(self, id_: str) -> None:
        """End an operation at its client's request. It may have ended by itself meanwhile."""
        operation = self._operations.pop(id_, None)
        if operation is not None and operation.task is not None:
            operation.task.cancel()

    # ------------------------------------------------------------ its operations

    def _refusal(self, asked: Parameters) -> RequestError | None:
        """Return why an operation is not begun: the socket has too many, or the process has too much to do."""
        most = self._services.settings.subscriptions_per_socket
        # Cancelled operations count until they have ended. Otherwise a client could pile them up.
        if len(self._operations) >= most or len(self._tasks) >= 2 * most:
            too_many = f"A websocket runs at most {most} operations at a time"
            return RateLimited(too_many, RETRY_SECONDS, "subscriptions_per_socket")
        shedder = self._connections.shedder
        if not shedder.arrive():
            return None
        return shedder.refuse(of_operation(self._schema.known_operation(asked), is_signed_in=self.claims is not None))

    async def _run(self, operation: SocketOperation, context: Context) -> None:
        """Run an operation to its end. Raises nothing but CancelledError."""
        started = time.perf_counter()
        operation.observed = self._recorder.start()
        try:
            # Found before the cost is counted, which may exceed a limit.
            operation.asked, document = await self._schema.find(operation.asked, context)
            operation.observed.operation = document.operation(operation.asked.operation_name)
            self._recorder.begin(operation.observed)
            with self._held(operation.asked) as operation.turn:
                context.room = operation.turn or self.channel.room
                context.send_now = None if operation.turn else operation.send_now
                await deliver(operation, self._schema, operation.asked, context)
        except RequestError as error:
            with suppress(ClientGone):
                await operation.send_initial_errors([error])
        finally:
            self._recorder.end(operation.observed)
            self._forget(operation)
            ms = round((time.perf_counter() - started) * 1000, 1)
            log.info("operation", operation=operation.asked.operation_name, operation_id=operation.id, ms=ms)

    @contextmanager
    def _held(self, asked: Parameters) -> Iterator[RenderingTurn | None]:
        """Count the cost of an operation for its owner while it runs, and yield its turns; raises RateLimited."""
        cost = self._schema.event_cost(asked)
        counted = self._connections.shedder.answering() if cost is None else nullcontext()
        with counted, self._connections.costs.held(self.owner, cost):
            yield self.turn(self.channel.room, cost)

    def _forget(self, operation: SocketOperation) -> None:
        """Make the id of an operation available again. Another operation may have it already."""
        if self._operations.get(operation.id) is operation:
            del self._operations[operation.id]

    async def _finish_mutations(self) -> None:
        """Cancel all operations but mutations, and wait for these: they are committed, so their clients must know."""
        running = self._operations.values()
        mutations = {one.task for one in running if one.task and one.observed and one.observed.is_mutation}
        _cancel(self._tasks - mutations)
        if mutations:
            await asyncio.wait(mutations, timeout=_MUTATION_SECONDS)

    async def end_operations(self) -> None:
        """Cancel all operations, and wait until they have released everything."""
        self._operations.clear()
        _cancel(self._tasks)
        if self._tasks:
            await asyncio.wait(self._tasks)


def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        if not task.cancelling():  # a second cancellation would interrupt the clean-up of the first
            task.cancel()
