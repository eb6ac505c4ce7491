"""Homes of a length."""

from __future__ import annotations

from collections.abc import Sequence

from store import keys, timelines
from store.client.database import Database


async def cut(db: Database, members: Sequence[int], length: int) -> None:
    """Leave the newest entries of homes, and none that wait to be added to them."""
    # Whatever a script does to a home begins with adding what waits; this one finds nothing else to do.
    await db.ask(*(timelines.trim_home(db, member) for member in members))
    await db.ask(*(("LTRIM", keys.home(member), -length, -1) for member in members))
