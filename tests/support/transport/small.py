"""A small schema and plain services, so that the layer above the resolvers is tested without a database."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Hashable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import strawberry
import structlog
from aiohttp import web
from graphql import GraphQLError

from resolvers.process.errors import BadUserInput, RequestError, ServiceUnavailable, Unauthenticated
from resolvers.process.tokens import Claims
from schema.execution.operations import Schema
from serving import logs
from serving.http.app import create_app
from store.client.health import Readiness
from store.client.tracing import Take
from store.settings import Settings

SECRET_TEXT = "the password of the database"
ALICE, BOB = 1, 2


@dataclass(eq=False)
class PlainContext:
    """The context of one operation, with a record of what was done with it."""

    services: "PlainServices"
    claims: Claims | None
    address: str
    user_agent: str
    request_id: str
    socket: bool
    counted: bool = True
    fatal: RequestError | None = None
    renderer: object | None = None
    send_now: Callable[[Any], bool] | None = None
    fields: frozenset[str] | None = None
    room: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)

    @classmethod
    def new(
        cls,
        services: "PlainServices",
        claims: Claims | None,
        /,
        *,
        address: str,
        user_agent: str,
        request_id: str,
        socket: bool = False,
    ) -> "PlainContext":
        context = cls(services, claims, address, user_agent, request_id, socket)
        services.contexts.append(context)
        return context

    def fresh(self, *, counted: bool = True) -> "PlainContext":
        context = replace(self, counted=counted, fatal=None)
        self.services.contexts.append(context)
        return context

    @property
    def looks(self) -> asyncio.Semaphore:
        return self.services.looks

    def fail(self, error: RequestError) -> None:
        self.fatal = self.fatal or error

    async def recall(self, asked: Hashable) -> bytes | None:  # noqa: ARG002  nothing is cached
        return None

    def remember(self, json: bytes) -> None:
        pass

    async def close(self) -> None:
        if not any(one is self for one in self.services.closed):  # a second time changes nothing
            self.services.closed.append(self)
        self.fatal = self.fatal or self.services.fatal


@dataclass
class PlainTokens:
    """Reads tokens such as `alice-phone`, and refuses all others."""

    members: dict[str, int] = field(default_factory=lambda: {"alice": ALICE, "bob": BOB})

    def read(self, token: str) -> Claims:
        login, _, session = token.partition("-")
        if login not in self.members:
            raise Unauthenticated("the access token is not valid")
        return Claims(self.members[login], session, 2_000_000_000)


@dataclass
class PlainServices:
    """The services of a process in plain memory; tests change them as needed."""

    settings: Settings = field(default_factory=Settings)
    tokens: PlainTokens = field(default_factory=PlainTokens)
    looks: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    fatal: RequestError | None = None
    ready: Readiness = field(default_factory=lambda: Readiness(reads=True, writes=True, states=[]))
    is_away: bool = False
    silence: float = 0.0  # s
    ended_sessions: set[tuple[int, str]] = field(default_factory=set)
    contexts: list[PlainContext] = field(default_factory=list)
    closed: list[PlainContext] = field(default_factory=list)
    end_session: Callable[[int, str | None], None] = field(default=lambda _member, _session: None)
    checked: asyncio.Event = field(default_factory=asyncio.Event)
    events: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    may_stop: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    advanced: int = 0
    served: web.Application | None = None

    async def session_is_valid(self, claims: Claims) -> bool:
        self.checked.set()
        if self.is_away:
            raise ServiceUnavailable("the database cannot be reached")
        return (claims.member, claims.session) not in self.ended_sessions

    def store_silence(self) -> float:
        return self.silence

    async def readiness(self) -> Readiness:
        return self.ready

    def on_session_end(self, callback: Callable[[int, str | None], None]) -> None:
        self.end_session = callback

    def app(self, take_span: Take | None = None, **turned: Any) -> web.Application:
        """Return the application over these services, with some settings changed; `take_span` gets its spans."""
        self.settings = Settings(**turned)
        self.may_stop.set()
        self.served = create_app(small_schema(self.settings), self, PlainContext.new, take_span=take_span)
        return self.served


@contextmanager
def logged() -> Iterator[list[Any]]:
    """Collect everything logged inside the context, at any level."""
    before = structlog.get_config()["wrapper_class"]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET))
    try:
        with structlog.testing.capture_logs(processors=[logs.add_context]) as lines:
            yield lines
    finally:
        structlog.configure(wrapper_class=before)


Info = strawberry.Info[PlainContext, None]


@strawberry.type
class Item:
    name: str
    children: "list[Item]"


@strawberry.type
class Items:
    nodes: list[Item]
    total: int


@strawberry.input
class IdsInput:
    user_ids: list[strawberry.ID]


def _items(first: int = 20) -> Items:
    return Items(nodes=[Item(name=f"item {number}", children=[]) for number in range(min(first, 3))], total=3)


def _page(first: int | None = None, last: int | None = None) -> Items:
    return _items(first or last or 20)


@strawberry.type
class Query:
    items: Items = strawberry.field(resolver=_items)
    page: Items = strawberry.field(resolver=_page)

    @strawberry.field
    def echo(self, text: str) -> str:
        return text

    @strawberry.field
    def square(self, number: int = 1) -> int:
        return number * number

    @strawberry.field
    def nodes(self, ids: list[strawberry.ID]) -> list[Item]:
        return [Item(name=one, children=[]) for one in ids]

    @strawberry.field
    def viewer(self, info: Info) -> int | None:
        return info.context.claims.member if info.context.claims else None

    @strawberry.field
    def whence(self, info: Info) -> str:
        return f"{info.context.address} {info.context.user_agent}"

    @strawberry.field
    def request_id(self, info: Info) -> str:
        return info.context.request_id

    @strawberry.field
    def broken(self) -> str | None:
        raise RuntimeError(SECRET_TEXT)

    @strawberry.field
    def broken_promise(self) -> str:
        raise RuntimeError(SECRET_TEXT)

    @strawberry.field
    def misfit(self) -> int | None:
        return SECRET_TEXT  # type: ignore[return-value]

    @strawberry.field
    def bare(self) -> str | None:
        raise GraphQLError(SECRET_TEXT)

    @strawberry.field
    def refused(self) -> str | None:
        raise BadUserInput("`first` must be at least 1")

    @strawberry.field
    def fatal(self, info: Info) -> str | None:
        info.context.fatal = ServiceUnavailable("the database cannot be reached")
        raise info.context.fatal


@strawberry.type
class Mutation:
    @strawberry.mutation
    def follow(self, input: IdsInput) -> list[Item]:  # noqa: A002  the name that GraphQL has for it
        return [Item(name=one, children=[]) for one in input.user_ids]


@strawberry.type
class Event:
    number: int
    text: str

    @strawberry.field
    def context_number(self, info: Info) -> int:
        return info.context.services.contexts.index(info.context)

    @strawberry.field
    def broken(self) -> str | None:
        raise RuntimeError(SECRET_TEXT)


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def events(self, info: Info) -> AsyncGenerator[Event, None]:
        services = info.context.services
        services.started.set()
        try:
            while (event := await services.events.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            await services.may_stop.wait()
            services.stopped.set()

    @strawberry.subscription
    async def flood(self, info: Info, size: int) -> AsyncGenerator[str, None]:
        services = info.context.services
        try:
            while True:
                services.advanced += 1
                yield "x" * size
        finally:
            services.stopped.set()


def small_schema(settings: Settings) -> Schema:
    """Return the schema under some settings."""
    return Schema(settings=settings, query=Query, mutation=Mutation, subscription=Subscription)
