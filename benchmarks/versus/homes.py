"""Homes of a length."""

from __future__ import annotations

from collections.abc import Sequence

from store import keys
from store.client.database import Database
from store.homes import stored


async def cut(db: Database, members: Sequence[int], length: int) -> None:
    """Leave the newest entries of homes, and none that wait to be added to them."""
    # Every script on a home first adds the entries that wait. This call has nothing else to do.
    await db.ask(*(stored.trim_home(db, member) for member in members))
    await db.ask(*(("LTRIM", keys.home(member), -length, -1) for member in members))
