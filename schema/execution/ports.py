"""What this layer asks of the application behind it, so that it can be run and tested without a database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, Self

from resolvers.operation.errors import RequestError
from resolvers.operation.tokens import Claims
from store.settings import Settings


class Context(Protocol):
    """What one operation knows; made anew for each operation and each event of a subscription."""

    fields: frozenset[str] | None  # names of all fields in the document, where known
    selection: object | None  # what is asked for, where others may be answered the same
    room: AbstractAsyncContextManager[None]  # held by a subscription while it looks, and sends what it finds

    @property
    def looks(self) -> asyncio.Semaphore:
        """Held by who looks at the data for one event of a subscription, and renders it."""

    @property
    def request_id(self) -> str:
        """The id under which the request is logged."""

    @property
    def relationships(self) -> Mapping[int, object] | None:
        """To whom a subscriber to the whole site stands in some way, kept up while it goes on; None for others."""

    @property
    def fatal(self) -> RequestError | None:
        """The error that the whole operation must be answered with, data and all."""

    def fail(self, error: RequestError) -> None:
        """Have the whole operation answered with an error, unless it is with another one already."""

    def fresh(self, *, counted: bool = True) -> Self:
        """Return a context of the same viewer that has read nothing yet, to be counted as a request or not."""

    def would_have_heard(self) -> bool:
        """Return whether the end of the session would have been heard of, since this was last asked."""

    async def close(self) -> None:
        """Check the session unless that has happened; may set `fatal`. The context goes on being of use."""


class Tokens(Protocol):
    """Reads access tokens."""

    def read(self, token: str) -> Claims:
        """Return what a token says; raises Unauthenticated."""


class Services(Protocol):
    """What a process has once."""

    @property
    def settings(self) -> Settings:
        """Every number an operator may turn."""

    @property
    def tokens(self) -> Tokens:
        """Reads access tokens."""

    @property
    def looks(self) -> asyncio.Semaphore:
        """Held by who looks at the data for one event of a subscription, and renders it."""

    def context(
        self, claims: Claims | None, *, address: str, user_agent: str, request_id: str, socket: bool = False
    ) -> Context:
        """Return the context of one operation."""

    async def session_stands(self, claims: Claims) -> bool:
        """Return whether a session has not been ended; raises ServiceUnavailable."""

    async def trouble(self) -> str:
        """Return which state keeps the database from answering or from accepting writes, "" where nothing does."""

    def on_session_end(self, callback: Callable[[int, str | None], None]) -> None:
        """Have a callback called with member and session, or None for all of the member's sessions."""
