"""Favourites. The truth is stored with the member. An index at the post lets a delete find its favourites."""

from collections.abc import Sequence
from typing import Literal

from store import keys
from store.client.database import Command, Database, MemberGone, script
from store.refusals import Refusal, refused


async def add(db: Database, member: int, post: int) -> bool | Literal[Refusal.GONE, Refusal.FULL]:
    """Favourite a post; returns False if it was favourited already. Raises MemberGone.

    The index is written before the favourite and again after it. The second write restores an entry that a concurrent
    removal has deleted, so the index never lacks a favourite. The second write fails if the post was deleted meanwhile.
    The delete's job may have read the index before, so this function then removes the favourite itself.
    """
    if not await _index(db, member, post):
        return Refusal.GONE
    try:
        reply = await db.call("favourite", member, post=post, max_favourites=db.settings.max_favourites)
    except MemberGone:
        await _unindex(db, member, post)
        raise
    if refusal := refused(reply):
        await _unindex(db, member, post)
    elif not await _index(db, member, post):
        await db.one("ZREM", keys.favourites(member), post)
        return Refusal.GONE
    return refusal or bool(reply)


async def remove(db: Database, member: int, post: int) -> bool:
    """Remove a favourite; False when there was none."""
    removed = await db.one("ZREM", keys.favourites(member), post)
    await _unindex(db, member, post)
    return bool(removed)


async def _index(db: Database, member: int, post: int) -> bool:
    (reply,) = await db.ask(_index_command(member, post))
    return bool(reply)


def favourited_command(member: int, posts: Sequence[int]) -> Command:
    """Return the command that reads whether each post is a member's favourite, None where it is not."""
    return ("ZMSCORE", keys.favourites(member), *posts)


def _index_command(member: int, post: int) -> Command:
    """Return the command that adds a member to a post's index of favourites, unless the post is gone."""
    return script("index_favourite", post, member=member)


async def _unindex(db: Database, member: int, post: int) -> None:
    await db.one("ZREM", keys.favouriters(post), member)
    if await db.one("ZSCORE", keys.favourites(member), post):
        await _index(db, member, post)  # favourited again meanwhile, and indexed before this removed the entry


async def clear(db: Database, post: int, batch: int) -> bool:
    """Remove a deleted post from the favourites of a batch of members; True when none is left."""
    members = await db.one("ZRANGE", keys.favouriters(post), 0, batch - 1)
    if members:
        await db.ask(*(("ZREM", keys.favourites(int(member)), post) for member in members))
        await db.one("ZREM", keys.favouriters(post), *members)
    return not members


async def take_back(db: Database, member: int, batch: int) -> int:
    """Remove a batch of a deleted member's favourites; returns how many."""
    posts = await db.one("ZRANGE", keys.favourites(member), 0, batch - 1)
    if posts:
        await db.ask(*(("ZREM", keys.favouriters(int(post)), member) for post in posts))
        await db.one("ZREM", keys.favourites(member), *posts)
    return len(posts)
