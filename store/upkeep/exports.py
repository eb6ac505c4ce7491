"""Links to exports and leases of exports that are being sent: whose they are, and whether they expire."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.exports.links import LEASE_SECONDS
from store.upkeep.kinds import Kind, existing

LIVES = {Kind.EXPORTS: keys.DAY, Kind.EXPORT_STREAM: LEASE_SECONDS}  # s


class ExportFacts(Struct, frozen=True):
    """A key of one kind: whether its member exists, and whether it expires in time."""

    key: str
    member: int
    member_exists: bool
    expires: bool


async def facts(db: Database, kind: Kind, members: Sequence[int]) -> list[ExportFacts]:
    """Return the facts about the keys that exist. Two round trips."""
    exists = await existing(db, Kind.USER, members)
    owned = [kind.key(member) for member in members]
    lives = await db.ask(*(("TTL", key) for key in owned))
    return [
        ExportFacts(key, member, member in exists, 0 <= int(life) <= LIVES[kind])
        for key, member, life in zip(owned, members, lives, strict=True)
        if int(life) != -2  # noqa: PLR2004  TTL of a key that is gone
    ]


def drop(key: str) -> Command:
    """Return the command that removes a key: the member can prepare another export."""
    return ("DEL", key)
