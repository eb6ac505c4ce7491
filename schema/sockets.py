"""Websockets that speak graphql-transport-ws: who holds one, for how long, and how it ends."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import structlog
from strawberry.aiohttp.views import GraphQLView
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.types import ConnectionInitMessage, Message

from resolvers.errors import ServiceUnavailable, Unauthenticated
from resolvers.tokens import Claims
from schema.channels import Channel, Close
from schema.messages import fault
from schema.operations import Schema
from schema.ports import Services
from schema.requests import bearer
from schema.streaming import OperationsHandler

Owner: TypeAlias = int | str  # a member's id, or the address of somebody anonymous

_CLOSING_SECONDS = 8.0  # how long all sockets may take to end when the process stops

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end, as far as the handshake tells; `authorization` is its header of that name."""

    address: str
    user_agent: str
    request_id: str
    authorization: str | None


class SocketHandler(OperationsHandler):
    """One websocket from its handshake to its end.

    It belongs to the session of the token it was opened with, and ends with that session, not with the token.
    """

    def __init__(
        self,
        view: GraphQLView[Any, Any],
        channel: Channel,
        schema: Schema,
        *,
        services: Services,
        sockets: Sockets,
        peer: Peer,
    ) -> None:
        super().__init__(view, channel, schema, services.settings)
        self._services = services
        self._sockets = sockets
        self._peer = peer
        self.claims: Claims | None = None
        self._ending: Close | None = None
        self._news = asyncio.Event()
        self._guarding: asyncio.Task[None] | None = None
        self._letting_go: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()

    @property
    def owner(self) -> Owner:
        """Whose socket it is."""
        return self.claims.member if self.claims else self._peer.address

    def end(self, close: Close) -> None:
        """Have the socket closed, at once and without waiting for it."""
        self._ending = self._ending or close
        self._news.set()

    # ------------------------------------------------------------ its life

    def on_request_accepted(self) -> None:
        """Begin to watch over the socket."""
        self._sockets.add(self)
        self._guarding = asyncio.create_task(self._guard())

    async def shutdown(self) -> None:
        """Let go of everything, once the socket is closed from either side."""
        # The server may cancel this task as the connection goes; what it holds has to be let go of all the same.
        self._letting_go = asyncio.create_task(self._let_go())
        await asyncio.shield(self._letting_go)

    async def _let_go(self) -> None:
        self._sockets.release(self)
        await self.end_operations()
        if self._guarding is not None:
            if self._ending is None:
                self._guarding.cancel()
            with suppress(asyncio.CancelledError):
                await self._guarding
        await self.websocket.stop()
        self._sockets.remove(self)
        self.gone.set()

    async def _guard(self) -> None:
        """Close the socket when the client never introduces itself, its session ends, or the process stops.

        That a session ends is told by a message, which may be lost, so with every heartbeat it is also looked up.
        """
        settings = self._services.settings
        while self._ending is None:
            patience = settings.heartbeat_seconds if self.connection_init_received else settings.socket_init_seconds
            try:
                async with asyncio.timeout(patience):
                    await self._news.wait()
            except TimeoutError:
                self._ending = await self._examine()
            self._news.clear()
        await self.websocket.end(self._ending)

    async def _examine(self) -> Close | None:
        """Return why the socket should be closed now, if at all."""
        if not self.connection_init_received:
            return Close.SILENT
        if self.websocket.ws.closed:
            # The heartbeat has given the client up, yet this side still waits to send: nothing but a cut ends that.
            self.websocket.cut()
        if self.claims is not None and not await self._session_stands(self.claims):
            return self._ending or Close.FORBIDDEN
        return self._ending

    async def _session_stands(self, claims: Claims) -> bool:
        try:
            return await self._services.session_stands(claims)
        except ServiceUnavailable:
            return True  # not known; every operation checks for itself, and the next heartbeat asks again
        except Exception:
            log.exception("a session could not be checked", request_id=self._peer.request_id)
            return True

    # ------------------------------------------------------------ its messages

    async def handle_message(self, message: Message) -> None:
        """Do what a message asks for, or close the socket for it."""
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
        """Learn who the client is, and acknowledge."""
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
        if not self._sockets.admit(self):
            await self.websocket.end(Close.TOO_MANY_SOCKETS)
            return
        self.context = self._services.context(
            self.claims,
            address=self._peer.address,
            user_agent=self._peer.user_agent,
            request_id=self._peer.request_id,
            socket=True,
        )
        self._news.set()  # from here on the guard counts heartbeats
        await self.send_message({"type": "connection_ack"})
        self.connection_acknowledged = True

    async def _identify(self, payload: dict[str, object]) -> None:
        given = next((value for key, value in payload.items() if key.lower() == "authorization"), None)
        authorization = self._peer.authorization if given is None else given
        if authorization is None:
            return
        if not isinstance(authorization, str):
            raise Unauthenticated("Authorization must be `Bearer TOKEN`")
        # Set before the session is looked up: should it end in between, this socket is found and closed.
        self.claims = self._services.tokens.read(bearer(authorization))
        if not await self._services.session_stands(self.claims):
            raise Unauthenticated("The session has ended")


class Sockets:
    """The open websockets of this process, by whom they belong to."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[SocketHandler] = set()
        self._admitted: defaultdict[Owner, set[SocketHandler]] = defaultdict(set)
        self.closing = False

    def __len__(self) -> int:
        return len(self._open)

    def add(self, socket: SocketHandler) -> None:
        """Know a socket from its handshake on."""
        self._open.add(socket)

    def admit(self, socket: SocketHandler) -> bool:
        """Count a socket as its owner's; False when that would be one too many."""
        if len(self._admitted[socket.owner]) >= self._most:
            return False
        self._admitted[socket.owner].add(socket)
        return True

    def release(self, socket: SocketHandler) -> None:
        """Count a socket no more: its client is gone."""
        self._admitted[socket.owner].discard(socket)
        if not self._admitted[socket.owner]:
            del self._admitted[socket.owner]

    def remove(self, socket: SocketHandler) -> None:
        """Forget a socket that has let go of everything."""
        self._open.discard(socket)

    def end_session(self, member: int, session: str | None) -> None:
        """Close the sockets of a session, or of all of a member's sessions."""
        for socket in self._open:
            if socket.claims and socket.claims.member == member and session in {None, socket.claims.session}:
                socket.end(Close.FORBIDDEN)

    async def close(self) -> None:
        """Close all sockets, as the process stops, and wait until they have let go of everything."""
        self.closing = True
        sockets = list(self._open)
        for socket in sockets:
            socket.end(Close.GOING_AWAY)
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                await asyncio.gather(*(socket.gone.wait() for socket in sockets))
