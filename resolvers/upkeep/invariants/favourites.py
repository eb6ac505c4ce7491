"""Invariants of favourites: their posts and members exist, and the post's index names the member."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.favourites import index_command
from store.upkeep import favourites as stored
from store.upkeep import lists
from store.upkeep.kinds import Kind


async def favourites(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each favourite's post exists and has the member in its index; the member exists and is within the limit."""
    most = db.settings.max_favourites
    found: list[Finding] = []
    for own in await stored.favourites(db, members):
        if len(own.entries) > most:
            found.append(Finding(own.key, f"has {len(own.entries)} entries, at most {most}"))
        if own.entries and not own.member_exists:
            found.append(Finding(own.key, "its member does not exist", [stored.drop(own)]))
        for favourite in own.entries:
            post = favourite.post
            if not favourite.post_exists:
                found.append(Finding(own.key, f"{post} is gone", [stored.remove(own, post)]))
            elif not favourite.is_indexed:
                found.append(Finding(own.key, f"is not known at {post}", [index_command(own.member, post)]))
    return found


async def favouriters(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each member in a post's favourites index exists."""
    return [
        Finding(entry.key, f"{entry.entity} does not exist", lists.remove(entry))
        for entry in await lists.entries(db, Kind.FAVOURITERS, posts)
        if not entry.exists
    ]
