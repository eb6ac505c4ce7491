"""Favourites: the posts and members that they name, and the posts' indexes of them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.upkeep.kinds import Kind, existing


class Favourite(Struct, frozen=True):
    """A favourite, and whether its post exists and has the member in its index."""

    post: int
    post_exists: bool
    is_indexed: bool


class Favourites(Struct, frozen=True):
    """All favourites of a member, and whether the member exists."""

    member: int
    key: str
    member_exists: bool
    entries: list[Favourite]


async def favourites(db: Database, members: Sequence[int]) -> list[Favourites]:
    """Return the favourites of each member. Four round trips."""
    replies = await db.ask(*(("ZRANGE", keys.favourites(member), 0, -1) for member in members))
    found = {member: list(map(int, reply)) for member, reply in zip(members, replies, strict=True)}
    posts = await existing(db, Kind.STATUS, {post for entries in found.values() for post in entries})
    people = await existing(db, Kind.USER, members)
    pairs = [(member, post) for member, entries in found.items() for post in entries]
    scores = await db.ask(*(("ZSCORE", keys.favouriters(post), member) for member, post in pairs))
    indexed = {pair for pair, score in zip(pairs, scores, strict=True) if score is not None}
    return [
        Favourites(
            member,
            keys.favourites(member),
            member in people,
            [Favourite(post, post in posts, (member, post) in indexed) for post in entries],
        )
        for member, entries in found.items()
    ]


def drop(favourites: Favourites) -> Command:
    """Return the command that removes all favourites of a member."""
    return ("DEL", favourites.key)


def remove(favourites: Favourites, post: int) -> Command:
    """Return the command that removes one favourite of a member."""
    return ("ZREM", favourites.key, post)
