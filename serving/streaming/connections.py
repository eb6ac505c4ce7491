"""Long-lived connections, both websockets and event streams: their owners, their limits and how they end."""

import asyncio
from abc import ABC, abstractmethod
from collections import defaultdict
from contextlib import suppress

import structlog
from msgspec import Struct

from resolvers.process.errors import ServiceUnavailable
from resolvers.process.tokens import Claims
from schema.execution.live_costs import EventCost, LiveCosts, Owner
from schema.execution.ports import Services
from serving.overload.shedding import Shedder
from serving.streaming.room import RenderingTurn, Room
from serving.streaming.websocket import Close
from store.secret import Secret

_CLOSING_SECONDS = 8.0  # time for all connections to end when the process stops

log = structlog.get_logger(__name__)


class Peer(Struct, frozen=True):
    """The client, as described by its request; `authorization` is the value of that header of a websocket's request."""

    address: str
    user_agent: str
    request_id: str
    authorization: Secret | None = None


class Connection(ABC):
    """One long-lived connection.

    It belongs to the session of the token that opened it. It ends with that session, not when the token expires.
    """

    def __init__(
        self, services: Services, connections: "Connections", peer: Peer, claims: Claims | None = None
    ) -> None:
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
        """The owner of the connection: the member, or the address of an anonymous client."""
        return self.claims.member if self.claims else self._peer.address

    def turn(self, room: Room, cost: EventCost | None) -> RenderingTurn | None:
        """Return the turns of an operation on the connection, or None where its events have shared renderings."""
        is_for_all = cost is not None and cost.selection is not None
        return None if is_for_all else RenderingTurn(room, self._services.looks)

    def end(self, close: Close) -> None:
        """Start closing the connection, without waiting for it."""
        self._ending = self._ending or close
        self._news.set()

    async def leave(self) -> None:
        """Release everything that the connection holds, once either side has closed it."""
        # The server may cancel this task when the connection closes. The release must still finish.
        self._letting_go = asyncio.create_task(self._let_go())
        await asyncio.shield(self._letting_go)

    @abstractmethod
    async def end_operations(self) -> None:
        """Cancel the operations on the connection, and wait until they have released everything."""

    @abstractmethod
    async def _close(self, close: Close) -> None:
        """Send the reason to the client and end the connection, whether or not the client cooperates."""

    @abstractmethod
    async def _stop(self) -> None:
        """Stop writing. No operation runs on the connection any more."""

    def _patience(self) -> float:
        """Return the interval in seconds after which the connection is examined if nothing happened."""
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
        """Close the connection when an examination says so, its session ends, or the process stops.

        The end of a session is published by Pub/Sub, which may lose it. So every heartbeat also looks the session up.
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
        """Return the reason to close the connection now, or None."""
        if self.claims is not None and not await self._session_is_valid(self.claims):
            return self._ending or Close.FORBIDDEN
        return self._ending

    async def _session_is_valid(self, claims: Claims) -> bool:
        try:
            return await self._services.session_is_valid(claims)
        except ServiceUnavailable:
            return True  # unknown: every operation checks the session itself, and the next heartbeat asks again
        except Exception:
            log.exception("a session could not be checked", request_id=self._peer.request_id)
            return True


class Connections:
    """The open connections of this process, by owner."""

    def __init__(self, most_per_owner: int, most: int, most_cost: int, shedder: Shedder) -> None:
        self._most_per_owner = most_per_owner
        self._most = most
        self.costs = LiveCosts(most_cost)
        self.shedder = shedder
        self._open: set[Connection] = set()
        self._admitted: defaultdict[Owner, set[Connection]] = defaultdict(set)
        self.closing = False

    def __len__(self) -> int:
        return len(self._open)

    @property
    def full(self) -> bool:
        """Whether the process has its maximum of long-lived connections. The rest is reserved for requests."""
        return len(self._open) >= self._most

    def add(self, connection: Connection) -> None:
        """Add a connection, as soon as its request has arrived."""
        self._open.add(connection)

    def admit(self, connection: Connection) -> bool:
        """Count a connection for its owner; return False, and don't count it, above the owner's maximum."""
        if len(self._admitted[connection.owner]) >= self._most_per_owner:
            return False
        self._admitted[connection.owner].add(connection)
        return True

    def release(self, connection: Connection) -> None:
        """Stop counting a connection for its owner, because its client is gone."""
        self._admitted[connection.owner].discard(connection)
        if not self._admitted[connection.owner]:
            del self._admitted[connection.owner]

    def remove(self, connection: Connection) -> None:
        """Remove a connection that has released everything."""
        self._open.discard(connection)

    def end_session(self, member: int, session: str | None) -> None:
        """Close the connections of a session, or of all of a member's sessions."""
        for one in self._open:
            if one.claims and one.claims.member == member and session in {None, one.claims.session}:
                one.end(Close.FORBIDDEN)

    async def close(self) -> None:
        """Close all connections, and add no more."""
        self.closing = True
        await self.end_all()

    async def end_all(self) -> None:
        """Close all connections because the process stops, and wait until they have released everything.

        A client may connect again over a connection of a proxy that is still open. Then it is served a little longer.
        """
        connections = list(self._open)
        for one in connections:
            one.end(Close.GOING_AWAY)
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                await asyncio.gather(*(one.gone.wait() for one in connections))
