"""What an operation knows: who asks, the database, and loaders that gather look-ups into few round trips."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any

from resolvers.operation.batcher import Batcher
from resolvers.operation.cached_kinds import CachedKinds
from resolvers.operation.compute_once import ComputeOnce
from resolvers.operation.errors import (
    Forbidden,
    RequestError,
    Unauthenticated,
    UserErrorCode,
    refuse,
    unavailable,
)
from resolvers.operation.loaders import DataLoaders
from resolvers.operation.session_check import SessionCheck, lives
from resolvers.operation.stream_filters import Listeners
from resolvers.operation.tokens import Claims, Passwords, Tokens
from store import jobs, keys
from store.accounts import SESSIONS
from store.big_authors import BigAuthors
from store.client.database import Database, Unavailable
from store.client.pubsub import PubSub
from store.client.tasks import stop
from store.event_reader import Log
from store.records import Relationship, Role
from store.settings import Settings

RENDERINGS_KEPT = 1_000  # events as selections have them
ANNOUNCED_KEPT = 1_000  # events of which it is remembered what they tell: subscribers are not all equally fast
LOOKS_AT_ONCE = 16  # events of subscriptions that are looked up and rendered at a time: each for one viewer alone
OnSessionEnd = Callable[[int, str | None], None]

_NO_WAITING = contextlib.nullcontext()


class Services:
    """What a process has once: settings, database, tokens, the live log."""

    def __init__(self, settings: Settings, db: Database, secret: str) -> None:
        self.settings = settings
        self.db = db
        self.tokens = Tokens(settings, secret)
        self.passwords = Passwords(settings)
        self.pubsub = PubSub(db)
        self.log = Log(db, self.pubsub)
        self.listeners = Listeners(self.log, settings.subscriber_queue, self._forget_events)
        self.renderings: ComputeOnce[Hashable, object] = ComputeOnce(RENDERINGS_KEPT)
        self.announced: ComputeOnce[str, object] = ComputeOnce(ANNOUNCED_KEPT)
        self.looks = asyncio.Semaphore(LOOKS_AT_ONCE)
        self.big = BigAuthors()
        self.known = CachedKinds(db.cache)
        self.authors: dict[int, int] = {}  # post → author, which never changes: read ahead with the post where known
        self._on_session_end: list[OnSessionEnd] = []
        self._handing_over: asyncio.Task[None] | None = None
        self.silences = 0  # times after which the end of a session may have gone unheard

    async def start(self) -> None:
        """Begin to hear what other processes tell."""
        self.pubsub.listen(SESSIONS, self._session_ended)
        await self.log.start()
        self.pubsub.start()
        self._handing_over = asyncio.create_task(jobs.keep_handing_over(self.db), name="handing over")

    async def close(self) -> None:
        """Stop hearing, and let go of threads and connections."""
        await stop(self._handing_over)
        await self.log.close()
        await self.pubsub.close()
        self.passwords.close()
        await self.db.close()

    def context(
        self, claims: Claims | None, *, address: str, user_agent: str, request_id: str, socket: bool = False
    ) -> Context:
        """Return the context of one operation."""
        return Context(self, claims, address=address, user_agent=user_agent, request_id=request_id, socket=socket)

    async def session_stands(self, claims: Claims) -> bool:
        """Return whether the session has not been ended; raises ServiceUnavailable."""
        try:
            return lives(claims.session, await self.db.one("HGET", keys.sessions(claims.member), claims.session))
        except Unavailable as error:
            raise unavailable(error) from error

    async def trouble(self) -> str:
        """Return which state keeps the database from answering or from accepting writes, "" where nothing does."""
        return await self.db.trouble()

    def on_session_end(self, callback: OnSessionEnd) -> None:
        """Have a callback called with member and session whenever a session ends, in whichever process."""
        self._on_session_end.append(callback)

    def _forget_events(self) -> None:
        # Who reads slowly has the events before this one looked up anew.
        self.announced.clear()
        self.renderings.clear()

    def _session_ended(self, message: str) -> None:
        if not message:  # heard anew: what was told meanwhile is lost, and to be looked up
            self.silences += 1
            return
        member, _, session = message.partition(" ")
        for callback in self._on_session_end:
            callback(int(member), session or None)


class Context:
    """One operation, or one event of a subscription: who asks, and what has been read for them."""

    def __init__(
        self,
        services: Services,
        claims: Claims | None,
        *,
        address: str,
        user_agent: str,
        request_id: str,
        socket: bool = False,
        counted: bool = True,
    ) -> None:
        self.services = services
        self.claims = claims
        self.address = address
        self.user_agent = user_agent
        self.request_id = request_id
        self.socket = socket
        self.counted = counted
        self.relationships: Mapping[int, Relationship] | None = (
            None  # of a subscription to the whole site: kept up by its events
        )
        self.selection: object | None = None  # what the document asks for, where others may be answered the same
        # Held by a subscription while it looks, and sends what it finds; entering waits for a client that reads slowly.
        self.room: contextlib.AbstractAsyncContextManager[None] = _NO_WAITING
        self.fields: frozenset[str] | None = None  # names of all fields in the document, where known
        # Apart from the context, so that neither refers to the other in a circle: what is read is freed at once.
        sessions = services.known.sessions.of(claims.member if claims else 0)
        self._session_check = SessionCheck(
            claims, address, services.settings.rate_limit if counted else 0, sessions, services.db.counts
        )
        self._silences = services.silences
        self.batcher = Batcher(services.db, self._session_check)
        self.load = DataLoaders(self.batcher, self.services.known, self.viewer)

    @property
    def db(self) -> Database:
        return self.services.db

    @property
    def settings(self) -> Settings:
        return self.services.settings

    @property
    def looks(self) -> asyncio.Semaphore:
        """Held by who looks at the data for one event of a subscription, and renders it."""
        return self.services.looks

    @property
    def viewer(self) -> int | None:
        """Who asks; None for an anonymous request. Only a name until the first round trip has proved it."""
        return self.claims.member if self.claims else None

    @property
    def fatal(self) -> RequestError | None:
        """The error that the whole operation must be answered with, data and all."""
        return self._session_check.fatal

    def fail(self, error: RequestError) -> None:
        """Have the whole operation answered with an error, unless it is with another one already."""
        self._session_check.fail(error)

    @property
    def is_moderator(self) -> bool:
        """Whether the viewer sees what only moderators see; known once proved."""
        return self._session_check.role is not Role.MEMBER

    def nobody(self) -> Context:
        """Return a context in which somebody looks who has nothing to do with anybody."""
        return Context(
            self.services, None, address=self.address, user_agent="", request_id=self.request_id, counted=False
        )

    async def rendered(self, key: Hashable, render: Callable[[], Awaitable[Any]]) -> Any:
        """Return what was rendered for all under a key, by whoever asked first."""
        return await self.services.renderings.get(key, render)

    async def rendered_now(self, key: Hashable, render: Callable[[], Awaitable[Any]]) -> Any:
        """Return what is rendered for the viewer under a key at this moment, by whoever of theirs asked first."""
        return await self.services.renderings.join((self.viewer, key), render)

    def fresh(self, *, counted: bool = True) -> Context:
        """Return a context for the same viewer and document that has read nothing yet."""
        context = Context(
            self.services,
            self.claims,
            address=self.address,
            user_agent=self.user_agent,
            request_id=self.request_id,
            socket=self.socket,
            counted=counted,
        )
        context.fields = self.fields
        context.room = self.room
        return context

    def forget(self) -> None:
        """Read records anew from now on: something was written."""
        self.batcher.outdate()
        self.load = DataLoaders(self.batcher, self.services.known, self.viewer)

    def wants(self, field: str) -> bool:
        """Return whether the document names a field anywhere, so that reading ahead for it pays."""
        return self.fields is None or field in self.fields

    async def proved(self) -> None:
        """Make sure that the session stands and the limit on requests is kept; raises what ends the operation."""
        await self.batcher.run([])

    async def member(self) -> int:
        """Return the signed-in member, proved; raises Unauthenticated for an anonymous request."""
        if self.claims is None:
            raise Unauthenticated("sign in first: this needs an access token")
        await self.proved()
        return self.claims.member

    async def active(self) -> None:
        """Raise the refusal of a suspended member: they may see to their own account, and do nothing else."""
        if self.claims is None:
            return
        await self.proved()
        if self._session_check.is_suspended:
            raise refuse(UserErrorCode.NOT_ALLOWED, "this account is suspended")

    async def administrator(self) -> int:
        """Return the signed-in administrator; raises Unauthenticated, or Forbidden for any other member."""
        member = await self.member()
        if self._session_check.role is not Role.ADMIN:
            raise Forbidden("this needs the role of an administrator")
        return member

    async def close(self) -> None:
        """End the operation: one that has read nothing has its session checked now, and sets `fatal` if it fails."""
        with contextlib.suppress(RequestError):
            await self.proved()

    def would_have_heard(self) -> bool:
        """Return whether the end of the session would have been heard of, since this was last asked."""
        before, self._silences = self._silences, self.services.silences
        return before == self._silences
