"""Data loaders: records by id, and how the viewer stands to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

from resolvers.reader import Reader
from store import keys, timelines
from store.connection import Command
from store.mirror import Changed, Mirror, Relations, Shelf
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

Value = TypeVar("Value")
Ask = Callable[[list[int]], list[Command]]  # the commands that look things up
Read = Callable[[list[int], list[Any]], Iterable[Any]]  # what their replies mean: a value, or an error, for each thing


class Loader(Generic[Value]):
    """Things by id, each looked up once per operation."""

    def __init__(self, reader: Reader, ask: Ask, read: Read, shelf: Shelf | None = None) -> None:
        self._reader = reader
        self._ask = ask
        self._read = read
        self.shelf = shelf
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
        """Return things that are not known yet, each once; what is kept and current is known."""
        known = self._known
        missing = list(dict.fromkeys([thing for thing in things if thing not in known]))
        if missing and self.shelf and self._reader.is_current:
            found = self.shelf.find(missing)
            known |= found
            missing = [thing for thing in missing if thing not in found]
        return missing

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

    def settle(self, things: list[int], replies: list[Any], changed: Changed | None = None) -> None:
        """Read the replies to the commands that looked things up; keep what may be kept, but for what has changed."""
        try:
            values = dict(zip(things, self._read(things, replies), strict=True))
        except Exception as error:  # noqa: BLE001  whoever asks for one of them gets it
            values = dict.fromkeys(things, error)
        failed = {thing: value for thing, value in values.items() if isinstance(value, Exception)}
        self._has_failed |= bool(failed)
        self._known |= values
        if self.shelf and changed is not None:
            self.shelf.keep(
                {thing: values[thing] for thing in things if thing not in failed} if failed else values, changed
            )
        sought = self._sought
        for thing in things:
            del sought[thing]


Lookup = tuple[Loader[Any], Sequence[int]]
Sought = tuple[Loader[Any], list[int], list[Command]]


class _Reading:
    """Look-ups that are made together."""

    def __init__(self, sought: list[Sought]) -> None:
        self._sought = sought
        self.commands = list(chain.from_iterable(commands for _, _, commands in sought))

    def take(self, replies: list[Any], changed: Changed | None = None) -> None:
        start = 0
        for loader, things, commands in self._sought:
            end = start + len(commands)
            loader.settle(things, replies[start:end], changed)
            start = end


async def fetch(reader: Reader, *wanted: Lookup) -> None:
    """Look things of several loaders up, in one round trip; what is known already costs nothing."""
    waits: set[asyncio.Future[None]] = set()
    sought: list[tuple[Loader[Any], list[int]]] = []
    for loader, things in wanted:
        missing = loader.missing(things)
        if missing and (new := loader.seek(missing, waits)):
            sought.append((loader, new))
    if sought:
        await _look_up(reader, sought)
    for others in waits:
        await others


async def _look_up(reader: Reader, sought: list[tuple[Loader[Any], list[int]]]) -> None:
    found: asyncio.Future[None] = reader.loop.create_future()
    asked = [(loader, things, loader.ask(things, found)) for loader, things in sought]
    kept = _Reading([one for one in asked if one[0].shelf and one[2]])
    others = _Reading([one for one in asked if not (one[0].shelf and one[2])])
    reading = reader.read(kept) if kept.commands else None
    try:
        replies = await reader.attempt(others.commands) if others.commands else []
        if reading:
            await reading
    except BaseException as error:
        found.set_exception(error)
        found.exception()  # often nobody else waits
        raise
    others.take(replies)
    found.set_result(None)


class Known:
    """What the process keeps of what operations have read, as long as it does not change."""

    def __init__(self, mirror: Mirror) -> None:
        self.users = mirror.records("user")
        self.posts = mirror.records("status")
        self.comments = mirror.records("comment")
        self.bonds = mirror.relations("following", "blocked", "blocked-by", "muted")
        self.sources = mirror.relations("sources")


class Loaders:
    """Records by id, and how the viewer stands to them; each read once per operation, pipelined."""

    def __init__(self, reader: Reader, known: Known, viewer: int | None) -> None:
        self._reader = reader
        self._kept = known
        self._viewer = viewer
        self._me = viewer or 0
        self.decided: dict[int, Any] = {}  # what the rules have made of members

    @property
    def members(self) -> dict[int, User | None]:
        """All members that were looked up."""
        return {member: user for member, user in self.user.found.items() if not isinstance(user, Exception)}

    @cached_property
    def user(self) -> Loader[User | None]:
        return _records(self._reader, keys.user, User.read, self._kept.users)

    @cached_property
    def post(self) -> Loader[Post | None]:
        return _records(self._reader, keys.status, read_post, self._kept.posts)

    @cached_property
    def comment(self) -> Loader[Comment | None]:
        return _records(self._reader, keys.comment, Comment.read, self._kept.comments)

    @cached_property
    def promotion(self) -> Loader[Promotion | None]:
        return _records(self._reader, keys.promotion, Promotion.read)

    @cached_property
    def credentials(self) -> Loader[Credentials | None]:
        return _records(self._reader, keys.credentials, lambda _, fields: Credentials.read(fields))

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
        return _bonds(self._reader, self._viewer, self._kept.bonds)

    @cached_property
    def place(self) -> Loader[int | None]:
        me = self._me
        return Loader(
            self._reader,
            lambda posts: [timelines.places(me, posts)],
            lambda _, replies: [None if place is None else int(place) for place in _sound(replies)[0]],
        )

    @cached_property
    def sources(self) -> Loader[tuple[Source, ...]]:
        key = keys.sources(self._me)
        return _one_reply(self._reader, "HMGET", key, read_sources, self._kept.sources.of(self._me))

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
    shelf: Shelf | None = None,
) -> Loader[Value | None]:
    def record(thing: int, reply: Any) -> Value | Exception | None:
        # A broken record fails for who asks for it, and not for all who ask at the same time.
        try:
            if isinstance(reply, Exception):
                return reply
            return read(thing, reply if type(reply) is dict else read_pairs(reply))
        except Exception as error:  # noqa: BLE001  the loader raises it
            return error

    def records(things: list[int], replies: list[Any]) -> Iterable[Value | Exception | None]:
        return map(record, things, replies)

    return Loader(reader, lambda things: [("HGETALL", key(thing)) for thing in things], records, shelf)


def _one_reply(
    reader: Reader, command: str, key: str, read: Callable[[Any], Value], shelf: Shelf | None = None
) -> Loader[Value]:
    def values(_: list[int], replies: list[Any]) -> Iterable[Value]:
        return map(read, _sound(replies)[0])

    return Loader(reader, lambda things: [(command, key, *things)], values, shelf)


def _flags(reader: Reader, command: str, key: str) -> Loader[bool]:
    return _one_reply(reader, command, key, lambda reply: reply is not None)


def _each_is_there(_: list[int], replies: list[Any]) -> list[bool]:
    return [reply is not None for reply in _sound(replies)]


def _bonds(reader: Reader, viewer: int | None, kept: Relations) -> Loader[Bond]:
    if viewer is None:
        return Loader(reader, lambda _: [], lambda users, _: [NO_BOND] * len(users))
    sets = (keys.following(viewer), keys.blocked(viewer), keys.blocked_by(viewer), keys.muted(viewer))

    def bonds(_: list[int], columns: list[Any]) -> Iterable[Bond]:
        rows = zip(*_sound(columns), strict=True)
        return [Bond(*[score is not None for score in row]) if any(row) else NO_BOND for row in rows]

    return Loader(reader, lambda users: [("ZMSCORE", key, *users) for key in sets], bonds, kept.of(viewer))


def _sound(replies: list[Any]) -> list[Any]:
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies
