"""Invariants of exports: links and leases expire."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Check, Finding
from store.client.database import Database
from store.kinds import Owned
from store.upkeep import exports as stored
from store.upkeep import lists


def expiring(kind: Owned) -> Check:
    """Return a check that each key of a kind expires in time. Without it, the member can prepare another export."""

    async def check(db: Database, members: Sequence[int]) -> list[Finding]:
        return [
            Finding(key, "does not expire in time", lists.drop(key)) for key in await stored.lasting(db, kind, members)
        ]

    return check
