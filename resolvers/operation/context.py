"""The context of one operation: its viewer, session check, batcher and data loaders."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from msgspec import Struct

from resolvers.loading.batcher import Batcher
from resolvers.loading.loaders import DataLoaders
from resolvers.process.answers import NO_FACTS, Answer
from resolvers.process.errors import Forbidden, RequestError, Unauthenticated, UserErrorCode, refuse
from resolvers.process.services import Services
from resolvers.process.session_check import SessionCheck
from resolvers.process.site_stream import Renderer
from resolvers.process.tokens import Claims
from resolvers.rules import links
from store.credentials.records import Role
from store.moderation.records import RANKS
from store.records.posts import Post

_MEMBERS = "members"  # in place of the viewer, in the keys of answers for all whose facts agree
_NO_WAITING = contextlib.nullcontext()


class ReadAhead(Struct, frozen=True):
    """What an operation's first round trip reads of the viewer's writes, ahead of one with a text."""

    text: str
    digest: str  # of the text, "" where it may be repeated
    replies: asyncio.Future[list[Any]]


class Context:
    """State of one operation, or of one event of a subscription: the viewer, and what has been read for them."""

    # A subscription holds it while it reads and sends an event. Entering waits for a client that reads slowly.
    room: contextlib.AbstractAsyncContextManager[None] = _NO_WAITING
    # Sends a shared result to the client at once, or returns False. None where the transport cannot.
    send_now: Callable[[Any], bool] | None = None
    renderer: Renderer | None = None  # of a subscription whose results viewers may share
    fields: frozenset[str] | None = None  # names of all fields in the document, if known
    is_momentary = False  # whether the answer depends on the current moment
    is_personal = False  # whether the answer shows who the viewer is
    _recalled: tuple[Hashable, Hashable] = None, None  # keys of the operation's answer: the viewer's, and all members'
    read_ahead: ReadAhead | None = None  # set by `write_limits`

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
        self.db, self.settings = services.db, services.settings
        self.looks = services.looks  # held while the data for one event of a subscription is read and rendered
        self.claims = claims
        # The viewer's id; None for an anonymous request. Not authenticated before the first round trip.
        self.viewer = claims.member if claims else None
        self.address = address
        self.user_agent = user_agent
        self.request_id = request_id
        self.socket = socket
        self.counted = counted
        # The check doesn't refer to the context. Without a reference cycle, everything read is freed at once.
        sessions = services.cached.sessions.of(claims.member if claims else 0)
        self._session_check = SessionCheck(
            claims,
            address,
            self.settings.rate_limit if counted else 0,
            sessions,
            self.db.counts,
            needs_two_factor=self.settings.moderators_need_two_factor,
        )
        self._silences = services.silences
        self.batcher = Batcher(self.db, self._session_check)
        self.load = DataLoaders(self.batcher, self.services.cached, self.viewer)

    @property
    def fatal(self) -> RequestError | None:
        """The error that replaces the answer of the whole operation, its data included."""
        return self._session_check.fatal

    def fail(self, error: RequestError) -> None:
        """Answer the whole operation with an error; the first error wins."""
        self._session_check.fail(error)

    @property
    def is_moderator(self) -> bool:
        """Whether the viewer sees what only moderators see; valid after the session check. Not while suspended."""
        return self._session_check.role is not Role.MEMBER and not self._session_check.is_suspended

    @property
    def is_suspended(self) -> bool:
        """Whether the viewer is suspended, so that they see nothing but what strangers see and what is theirs.

        Valid after the session check.
        """
        return self._session_check.is_suspended

    def nobody(self) -> "Context":
        """Return a context for an anonymous viewer, who has no relationships."""
        return Context(
            self.services, None, address=self.address, user_agent="", request_id=self.request_id, counted=False
        )

    def fresh(self, *, counted: bool = True) -> "Context":
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
        """Drop loaded values, and use no cached ones until the store replies, because something was written."""
        self.batcher.outdate()
        self.load = DataLoaders(self.batcher, self.services.cached, self.viewer)

    def sign_out(self) -> None:
        """Be anonymous from now on: later fields of the same document have no viewer."""
        self.claims = self.viewer = None
        self.forget()

    async def recall(self, asked: Hashable) -> bytes | None:
        """Return the cached JSON of an operation, checked to be current; one round trip, none where there is none.

        From now on, `remember` caches what the operation is answered with.
        """
        answers = self.services.answers
        # With a new span of the grid, links to pictures are new, and so may be the day on which a home is read.
        span = int(time.time()) // links.GRID
        self._recalled = (self.viewer, asked, span), (_MEMBERS, asked, span)
        is_shared = not answers.find(self._recalled[0])
        if is_shared:
            found = answers.find(self._recalled[1]) if self.viewer else ()
            if not found:
                return None
            with contextlib.suppress(Exception):  # the operation meets it again
                await self.load.ask_facts(found[0].facts)
        await self.close()
        if self.fatal or not self.batcher.is_current:
            return None
        return answers.use(self._recalled[is_shared], self._session_check.standing, self.load.agrees)

    def remember(self, json: bytes) -> None:
        """Cache the JSON of the operation, if the server reports every change of what it was made of."""
        if self.batcher.is_tracked and self.batcher.is_current and not self.is_momentary:
            facts = NO_FACTS if self.is_personal else self.load.facts()
            marks = self.load.marks(facts)
            if marks is not None:
                answer = Answer(json, marks, self._session_check.standing, facts)
                self.services.answers.keep(self._recalled[bool(facts)], answer)

    def show(self, post: Post, *, has_liked: bool) -> None:
        """Show a post as a write has left it, and use no cached values until the store replies.

        Everything else that the operation has read stays, because the write has not changed it.
        """
        self.batcher.outdate()
        self.load.post.prime({post.id: post})
        self.load.has_liked.prime({post.id: has_liked})

    def wants(self, field: str) -> bool:
        """Return whether the document may name a field, so that prefetching for it pays."""
        return self.fields is None or field in self.fields

    def wanted(self, fields: Mapping[str, str]) -> list[str]:
        """Return the values of those fields that the document may name."""
        named = self.fields
        return [value for field, value in fields.items() if named is None or field in named]

    async def authenticate(self) -> None:
        """Run the session check and the rate limit, unless done; raises the error that ends the operation."""
        if not self.batcher.is_checked:
            await self.batcher.check()

    async def member(self) -> int:
        """Return the authenticated viewer; raises Unauthenticated for an anonymous request."""
        if self.claims is None:
            raise Unauthenticated("sign in first: this needs an access token")
        await self.authenticate()
        return self.claims.member

    async def active(self) -> None:
        """Refuse a suspended member with NOT_ALLOWED: they may only manage their own account.

        While REQUIRE_VERIFIED_EMAIL is on, the same holds for a member whose address is not verified.
        """
        if self.claims is None:
            return
        await self.authenticate()
        if self._session_check.is_suspended:
            raise refuse(UserErrorCode.NOT_ALLOWED, "this account is suspended")
        if self.settings.require_verified_email and not self._session_check.is_verified:
            raise refuse(UserErrorCode.NOT_ALLOWED, "verify your e-mail address first: until then you may only read")

    async def moderator(self) -> int:
        """Return the authenticated moderator or administrator; raises Unauthenticated, or Forbidden for others."""
        member = await self.member()
        if not self.is_moderator:
            raise Forbidden("this needs the role of a moderator")
        return member

    @property
    def rank(self) -> int:
        """The rank of the viewer's role: they act only on members of a lower one. Valid after the session check."""
        return RANKS[self._session_check.role]

    async def administrator(self) -> int:
        """Return the authenticated administrator; raises Unauthenticated, or Forbidden for any other member.

        The error says so if a second factor is all that they lack.
        """
        member = await self.member()
        if self._session_check.role is Role.ADMIN:
            return member
        if self._session_check.lacks_two_factor:
            raise Forbidden("moderators and administrators need a second factor: turn it on with enableTwoFactor")
        raise Forbidden("this needs the role of an administrator")

    async def close(self) -> None:
        """End the operation. If it has read nothing, the session check runs now, and its failure sets `fatal`."""
        if not self.batcher.is_checked:
            with contextlib.suppress(RequestError):
                await self.authenticate()

    @property
    def is_subscribed(self) -> bool:
        """Whether Pub/Sub has not resubscribed since `trust_session`, so that it missed no end of the session."""
        return self._silences == self.services.silences

    def trust_session(self) -> None:
        """Trust Pub/Sub to report the end of the session from now on, because the session is checked once more."""
        self._silences = self.services.silences
