"""Notifications of likes as layout 4 had them: one for each like, not one for all likes of a post on a day."""

from collections.abc import Sequence

from store.client.database import Database, script


async def group(db: Database, members: Sequence[int]) -> int:
    """Group the notifications of likes of some members; returns how many were replaced. One round trip."""
    found = await db.ask(*(script("group_likes", member) for member in members))
    return sum(map(int, found))
