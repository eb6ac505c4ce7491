"""Invariants of members: names and credentials."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.big_authors import mark_command
from store.client.database import Database
from store.upkeep import members as stored
from store.upkeep.members import MemberFacts
from store.upkeep.scanning import KeyBatch


async def users(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each member has credentials, a whole second factor or none, and permanent names."""
    facts = await stored.members(db, members)
    found: list[Finding] = []
    for member in facts:
        if member.email is None:
            found.append(Finding(member.key, "has no credentials"))
        if member.two_factor_left:
            message = "has parts of a second factor without its secret"
            found.append(Finding(member.key, message, [stored.drop_two_factor(member.id)]))
    found += [
        Finding(member.key, "is a big author and not in the list of these", [mark_command("add", member.id, since)])
        for member in await stored.not_among_big(db, facts)
        if (since := member.big_since)
    ]
    return found + await _names_last(db, facts)


async def big(db: Database, found: KeyBatch) -> list[Finding]:
    """Each member in the list of big authors is one, or is about to be."""
    if not found.has_big:
        return []
    return [
        Finding(
            stored.BIG, f"has {entry.entity}, who is no big author", [mark_command("remove", entry.entity, entry.place)]
        )
        for entry in await stored.strangers_among_big(db)
    ]


async def _names_last(db: Database, facts: Sequence[MemberFacts]) -> list[Finding]:
    keys = {member.id: member.key for member in facts}
    found: list[Finding] = []
    for name in await stored.names(db, facts):
        if name.holder != name.member or not name.is_permanent:
            mend = [] if name.is_contested else [stored.keep_name(name)]
            message = "is not lasting" if name.holder == name.member else f"belongs to {name.holder}"
            found.append(Finding(keys[name.member], f"{name.key} {message}", mend))
    return found
