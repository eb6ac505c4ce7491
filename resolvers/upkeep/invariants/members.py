"""Invariants of members: names, credentials and counters."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.upkeep import counters
from store.upkeep import members as stored
from store.upkeep.members import MemberFacts


async def users(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each member has exact counters, credentials, a whole second factor or none, and permanent names."""
    facts = await stored.members(db, members)
    found: list[Finding] = []
    for member in facts:
        for name, total in member.totals.items():
            if member.counters[name] != total:
                message = f"says {member.counters[name]} {name}, there are {total}"
                found.append(Finding(member.key, message, counters.recount_member(member.id, name)))
        if member.email is None:
            found.append(Finding(member.key, "has no credentials"))
        if member.two_factor_left:
            message = "has parts of a second factor without its secret"
            found.append(Finding(member.key, message, [stored.drop_two_factor(member.id)]))
    return found + await _names_last(db, facts)


async def _names_last(db: Database, facts: Sequence[MemberFacts]) -> list[Finding]:
    keys = {member.id: member.key for member in facts}
    found: list[Finding] = []
    for name in await stored.names(db, facts):
        if name.holder != name.member or not name.is_permanent:
            mend = [stored.keep_name(name)] if name.holder in {None, name.member} else []
            message = "is not lasting" if name.holder == name.member else f"belongs to {name.holder}"
            found.append(Finding(keys[name.member], f"{name.key} {message}", mend))
    return found
