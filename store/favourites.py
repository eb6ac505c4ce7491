"""Favourites: the truth lies with the member, an index of it with the post, so that a delete finds who has it."""

from __future__ import annotations

from store import keys
from store.client.database import Command, Database, MemberGone, script
from store.ids import partition


async def add(db: Database, member: int, post: int) -> str:
    """Favourite a post; returns `new`, `again` when it stood, `full`, or `gone` without the post; raises MemberGone.

    The index comes first, and once more at the end: only then can it not name too little, and a post deleted
    meanwhile, whose job may have looked at the index before, is not kept.
    """
    if not await _index(db, member, post):
        return "gone"
    p = partition(member)
    own = [keys.minted(p), keys.user(member), keys.favourites(member)]
    try:
        outcome: str = await db.call("favourite", own, p, post, db.settings.max_favourites)
    except MemberGone:
        await _unindex(db, member, post)
        raise
    if outcome == "full":
        await _unindex(db, member, post)
    elif not await _index(db, member, post):
        await db.one("ZREM", keys.favourites(member), post)
        return "gone"
    return outcome


async def remove(db: Database, member: int, post: int) -> bool:
    """Take a favourite back; False when there was none."""
    removed = await db.one("ZREM", keys.favourites(member), post)
    await _unindex(db, member, post)
    return bool(removed)


async def _index(db: Database, member: int, post: int) -> bool:
    (reply,) = await db.ask(index_command(member, post))
    return bool(reply)


def index_command(member: int, post: int) -> Command:
    """Return the command that notes at a post who favourites it, unless the post is gone."""
    return script("index_favourite", [keys.status(post), keys.favouriters(post)], [member])


async def _unindex(db: Database, member: int, post: int) -> None:
    await db.one("ZREM", keys.favouriters(post), member)
    if await db.one("ZSCORE", keys.favourites(member), post):
        await _index(db, member, post)  # favourited again meanwhile, by who had noted it before this took it away


async def clear(db: Database, post: int, batch: int) -> bool:
    """Take a deleted post from a batch of the members who have favourited it; True when nothing is left."""
    members = await db.one("ZRANGE", keys.favouriters(post), 0, batch - 1)
    if members:
        await db.ask(*(("ZREM", keys.favourites(int(member)), post) for member in members))
        await db.one("ZREM", keys.favouriters(post), *members)
    return not members


async def take_back(db: Database, member: int, batch: int) -> int:
    """Take back a batch of a deleted member's favourites; returns how many they were."""
    posts = await db.one("ZRANGE", keys.favourites(member), 0, batch - 1)
    if posts:
        await db.ask(*(("ZREM", keys.favouriters(int(post)), member) for post in posts))
        await db.one("ZREM", keys.favourites(member), *posts)
    return len(posts)
