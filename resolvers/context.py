"""What an operation knows: who asks, the database, and loaders that gather look-ups into few round trips."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

from resolvers.errors import UNREACHABLE, RateLimited, RequestError, ServiceUnavailable, Unauthenticated
from resolvers.tokens import Claims, Passwords, Tokens
from store import keys
from store.accounts import MINUTE_SECONDS, SESSIONS
from store.connection import Command, Database, Unavailable
from store.events import Log
from store.hearing import Hearing
from store.records import Comment, Credentials, Post, Session, Source, User, read_pairs, read_post, read_sources
from store.settings import Settings

QUIET_TURNS = 3  # turns of the event loop without a new look-up, after which those gathered are sent

Record = TypeVar("Record")
OnSessionEnd = Callable[[int, str | None], None]


class Services:
    """What a process has once: settings, database, tokens, the live log."""

    def __init__(self, settings: Settings, db: Database, secret: str) -> None:
        self.settings = settings
        self.db = db
        self.tokens = Tokens(settings, secret)
        self.passwords = Passwords(settings)
        self.hearing = Hearing(db)
        self.log = Log(db, self.hearing)
        self._on_session_end: list[OnSessionEnd] = []

    async def start(self) -> None:
        """Begin to hear what other processes tell."""
        await self.hearing.listen(SESSIONS, self._session_ended)
        await self.log.start()
        self.hearing.start()

    async def close(self) -> None:
        """Stop hearing, and let go of threads and connections."""
        await self.log.close()
        await self.hearing.close()
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
            raise ServiceUnavailable(UNREACHABLE) from error

    async def ready(self) -> bool:
        """Return whether the database answers."""
        return await self.db.ready()

    def on_session_end(self, callback: OnSessionEnd) -> None:
        """Have a callback called with member and session whenever a session ends, in whichever process."""
        self._on_session_end.append(callback)

    def _session_ended(self, message: str) -> None:
        # After a reconnection the message is empty: what was missed, the sockets' own re-check finds.
        if message:
            member, _, session = message.partition(" ")
            for callback in self._on_session_end:
                callback(int(member), session or None)


def lives(session: str, text: str | None) -> bool:
    """Return whether a session as stored is still good."""
    return text is not None and Session.read(session, text).expires > time.time_ns() // 1_000_000


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
        self.fatal: RequestError | None = None
        self.fields: frozenset[str] | None = None  # names of all fields in the document, where known
        self.reader = Reader(self)
        self.load = Loaders(self.reader, self.viewer)

    @property
    def db(self) -> Database:
        return self.services.db

    @property
    def settings(self) -> Settings:
        return self.services.settings

    @property
    def viewer(self) -> int | None:
        """Who asks; None for an anonymous request. Only a name until the first round trip has proved it."""
        return self.claims.member if self.claims else None

    def fresh(self, *, counted: bool = True) -> Context:
        """Return a context for the same viewer that has read nothing yet."""
        return Context(
            self.services,
            self.claims,
            address=self.address,
            user_agent=self.user_agent,
            request_id=self.request_id,
            socket=self.socket,
            counted=counted,
        )

    def forget(self) -> None:
        """Read records anew from now on: something was written."""
        self.load = Loaders(self.reader, self.viewer)

    def wants(self, field: str) -> bool:
        """Return whether the document names a field anywhere, so that reading ahead for it pays."""
        return self.fields is None or field in self.fields

    async def proved(self) -> None:
        """Make sure that the session stands and the limit on requests is kept; raises what ends the operation."""
        await self.reader.run([])

    async def member(self) -> int:
        """Return the signed-in member, proved; raises Unauthenticated for an anonymous request."""
        if self.claims is None:
            raise Unauthenticated("sign in first: this needs an access token")
        await self.proved()
        return self.claims.member

    async def close(self) -> None:
        """End the operation: one that has read nothing has its session checked now, and sets `fatal` if it fails."""
        with contextlib.suppress(RequestError):
            await self.proved()

    def checks(self) -> list[Command]:
        """Return the commands that prove the session and count the request."""
        commands: list[Command] = []
        if self.claims:
            commands.append(("HGET", keys.sessions(self.claims.member), self.claims.session))
        if self.settings.rate_limit and self.counted:
            minute = int(time.time()) // MINUTE_SECONDS
            viewer = self.viewer
            key = keys.address_requests(self.address, minute) if viewer is None else keys.requests(viewer, minute)
            commands += [("INCR", key), ("EXPIRE", key, 2 * MINUTE_SECONDS)]
        return commands

    def judge(self, replies: Sequence[Any]) -> None:
        """Raise what the checks have found: Unauthenticated, RateLimited."""
        left = list(replies)
        if self.claims and not lives(self.claims.session, left.pop(0)):
            raise Unauthenticated("the session has ended: log in again")
        if left and int(left[0]) > self.settings.rate_limit:
            wait = MINUTE_SECONDS - int(time.time()) % MINUTE_SECONDS
            raise RateLimited(f"more than {self.settings.rate_limit} requests in a minute", wait)


class Reader:
    """Gathers the look-ups of an operation: all that are asked for in the same moment leave in one round trip.

    The first round trip also carries the checks of the context. Where one of them fails, every look-up fails with
    that error, and so the whole operation does.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._waiting: list[tuple[Sequence[Command], asyncio.Future[list[Any]]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._checked: asyncio.Future[None] | None = None

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        """Return the replies to some commands, sent together with those of everybody who asks now."""
        if not commands and self._checked is not None and self._checked.done():
            self._checked.result()
            return []
        future: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append((commands, future))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return await future

    async def _flush(self) -> None:
        quiet, known = 0, len(self._waiting)
        while quiet < QUIET_TURNS:
            await asyncio.sleep(0)
            quiet = quiet + 1 if len(self._waiting) == known else 0
            known = len(self._waiting)
        waiting, self._waiting, self._flushing = self._waiting, [], None
        try:
            replies = await self._send([command for commands, _ in waiting for command in commands])
        except BaseException as error:  # noqa: BLE001  handed to everybody who waits
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever waited may be gone
            return
        start = 0
        for commands, future in waiting:
            if not future.done():
                future.set_result(replies[start : start + len(commands)])
            start += len(commands)

    async def _send(self, commands: list[Command]) -> list[Any]:
        context = self._context
        try:
            if self._checked is not None:
                await self._checked
                return await context.db.ask(*commands)
            return await self._send_first(commands)
        except Unavailable as error:
            context.fatal = context.fatal or ServiceUnavailable(UNREACHABLE)
            raise context.fatal from error
        except RequestError as error:
            context.fatal = context.fatal or error
            raise

    async def _send_first(self, commands: list[Command]) -> list[Any]:
        checked = self._checked = asyncio.get_running_loop().create_future()
        checks = self._context.checks()
        try:
            replies = await self._context.db.ask(*checks, *commands)
            self._context.judge(replies[: len(checks)])
        except BaseException as error:
            checked.set_exception(error)
            checked.exception()  # often nobody else waits
            raise
        checked.set_result(None)
        return replies[len(checks) :]


class Loaders:
    """Records by id, and how the viewer stands to them; each read once per operation, pipelined."""

    def __init__(self, reader: Reader, viewer: int | None) -> None:
        me = viewer or 0
        self.user: DataLoader[int, User | None] = _records(reader, keys.user, User.read)
        self.post: DataLoader[int, Post | None] = _records(reader, keys.status, read_post)
        self.comment: DataLoader[int, Comment | None] = _records(reader, keys.comment, Comment.read)
        self.credentials: DataLoader[int, Credentials | None] = _records(
            reader, keys.credentials, lambda _, fields: Credentials.read(fields)
        )
        self.has_liked: DataLoader[int, bool] = _flags(
            reader, lambda posts: [("ZSCORE", keys.likes(post), me) for post in posts]
        )
        self.has_reposted: DataLoader[int, bool] = _flags(reader, lambda posts: [("HMGET", keys.reposted(me), *posts)])
        self.follows: DataLoader[int, bool] = _flags(reader, lambda users: [("ZMSCORE", keys.following(me), *users)])
        self.followed_by: DataLoader[int, bool] = _flags(
            reader, lambda users: [("ZMSCORE", keys.followers(me), *users)]
        )
        self.sources: DataLoader[int, tuple[Source, ...]] = DataLoader(_sources(reader, me))


def _records(
    reader: Reader, key: Callable[[int], str], read: Callable[[int, dict[str, str]], Record | None]
) -> DataLoader[int, Record | None]:
    async def load(ids: list[int]) -> list[Record | None]:
        replies = await reader.run([("HGETALL", key(thing)) for thing in ids])
        return [read(thing, read_pairs(reply)) for thing, reply in zip(ids, replies, strict=True)]

    return DataLoader(load)


def _flags(reader: Reader, ask: Callable[[list[int]], list[Command]]) -> DataLoader[int, bool]:
    async def load(ids: list[int]) -> list[bool]:
        replies = await reader.run(ask(ids))
        found = replies[0] if isinstance(replies[0], list) else replies
        return [reply is not None for reply in found]

    return DataLoader(load)


def _sources(reader: Reader, me: int) -> Callable[[list[int]], Any]:
    async def load(posts: list[int]) -> list[tuple[Source, ...]]:
        (found,) = await reader.run([("HMGET", keys.sources(me), *posts)])
        return [read_sources(text) for text in found]

    return load
