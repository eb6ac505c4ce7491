"""Data loaders: records by id, and how the viewer stands to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Generic, TypeVar, cast

from resolvers.reader import Reader
from store import keys
from store.connection import Command
from store.notifications import Notification, look_up, read_notifications
from store.promotions import Promotion
from store.records import (
    NO_BOND,
    Bond,
    Comment,
    Credentials,
    Post,
    Source,
    User,
    read_pairs,
    read_post,
    read_sources,
)

RECORDS_KEPT = 10_000  # of each kind, some 1,500 bytes each

Value = TypeVar("Value")
Ask = Callable[[list[int]], list[Command]]  # the commands that look things up
Kept = tuple[Any, Any]  # the reply that was read, and what it means
Read = Callable[[list[int], list[Any]], Iterable[Any]]  # what their replies mean: a value, or an error, for each thing


class Loader(Generic[Value]):
    """Things by id, each looked up once per operation."""

    def __init__(self, reader: Reader, ask: Ask, read: Read) -> None:
        self._reader = reader
        self._ask = ask
        self._read = read
        self._known: dict[int, Any] = {}
        self._sought: dict[int, asyncio.Future[None]] = {}
        self._has_failed = False

    async def load(self, thing: int) -> Value:
        """Return one thing; raises what looking it up raised."""
        (found,) = await self.load_many((thing,))
        return found

    async def load_many(self, things: Sequence[int]) -> list[Value]:
        """Return things in order; raises the first error among them."""
        await fetch(self._reader, (self, things))
        return self.known(things)

    @property
    def found(self) -> Mapping[int, Any]:
        """All things that are known, and the errors of those that could not be read."""
        return self._known

    def prime(self, values: Mapping[int, Value]) -> None:
        """Take over things that were read in another way."""
        self._known |= values

    def known(self, things: Iterable[int]) -> list[Value]:
        """Return things that have been fetched, in order; raises the first error among them."""
        found = [self._known[thing] for thing in things]
        if self._has_failed:
            for value in found:
                if isinstance(value, Exception):
                    raise value
        return found

    def missing(self, things: Iterable[int]) -> list[int]:
        """Return things that are not known yet, each once."""
        known = self._known
        return list(dict.fromkeys([thing for thing in things if thing not in known]))

    def seek(self, missing: list[int], waits: set[asyncio.Future[None]]) -> list[int]:
        """Return which of the things nobody looks up yet; where others do, what to wait for is added."""
        if not self._sought:
            return missing
        waits.update(self._sought[thing] for thing in missing if thing in self._sought)
        return [thing for thing in missing if thing not in self._sought]

    def ask(self, things: list[int], found: asyncio.Future[None]) -> list[Command]:
        """Return the commands that look things up; others wait for `found`."""
        self._sought.update(dict.fromkeys(things, found))
        return self._ask(things)

    def settle(self, things: list[int], replies: list[Any]) -> None:
        """Read the replies to the commands that looked things up."""
        try:
            values = list(self._read(things, replies))
        except Exception as error:  # noqa: BLE001  whoever asks for one of them gets it
            values = [error] * len(things)
        if any(issubclass(kind, Exception) for kind in set(map(type, values))):
            self._has_failed = True
        self._known.update(zip(things, values, strict=True))
        sought = self._sought
        for thing in things:
            del sought[thing]


Lookup = tuple[Loader[Any], Sequence[int]]


async def fetch(reader: Reader, *wanted: Lookup) -> None:
    """Look things of several loaders up, in one round trip; what is known already costs nothing."""
    waits: set[asyncio.Future[None]] = set()
    sought: list[tuple[Loader[Any], list[int]]] = []
    for loader, things in wanted:
        missing = loader.missing(things)
        if missing and (new := loader.seek(missing, waits)):
            sought.append((loader, new))
    if sought:
        found: asyncio.Future[None] = reader.loop.create_future()
        asked = [loader.ask(things, found) for loader, things in sought]
        commands = list(chain.from_iterable(asked))
        try:
            replies = await reader.attempt(commands) if commands else []
        except BaseException as error:
            found.set_exception(error)
            found.exception()  # often nobody else waits
            raise
        start = 0
        for (loader, things), its in zip(sought, asked, strict=True):
            loader.settle(things, replies[start : start + len(its)])
            start += len(its)
        found.set_result(None)
    for others in waits:
        await others


class Known:
    """What records were when they were last read, by all operations: one that has not changed is the same object."""

    def __init__(self) -> None:
        self.users: dict[int, Kept] = {}
        self.posts: dict[int, Kept] = {}
        self.comments: dict[int, Kept] = {}


class Loaders:
    """Records by id, and how the viewer stands to them; each read once per operation, pipelined."""

    def __init__(self, reader: Reader, known: Known, viewer: int | None) -> None:
        self._reader = reader
        self._records = known
        self._viewer = viewer
        self._me = viewer or 0

    @property
    def members(self) -> dict[int, User | None]:
        """All members that were looked up."""
        return {member: user for member, user in self.user.found.items() if not isinstance(user, Exception)}

    @cached_property
    def user(self) -> Loader[User | None]:
        return _records(self._reader, keys.user, User.read, self._records.users)

    @cached_property
    def post(self) -> Loader[Post | None]:
        return _records(self._reader, keys.status, read_post, self._records.posts)

    @cached_property
    def comment(self) -> Loader[Comment | None]:
        return _records(self._reader, keys.comment, Comment.read, self._records.comments)

    @cached_property
    def promotion(self) -> Loader[Promotion | None]:
        return _records(self._reader, keys.promotion, Promotion.read, {})

    @cached_property
    def credentials(self) -> Loader[Credentials | None]:
        return _records(self._reader, keys.credentials, lambda _, fields: Credentials.read(fields), {})

    @cached_property
    def has_liked(self) -> Loader[bool]:
        me = self._me
        return Loader(self._reader, lambda posts: [("ZSCORE", keys.likes(post), me) for post in posts], _each_is_there)

    @cached_property
    def has_reposted(self) -> Loader[bool]:
        return _flags(self._reader, "HMGET", keys.reposted(self._me))

    @cached_property
    def has_favourited(self) -> Loader[bool]:
        return _flags(self._reader, "ZMSCORE", keys.favourites(self._me))

    @cached_property
    def has_requested(self) -> Loader[bool]:
        return _flags(self._reader, "ZMSCORE", keys.requested(self._me))

    @cached_property
    def followed_by(self) -> Loader[bool]:
        return _flags(self._reader, "ZMSCORE", keys.followers(self._me))

    @cached_property
    def bond(self) -> Loader[Bond]:
        return _bonds(self._reader, self._viewer)

    @cached_property
    def place(self) -> Loader[int | None]:
        return _one_reply(
            self._reader, "ZMSCORE", keys.home(self._me), lambda score: None if score is None else int(score)
        )

    @cached_property
    def sources(self) -> Loader[tuple[Source, ...]]:
        return _one_reply(self._reader, "HMGET", keys.sources(self._me), read_sources)

    @cached_property
    def notification(self) -> Loader[Notification | None]:
        me = self._me
        return Loader(
            self._reader,
            lambda ids: look_up(me, ids),
            lambda _, replies: [next(iter(read_notifications(reply)), None) for reply in replies],
        )

    @cached_property
    def read_until(self) -> Loader[int]:
        return Loader(
            self._reader,
            lambda members: [("HGET", keys.notification_state(member), "read") for member in members],
            lambda _, replies: [int(reply or 0) for reply in replies],
        )

    async def all(self, *wanted: Lookup) -> None:
        """Look things of several loaders up, in one round trip."""
        await fetch(self._reader, *wanted)


def _records(
    reader: Reader,
    key: Callable[[int], str],
    read: Callable[[int, dict[str, str]], Value | None],
    kept: dict[int, Kept],
) -> Loader[Value | None]:
    def record(thing: int, reply: Any) -> Value | Exception | None:
        known = kept.get(thing)
        if known is not None and known[0] == reply:
            return cast("Value", known[1])
        # A broken record fails for who asks for it, and not for all who ask at the same time.
        try:
            found = reply if isinstance(reply, Exception) else read(thing, read_pairs(reply))
        except Exception as error:  # noqa: BLE001  the loader raises it
            return error
        if len(kept) == RECORDS_KEPT:
            kept.clear()
        kept[thing] = (reply, found)
        return found

    return Loader(
        reader, lambda things: [("HGETALL", key(thing)) for thing in things], lambda *found: map(record, *found)
    )


def _one_reply(reader: Reader, command: str, key: str, read: Callable[[Any], Value]) -> Loader[Value]:
    return Loader(reader, lambda things: [(command, key, *things)], lambda _, replies: map(read, _sound(replies)[0]))


def _flags(reader: Reader, command: str, key: str) -> Loader[bool]:
    return _one_reply(reader, command, key, lambda reply: reply is not None)


def _each_is_there(_: list[int], replies: list[Any]) -> list[bool]:
    return [reply is not None for reply in _sound(replies)]


def _bonds(reader: Reader, viewer: int | None) -> Loader[Bond]:
    if viewer is None:
        return Loader(reader, lambda _: [], lambda users, _: [NO_BOND] * len(users))
    sets = (keys.following(viewer), keys.blocked(viewer), keys.blocked_by(viewer), keys.muted(viewer))

    def bonds(_: list[int], columns: list[Any]) -> Iterable[Bond]:
        rows = zip(*_sound(columns), strict=True)
        return [Bond(*[score is not None for score in row]) if any(row) else NO_BOND for row in rows]

    return Loader(reader, lambda users: [("ZMSCORE", key, *users) for key in sets], bonds)


def _sound(replies: list[Any]) -> list[Any]:
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies
