"""Subscriptions as Server-Sent Events: the graphql-sse protocol in distinct connections mode.

Each result is an event `next`, and the last event is `complete`. When the session ends, a `next` with the error
UNAUTHENTICATED and no data precedes it. When the subscription fails, a `next` with its errors precedes it. When the
process stops, `complete` is sent alone, and the client subscribes again from its last cursor.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from aiohttp import ClientError, hdrs, web
from graphql import GraphQLError
from strawberry.types.execution import ExecutionResult

from resolvers.process.errors import RateLimited, Unauthenticated
from resolvers.process.tokens import Claims
from schema.execution.encoding import COMPLETE, JsonResult, encode, next_event, to_json
from schema.execution.operations import Schema
from schema.execution.parameters import EVENTS, Parameters
from schema.execution.ports import Context, Services
from serving.streaming.connections import Connection, Connections, Peer
from serving.streaming.deliver import RETRY_SECONDS, ClientGone, deliver
from serving.streaming.room import Hangup, RenderingTurn, Room, limit_silence
from serving.streaming.websocket import Close
from store.client.tasks import stop

_COMMENT = b":\n\n"  # A heartbeat is an empty comment. It keeps clients and proxies from closing the stream.
_BEATS = 3  # Heartbeats for which a client may read nothing.
_CLOSE_SECONDS = 4.0  # Time for the last events to be sent before the connection is dropped.
_HEADERS = {
    hdrs.CONTENT_TYPE: f"{EVENTS}; charset=utf-8",
    hdrs.CACHE_CONTROL: "no-store, no-transform",  # Compression would delay events.
    "X-Accel-Buffering": "no",  # Turns off buffering in nginx and similar proxies.
}
_LOST = (ConnectionError, ClientError)  # The errors of aiohttp for a client that is gone.


class EventStream(Connection):
    """One subscription from its request to its end.

    One task at a time writes, and waits until there is room (backpressure). So a client that does not read stops its
    own subscription, and memory does not grow.
    """

    def __init__(
        self,
        request: web.Request,
        services: Services,
        connections: Connections,
        peer: Peer,
        claims: Claims | None,
        failed: Callable[[GraphQLError], None],
    ) -> None:
        """Prepare the stream of a request. `failed` is called with each error that ends its subscription."""
        super().__init__(services, connections, peer, claims)
        self._request = request
        self._failed = failed
        self._response = web.StreamResponse(headers=_HEADERS)
        # Otherwise a client whose stream ends, because the process stops, would subscribe again on this connection.
        self._response.force_close()
        self._heartbeat = services.settings.heartbeat_seconds
        self._hangup: Hangup | None = None
        self._operation: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._completed = False
        self._room: Room | None = None
        self._turn: RenderingTurn | None = None
        self._probing: asyncio.Task[None] | None = None
        self._taken = asyncio.Event()  # Set when the kernel has taken everything that was written.

    async def serve(self, schema: Schema, asked: Parameters, context: Context) -> web.StreamResponse:
        """Send the results of a subscription until it ends or the client is gone.

        Raises Unauthenticated, RateLimited or ServiceUnavailable, but only before the response has begun.
        """
        # Added before the session is looked up. If the session ends in between, this stream is found and ended.
        self._connections.add(self)
        try:
            await self._admit(context)
            cost = schema.event_cost(asked)
            with self._connections.costs.held(self.owner, cost), suppress(ClientGone):
                self._room = await self._open()
                self._turn = self.turn(self._room, cost)
                context.room = self._turn or self._room
                context.send_now = None if self._turn else self.send_now
                await self._run(schema, asked, context)
        finally:
            await self.leave()
        return self._response

    # ------------------------------------------------------------ its life

    async def _admit(self, context: Context) -> None:
        await context.close()
        if context.fatal is not None:
            raise context.fatal
        if not self._connections.admit(self):
            most = self._services.settings.sockets_per_member
            message = f"At most {most} websockets and event streams may be open at a time"
            raise RateLimited(message, RETRY_SECONDS, "sockets_per_member")

    async def _open(self) -> Room:
        transport = self._request.transport
        if transport is None:
            raise ClientGone
        self._hangup = Hangup(transport, self._emptied)
        limit_silence(transport, _BEATS * self._heartbeat)
        room = Room(transport, self._is_held_up, self._probe)
        try:
            await self._response.prepare(self._request)
        except _LOST:
            raise ClientGone from None
        await self._write(_COMMENT)  # browsers treat the stream as open after its first byte
        return room

    async def _run(self, schema: Schema, asked: Parameters, context: Context) -> None:
        assert self._hangup
        self._operation = asyncio.create_task(deliver(self, schema, asked, context))
        self._guarding = asyncio.create_task(self._guard())
        ends = {self._operation, self._guarding, self._hangup.noticed}
        while not (await asyncio.wait(ends, timeout=self._heartbeat, return_when=asyncio.FIRST_COMPLETED))[0]:
            if not self._writing.locked():  # else an event is being sent, which serves as the heartbeat
                await self._write(_COMMENT)

    async def end_operations(self) -> None:
        """Cancel the subscription, and wait until it has released everything."""
        self._cancel()
        if self._operation is not None:
            await asyncio.wait({self._operation})

    def _cancel(self) -> None:
        # A second cancellation would interrupt the clean-up that the first one began.
        if self._operation is not None and not self._operation.cancelling():
            self._operation.cancel()

    async def _close(self, close: Close) -> None:
        self._cancel()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                if close is Close.FORBIDDEN:
                    await self.send_initial_errors([Unauthenticated("The session has ended")])
                await self.send_complete()
        except TimeoutError:
            self._cut()
        except ClientGone:
            pass

    async def _stop(self) -> None:
        await stop(self._probing)
        if self._response.prepared:
            try:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._response.write_eof()
            except TimeoutError:
                self._cut()
            except _LOST:
                pass
        if self._hangup is not None:
            self._hangup.stand_aside()

    def _cut(self) -> None:
        if self._request.transport is not None:
            self._request.transport.abort()

    # ------------------------------------------------------------ what it sends

    async def send_next(self, execution_result: ExecutionResult) -> None:
        """Send one result."""
        if self._turn is not None:
            self._turn.rendered()
        await self._write(next_event(to_json(execution_result)))

    def send_now(self, result: JsonResult) -> bool:
        """Send a shared result at once; return False, and send nothing, if it would have to wait."""
        transport = self._request.transport
        if self._completed or transport is None or transport.is_closing():
            return False
        if self._room is None or not self._room.is_open:
            return False
        event = next_event(result.json)
        self._room.sent(len(event))
        # Without HTTP/1.1 there are no chunks, and the end of the connection is the end of the stream.
        is_chunked = hdrs.TRANSFER_ENCODING in self._response.headers
        transport.write(b"%x\r\n%b\r\n" % (len(event), event) if is_chunked else event)
        return True

    async def send_initial_errors(self, errors: list[GraphQLError]) -> None:
        """Send request errors, and the end of the stream."""
        self._failed(errors[0])
        await self._write(next_event(encode({"errors": [error.formatted for error in errors]})) + COMPLETE, last=True)

    async def send_complete(self) -> None:
        """Send the end of the stream, unless it was sent already."""
        await self._write(COMPLETE, last=True)

    async def _write(self, data: bytes, *, last: bool = False) -> None:
        async with self._writing:
            if self._completed:
                return
            self._completed = last
            try:
                async with asyncio.timeout(_BEATS * self._heartbeat):
                    await self._give(data)
            except TimeoutError:
                self._cut()
                raise ClientGone from None
            except _LOST:
                raise ClientGone from None
        if self._room is not None:
            self._room.look_again()

    async def _give(self, data: bytes) -> None:
        """Write data, and wait until the kernel has taken it."""
        if self._room is not None:
            self._room.sent(len(data))
        self._taken.clear()
        await self._response.write(data)
        transport = self._request.transport
        if transport is not None and transport.get_write_buffer_size():
            await self._taken.wait()

    # ------------------------------------------------------------ whether there is room

    def _is_held_up(self) -> bool:
        transport = self._request.transport
        is_probing = self._probing is not None and not self._probing.done()
        return is_probing or self._writing.locked() or bool(transport and transport.get_write_buffer_size())

    def _emptied(self) -> None:
        self._taken.set()
        if self._room is not None:
            self._room.writable()

    def _probe(self) -> None:
        self._probing = asyncio.create_task(self._ask_kernel())

    async def _ask_kernel(self) -> None:
        with suppress(ClientGone):
            await self._write(_COMMENT)
        if self._room is not None:
            self._room.probed()
