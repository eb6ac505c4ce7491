"""Invariants of favourites: their posts and members exist, and the post's index names the member."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding, existing
from store import favourites as stored
from store import keys
from store.client.database import Database


async def favourites(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each favourite's post exists and has the member in its index; the member exists and is within the limit."""
    replies = await db.ask(*(("ZRANGE", keys.favourites(member), 0, -1) for member in members))
    kept = [(member, int(post)) for member, reply in zip(members, replies, strict=True) for post in reply]
    exists = await existing(db, {post for _, post in kept}, keys.status)
    people = await existing(db, members, keys.user)
    indexed = await db.ask(*(("ZSCORE", keys.favouriters(post), member) for member, post in kept))
    most = db.settings.max_favourites
    found = [
        Finding(keys.favourites(member), f"has {len(reply)} entries, at most {most}")
        for member, reply in zip(members, replies, strict=True)
        if len(reply) > most
    ]
    found += [
        Finding(keys.favourites(member), "its member does not exist", (("DEL", keys.favourites(member)),))
        for member, reply in zip(members, replies, strict=True)
        if reply and member not in people
    ]
    for (member, post), by in zip(kept, indexed, strict=True):
        key = keys.favourites(member)
        if post not in exists:
            found.append(Finding(key, f"{post} is gone", (("ZREM", key, post),)))
        elif by is None:
            found.append(Finding(key, f"is not known at {post}", (stored.index_command(member, post),)))
    return found


async def favouriters(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each member in a post's favourites index exists."""
    replies = await db.ask(*(("ZRANGE", keys.favouriters(post), 0, -1) for post in posts))
    noted = [(post, int(member)) for post, reply in zip(posts, replies, strict=True) for member in reply]
    exists = await existing(db, {member for _, member in noted}, keys.user)
    return [
        Finding(keys.favouriters(post), f"{member} does not exist", (("ZREM", keys.favouriters(post), member),))
        for post, member in noted
        if member not in exists
    ]
