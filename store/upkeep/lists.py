"""The lists of a post: likes, reposts, quotes, replies, comments, and who favourites it or comments on it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.keys.fields import StatusField
from store.records.lists import read_pairs
from store.upkeep import counters
from store.upkeep.kinds import Kind, existing


class _List(Struct, frozen=True):
    """The kind of entries in a list, which are members, posts or comments, and the counter of its size."""

    entries: Kind
    counter: str | None = None
    is_by_place: bool = False  # whether the scores are the ids of the entries


_LISTS = {
    Kind.LIKES: _List(Kind.USER, StatusField.LIKES),
    Kind.REPOSTS: _List(Kind.STATUS, StatusField.REPOSTS, is_by_place=True),
    Kind.QUOTES: _List(Kind.STATUS, StatusField.QUOTES),
    Kind.REPLIES: _List(Kind.STATUS, StatusField.REPLIES),
    Kind.COMMENTS: _List(Kind.COMMENT, StatusField.COMMENTS),
    Kind.COMMENTERS: _List(Kind.COMMENT),
    Kind.FAVOURITERS: _List(Kind.USER),
}


class Listed(Struct, frozen=True):
    """An entry of a post's list, and whether the member, post or comment that it is about exists."""

    kind: Kind
    post: int
    entity: int
    place: int
    exists: bool

    @property
    def key(self) -> str:
        """Return the key of the list."""
        return self.kind.key(self.post)


async def entries(db: Database, kind: Kind, posts: Sequence[int]) -> list[Listed]:
    """Return the entries of one list of some posts. Two round trips."""
    of = _LISTS[kind]
    replies = await db.ask(*(("ZRANGE", kind.key(post), 0, -1, "WITHSCORES") for post in posts))
    found = [
        (post, int(entity), int(place))
        for post, reply in zip(posts, replies, strict=True)
        for entity, place in read_pairs(reply).items()
    ]
    exists = await existing(db, of.entries, {place if of.is_by_place else entity for _, entity, place in found})
    return [
        Listed(kind, post, entity, place, (place if of.is_by_place else entity) in exists)
        for post, entity, place in found
    ]


def remove(entry: Listed) -> list[Command]:
    """Return the commands that remove an entry from its list, and recount the list."""
    counter = _LISTS[entry.kind].counter
    recount = counters.recount_post(entry.post, counter) if counter else []
    return [("ZREM", entry.key, entry.entity), *recount]


async def not_indexed(db: Database, likes: Sequence[Listed]) -> list[Listed]:
    """Return those of some likes whose members' indexes lack the post. One round trip."""
    scores = await db.ask(*(("ZSCORE", keys.liked(like.entity), like.post) for like in likes))
    return [like for like, score in zip(likes, scores, strict=True) if score is None]


def index(like: Listed) -> Command:
    """Return the command that adds a post to the index of what a member likes."""
    return ("ZADD", keys.liked(like.entity), like.post, like.post)


async def without_post(db: Database, kind: Kind, posts: Sequence[int]) -> list[str]:
    """Return the keys of the lists whose post does not exist. One round trip."""
    exists = await existing(db, Kind.STATUS, posts)
    return [kind.key(post) for post in posts if post not in exists]


def remove_post(key: str, post: int) -> Command:
    """Return the command that removes a post from a list."""
    return ("ZREM", key, post)


def drop(key: str) -> Command:
    """Return the command that removes a whole list."""
    return ("DEL", key)
