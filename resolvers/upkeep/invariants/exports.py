"""Invariants of exports: links and leases have an owner, and expire."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Check, Finding
from store.client.database import Database
from store.upkeep import exports as stored
from store.upkeep.kinds import Kind


def owned(kind: Kind) -> Check:
    """Return a check that each key of a kind belongs to a member, and expires in time."""

    async def check(db: Database, members: Sequence[int]) -> list[Finding]:
        found: list[Finding] = []
        for facts in await stored.facts(db, kind, members):
            if not facts.member_exists:
                found.append(Finding(facts.key, "belongs to nobody", [stored.drop(facts.key)]))
            elif not facts.expires:
                found.append(Finding(facts.key, "does not expire in time", [stored.drop(facts.key)]))
        return found

    return check
