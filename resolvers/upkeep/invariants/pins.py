"""Pinned posts: statuses and quotes that exist, each by the member who pinned it."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store import keys, pins
from store.client.database import Database
from store.keys.fields import UserField
from store.records import is_plain_repost, read_pairs, read_post


async def pinned(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each pin names a status or quote that exists and is the member's own; two round trips."""
    named = await db.ask(*(("HGET", keys.user(member), UserField.PINNED) for member in members))
    known = [(member, int(post)) for member, post in zip(members, named, strict=True) if post]
    replies = await db.ask(*(("HGETALL", keys.status(post)) for _, post in known))
    found: list[Finding] = []
    for (member, thing), reply in zip(known, replies, strict=True):
        post = read_post(thing, read_pairs(reply))
        if post is None or post.author != member or is_plain_repost(post):
            message = f"pins {thing}, which is no status or quote of theirs"
            found.append(Finding(keys.user(member), message, (pins.unpin_command(thing, member),)))
    return found
