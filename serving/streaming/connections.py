"""Connections that stay open, websockets and event streams alike: whose they are, for how long, and how they end."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import defaultdict
from contextlib import suppress

import structlog
from msgspec import Struct

from resolvers.operation.errors import ServiceUnavailable
from resolvers.operation.tokens import Claims
from schema.execution.live_costs import EventCost, LiveCosts, Owner
from schema.execution.ports import Services
from serving.streaming.room import Room, Turn
from serving.streaming.websocket import Close
from store.secret import Secret

_CLOSING_SECONDS = 8.0  # how long all connections may take to end when the process stops

log = structlog.get_logger(__name__)


class Peer(Struct, frozen=True):
    """Who is at the other end, as far as the request tells; `authorization` is its header of that name."""

    address: str
    user_agent: str
    request_id: str
    authorization: Secret | None


class Connection(ABC):
    """One connection that stays open.

    It belongs to the session of the token it was opened with, and ends with that session, not with the token.
    """

    def __init__(self, services: Services, connections: Connections, peer: Peer, claims: Claims | None = None) -> None:
        self._services = services
        self._connections = connections
        self._peer = peer
        self.claims = claims
        self._ending: Close | None = None
        self._news = asyncio.Event()
        self._guarding: asyncio.Task[None] | None = None
        self._letting_go: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()

    @property
    def owner(self) -> Owner:
        """Whose connection it is."""
        return self.claims.member if self.claims else self._peer.address

    def turn(self, room: Room, cost: EventCost | None) -> Turn | None:
        """Return the turns of an operation on the connection; None where its events are rendered once for all."""
        is_for_all = cost is not None and cost.selection is not None
        return None if is_for_all else Turn(room, self._services.looks)

    def end(self, close: Close) -> None:
        """Have the connection closed, at once and without waiting for it."""
        self._ending = self._ending or close
        self._news.set()

    async def leave(self) -> None:
        """Let go of everything, once the connection is closed from either side."""
        # The server may cancel this task as the connection goes; what it holds has to be let go of all the same.
        self._letting_go = asyncio.create_task(self._let_go())
        await asyncio.shield(self._letting_go)

    @abstractmethod
    async def end_operations(self) -> None:
        """Cancel what runs on the connection and wait until it has let go of what it held."""

    @abstractmethod
    async def _close(self, close: Close) -> None:
        """Tell the client why the connection ends, and end it, whether or not the client takes part."""

    @abstractmethod
    async def _stop(self) -> None:
        """End the writing; nothing runs on the connection any more."""

    def _patience(self) -> float:
        """Return how long nothing may be heard of the connection until it is examined, s."""
        return self._services.settings.heartbeat_seconds

    async def _let_go(self) -> None:
        self._connections.release(self)
        await self.end_operations()
        if self._guarding is not None:
            if self._ending is None:
                self._guarding.cancel()
            with suppress(asyncio.CancelledError):
                await self._guarding
        await self._stop()
        self._connections.remove(self)
        self.gone.set()

    async def _guard(self) -> None:
        """Close the connection when it should not go on, its session ends, or the process stops.

        That a session ends is told by a message, which may be lost, so with every heartbeat it is also looked up.
        """
        while self._ending is None:
            try:
                async with asyncio.timeout(self._patience()):
                    await self._news.wait()
            except TimeoutError:
                self._ending = await self._examine()
            self._news.clear()
        await self._close(self._ending)

    async def _examine(self) -> Close | None:
        """Return why the connection should be closed now, if at all."""
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


class Connections:
    """The open connections of this process, by whom they belong to."""

    def __init__(self, most_per_owner: int, most: int, most_cost: int) -> None:
        self._most_per_owner = most_per_owner
        self._most = most
        self.costs = LiveCosts(most_cost)
        self._open: set[Connection] = set()
        self._admitted: defaultdict[Owner, set[Connection]] = defaultdict(set)
        self.closing = False

    def __len__(self) -> int:
        return len(self._open)

    @property
    def full(self) -> bool:
        """Whether the process has as many as it may: the rest of its connections is for requests."""
        return len(self._open) >= self._most

    def add(self, connection: Connection) -> None:
        """Know a connection from its request on."""
        self._open.add(connection)

    def admit(self, connection: Connection) -> bool:
        """Count a connection as its owner's; False when that would be one too many."""
        if len(self._admitted[connection.owner]) >= self._most_per_owner:
            return False
        self._admitted[connection.owner].add(connection)
        return True

    def release(self, connection: Connection) -> None:
        """Count a connection no more: its client is gone."""
        self._admitted[connection.owner].discard(connection)
        if not self._admitted[connection.owner]:
            del self._admitted[connection.owner]

    def remove(self, connection: Connection) -> None:
        """Forget a connection that has let go of everything."""
        self._open.discard(connection)

    def end_session(self, member: int, session: str | None) -> None:
        """Close the connections of a session, or of all of a member's sessions."""
        for one in self._open:
            if one.claims and one.claims.member == member and session in {None, one.claims.session}:
                one.end(Close.FORBIDDEN)

    async def close(self) -> None:
        """Close all connections, as the process stops, and wait until they have let go of everything."""
        self.closing = True
        connections = list(self._open)
        for one in connections:
            one.end(Close.GOING_AWAY)
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                await asyncio.gather(*(one.gone.wait() for one in connections))
