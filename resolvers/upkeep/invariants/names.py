"""Invariants of the index of names: it equals the members' records, and holds no other entries."""

from collections.abc import Sequence

from resolvers.jobs import name_index
from resolvers.operation.inputs import batches
from resolvers.upkeep.invariants.findings import Finding
from store import search
from store.client.database import Database
from store.upkeep import search as stored
from store.upkeep.scanning import KeyBatch

READ = 1_000  # entries read at a time


async def indexed(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each member is indexed as their record says, at the magnitude of their follower count."""
    found = await _magnitudes(db, members)
    wanted = {member: state for member, state in (await name_index.wanted(db, members)).items() if state}
    return found + [
        Finding(one.key, "is not found by their names", [search.mend(one.member, one.state, one.wanted)])
        for one in await stored.indexed(db, wanted)
        if one.state != one.wanted or not one.has_all_entries
    ]


async def _magnitudes(db: Database, members: Sequence[int]) -> list[Finding]:
    return [
        Finding(
            one.key,
            f"has magnitude {one.magnitude} with {one.followers} followers",
            [search.update_magnitude(one.member)],
        )
        for one in await stored.magnitudes(db, members)
        if not search.may_have_magnitude(one.magnitude, one.followers)
    ]


async def left_over(db: Database, found: KeyBatch) -> list[Finding]:
    """The index holds no deleted members, and no entry that a record does not call for."""
    findings = await _gone(db) if found.has_indexed else []
    for magnitude in found.magnitudes:
        findings += await _strays(db, magnitude)
    return findings


async def _gone(db: Database) -> list[Finding]:
    findings: list[Finding] = []
    for batch in batches(await stored.all_indexed(db), READ):
        known = await search.known(db, batch)
        wanted = await name_index.wanted(db, batch)
        findings += [
            Finding(stored.states_key(), f"has {member}, who does not exist", [search.mend(member, state, "")])
            for member, state in zip(batch, known, strict=True)
            if state is not None and not wanted[member]
        ]
    return findings


async def _strays(db: Database, magnitude: int) -> list[Finding]:
    findings: list[Finding] = []
    last: str | None = None
    while entries := await stored.entries_after(db, magnitude, last, READ):
        findings += [
            Finding(entry.key, f"has {entry.text!r}, which is stray", [stored.drop(entry)])
            for entry in entries
            if entry.state is None or (magnitude, entry.name) not in search.entries(entry.state)
        ]
        last = entries[-1].text
    return findings
