"""Data loaders: records by id, and how the viewer stands to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

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
    Fields,
    Post,
    Source,
    User,
    read_pairs,
    read_post,
    read_sources,
)

Record = TypeVar("Record")


class Loaders:
    """Records by id, and how the viewer stands to them; each read once per operation, pipelined."""

    def __init__(self, reader: Reader, viewer: int | None) -> None:
        me = viewer or 0
        self.members: dict[int, User | None] = {}  # all that were looked up
        self.user: DataLoader[int, User | None] = _records(reader, keys.user, self._user)
        self.post: DataLoader[int, Post | None] = _records(reader, keys.status, read_post)
        self.comment: DataLoader[int, Comment | None] = _records(reader, keys.comment, Comment.read)
        self.promotion: DataLoader[int, Promotion | None] = _records(reader, keys.promotion, Promotion.read)
        self.credentials: DataLoader[int, Credentials | None] = _records(
            reader, keys.credentials, lambda _, fields: Credentials.read(fields)
        )
        self.has_liked: DataLoader[int, bool] = _flags(
            reader, lambda posts: [("ZSCORE", keys.likes(post), me) for post in posts]
        )
        self.has_reposted: DataLoader[int, bool] = _flags(reader, lambda posts: [("HMGET", keys.reposted(me), *posts)])
        self.bond: DataLoader[int, Bond] = DataLoader(_bonds(reader, viewer))
        self.has_requested: DataLoader[int, bool] = _flags(
            reader, lambda users: [("ZMSCORE", keys.requested(me), *users)]
        )
        self.has_favourited: DataLoader[int, bool] = _flags(
            reader, lambda posts: [("ZMSCORE", keys.favourites(me), *posts)]
        )
        self.followed_by: DataLoader[int, bool] = _flags(
            reader, lambda users: [("ZMSCORE", keys.followers(me), *users)]
        )
        self.place: DataLoader[int, int | None] = DataLoader(_places(reader, me))
        self.notification: DataLoader[int, Notification | None] = DataLoader(_notifications(reader, me))
        self.read_until: DataLoader[int, int] = DataLoader(_read_until(reader))
        self.sources: DataLoader[int, tuple[Source, ...]] = DataLoader(_sources(reader, me))

    def _user(self, member: int, fields: Fields) -> User | None:
        found = self.members[member] = User.read(member, fields)
        return found


def _records(
    reader: Reader, key: Callable[[int], str], read: Callable[[int, dict[str, str]], Record | None]
) -> DataLoader[int, Record | None]:
    def record(thing: int, reply: Any) -> Record | Exception | None:
        # A broken record fails for who asks for it, and not for all who ask at the same time.
        try:
            return reply if isinstance(reply, Exception) else read(thing, read_pairs(reply))
        except Exception as error:  # noqa: BLE001  the loader raises it
            return error

    async def load(ids: list[int]) -> list[Record | Exception | None]:
        replies = await reader.attempt([("HGETALL", key(thing)) for thing in ids])
        return [record(thing, reply) for thing, reply in zip(ids, replies, strict=True)]

    return DataLoader(load)


def _flags(reader: Reader, ask: Callable[[list[int]], list[Command]]) -> DataLoader[int, bool]:
    async def load(ids: list[int]) -> list[bool]:
        replies = await reader.run(ask(ids))
        found = replies[0] if isinstance(replies[0], list) else replies
        return [reply is not None for reply in found]

    return DataLoader(load)


def _bonds(reader: Reader, viewer: int | None) -> Callable[[list[int]], Any]:
    async def load(users: list[int]) -> list[Bond]:
        if viewer is None:
            return [NO_BOND] * len(users)
        sets = (keys.following, keys.blocked, keys.blocked_by, keys.muted)
        columns = await reader.run([("ZMSCORE", key(viewer), *users) for key in sets])
        return [Bond(*(score is not None for score in row)) for row in zip(*columns, strict=True)]

    return load


def _places(reader: Reader, me: int) -> Callable[[list[int]], Any]:
    async def load(posts: list[int]) -> list[int | None]:
        (scores,) = await reader.run([("ZMSCORE", keys.home(me), *posts)])
        return [None if score is None else int(score) for score in scores]

    return load


def _sources(reader: Reader, me: int) -> Callable[[list[int]], Any]:
    async def load(posts: list[int]) -> list[tuple[Source, ...]]:
        (found,) = await reader.run([("HMGET", keys.sources(me), *posts)])
        return [read_sources(text) for text in found]

    return load


def _notifications(reader: Reader, me: int) -> Callable[[list[int]], Any]:
    async def load(ids: list[int]) -> list[Notification | None]:
        replies = await reader.run(look_up(me, ids))
        return [next(iter(read_notifications(reply)), None) for reply in replies]

    return load


def _read_until(reader: Reader) -> Callable[[list[int]], Any]:
    async def load(members: list[int]) -> list[int]:
        replies = await reader.run([("HGET", keys.notification_state(member), "read") for member in members])
        return [int(reply or 0) for reply in replies]

    return load
