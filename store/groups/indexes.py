"""A member's indexes of groups: those that they are in or ask to join, that invite them, and that ban them.

The job of each change keeps them right (`membership.settle`). The deletion of an account reads them.
"""

from collections.abc import Sequence

from store import keys
from store.client.database import Database
from store.records.lists import Entry, read_entries


async def joined_or_asked(db: Database, member: int, last: int, count: int) -> list[Entry]:
    """Return groups that a member is in or asks to join, in the order of the index after a place; [] at its end."""
    bounds = (f"({last}", "+inf", "BYSCORE", "LIMIT", 0, count, "WITHSCORES")
    return read_entries(await db.one("ZRANGE", keys.memberships(member), *bounds))


async def invited_to(db: Database, member: int, count: int) -> list[int]:
    """Return some of the groups that a member is invited to."""
    return [int(group) for group in await db.one("ZRANGE", keys.invited(member), 0, count - 1)]


async def banned_from(db: Database, member: int, count: int) -> list[int]:
    """Return some of the groups that ban a member."""
    return [int(group) for group in await db.one("ZRANGE", keys.banned_from(member), 0, count - 1)]


async def forget_bans(db: Database, member: int, groups: Sequence[int]) -> None:
    """Remove bans of a deleted member, first at the groups."""
    await db.ask(*(("ZREM", keys.group_banned(group), member) for group in groups))
    await db.one("ZREM", keys.banned_from(member), *groups)


async def forget_invitations(db: Database, member: int, groups: Sequence[int]) -> None:
    """Remove groups from a deleted member's index of invitations."""
    await db.one("ZREM", keys.invited(member), *groups)
