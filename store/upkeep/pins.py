"""Pinned posts, read from the records that name them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Database
from store.keys.fields import UserField
from store.records import Post, read_pairs, read_post


class Pin(Struct, frozen=True):
    """The pinned post of a member; `post` is None when it does not exist."""

    member: int
    key: str
    pinned: int
    post: Post | None


async def pins(db: Database, members: Sequence[int]) -> list[Pin]:
    """Return the pins of those members who have one. Two round trips."""
    named = await db.ask(*(("HGET", keys.user(member), UserField.PINNED) for member in members))
    pinned = [(member, int(post)) for member, post in zip(members, named, strict=True) if post]
    replies = await db.ask(*(("HGETALL", keys.status(post)) for _, post in pinned))
    return [
        Pin(member, keys.user(member), post, read_post(post, read_pairs(reply)))
        for (member, post), reply in zip(pinned, replies, strict=True)
    ]
