"""Data loaders: records by id, and how the viewer stands to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from resolvers.lookups import Loader, Lookup, fetch
from resolvers.reader import Reader
from store import keys, timelines
from store.connection import Command
from store.mirror import Mirror, Relations, Shelf
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


ANY = 0  # stands for all posts of a home


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
        return _Sources(self._reader, keys.sources(self._me), self._kept.sources.of(self._me))

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


class _Sources(Loader[tuple[Source, ...]]):
    """Who brought posts to a home by passing them on: nobody any of them, where there is nothing of that kind.

    That is asked and kept as well: else every new post at home would have to be looked up.
    """

    def __init__(self, reader: Reader, key: str, shelf: Shelf) -> None:
        def ask(things: list[int]) -> list[Command]:
            posts = [thing for thing in things if thing != ANY]
            return [("EXISTS", key), *([("HMGET", key, *posts)] if posts else [])]

        def read(things: list[int], replies: list[Any]) -> list[Any]:
            exists, *texts = _sound(replies)
            found = map(read_sources, texts[0]) if texts else iter(())
            return [bool(exists) if thing == ANY else next(found) for thing in things]

        super().__init__(reader, ask, read, shelf)

    def missing(self, things: Iterable[int]) -> list[int]:
        """Return things that are not known yet, each once; what is kept and current is known."""
        missing = super().missing([*things, ANY])
        if self._known.get(ANY) is False:
            self._known |= dict.fromkeys(missing, ())
            return []
        return missing if missing != [ANY] else []


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
