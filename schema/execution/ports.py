"""Protocols that this layer requires of the resolvers. With them it can be run and tested without a database."""

import asyncio
from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, Self

from resolvers.process.errors import RequestError
from resolvers.process.tokens import Claims
from store.client.health import Readiness
from store.settings import Settings


class Context(Protocol):
    """The context of one operation. Each operation and each event of a subscription has a new one."""

    claims: Claims | None  # None for an anonymous request.
    fields: frozenset[str] | None  # Names of all fields in the document, where known.
    renderer: Any  # Renders events of a subscription whose results viewers may share, None for all others.
    send_now: Callable[[Any], bool] | None  # Sends a shared result at once, or returns False, where the transport can.
    room: AbstractAsyncContextManager[None]  # Held by a subscription while it renders and sends an event.

    @property
    def looks(self) -> asyncio.Semaphore:
        """Limits how many events of subscriptions read data and are rendered at the same time."""

    @property
    def request_id(self) -> str:
        """The id under which the request is logged."""

    @property
    def fatal(self) -> RequestError | None:
        """The error that replaces the whole answer, data included."""

    def fail(self, error: RequestError) -> None:
        """Set the error that replaces the whole answer, unless one is set already."""

    def fresh(self, *, counted: bool = True) -> Self:
        """Return a new context of the same viewer that has read nothing yet, counted as a request or not."""

    async def recall(self, asked: Hashable) -> bytes | None:
        """Return the cached JSON of an operation for this viewer, checked to be current; None where there is none."""

    def remember(self, json: bytes) -> None:
        """Cache the JSON of the operation that was not recalled, if that may be done."""

    async def close(self) -> None:
        """Check the session unless that was done already; may set `fatal`. The context stays usable."""


class NewContext(Protocol):
    """Makes the context of an operation."""

    def __call__(
        self,
        services: Any,
        claims: Claims | None,
        /,
        *,
        address: str,
        user_agent: str,
        request_id: str,
        socket: bool = False,
    ) -> Context:
        """Return the context of one operation, which a websocket or a request has begun."""


class Tokens(Protocol):
    """Reads access tokens."""

    def read(self, token: str) -> Claims:
        """Return the claims of a token; raises Unauthenticated."""


class Services(Protocol):
    """The services of one process."""

    @property
    def settings(self) -> Settings:
        """The settings of the process."""

    @property
    def tokens(self) -> Tokens:
        """Reads access tokens."""

    @property
    def looks(self) -> asyncio.Semaphore:
        """Limits how many events of subscriptions read data and are rendered at the same time."""

    async def session_is_valid(self, claims: Claims) -> bool:
        """Return whether a session has not ended; raises ServiceUnavailable."""

    def store_silence(self) -> float:
        """Return for how long the store has left a command unanswered, s; no round trip."""

    async def readiness(self) -> Readiness:
        """Return whether the store answers reads and accepts writes; raises nothing."""

    def on_session_end(self, callback: Callable[[int, str | None], None]) -> None:
        """Register a callback for ended sessions: it gets the member and the session, or None for all sessions."""
