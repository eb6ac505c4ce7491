"""Invariants of the index of names: it equals the members' records, and holds no other entries."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.jobs import name_index
from resolvers.operation.inputs import batches
from resolvers.upkeep.invariants.findings import Finding
from store import keys, search
from store.client.database import Database

READ = 1_000  # entries read at a time


async def indexed(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each member is indexed as their record says, at the magnitude of their follower count."""
    found = await _magnitudes(db, members)
    wanted = {member: state for member, state in (await name_index.wanted(db, members)).items() if state}
    known = dict(zip(wanted, await search.known(db, list(wanted)), strict=True))
    stands = [(member, *entry) for member in wanted for entry in search.entries(wanted[member])]
    scores = await db.ask(*(("ZSCORE", keys.names(at), search.entry(name, member)) for member, at, name in stands))
    absent = {member for (member, _, _), score in zip(stands, scores, strict=True) if score is None}
    return found + [
        Finding(keys.user(member), "is not found by their names", (search.mend(member, known[member], state),))
        for member, state in wanted.items()
        if known[member] != state or member in absent
    ]


async def _magnitudes(db: Database, members: Sequence[int]) -> list[Finding]:
    replies = await db.ask(*(("HMGET", keys.user(member), "followers", "magnitude") for member in members))
    return [
        Finding(
            keys.user(member),
            f"has magnitude {magnitude or 0} with {followers} followers",
            (search.settle_magnitude(member),),
        )
        for member, (followers, magnitude) in zip(members, replies, strict=True)
        if followers is not None and not search.stands(int(magnitude or 0), int(followers))
    ]


async def left_over(db: Database, found: Sequence[str]) -> list[Finding]:
    """The index holds no deleted members, and no entry that a record does not call for."""
    findings = await _gone(db) if keys.indexed() in found else []
    for magnitude in range(search.MAGNITUDES):
        if keys.names(magnitude) in found:
            findings += await _strays(db, magnitude)
    return findings


async def _gone(db: Database) -> list[Finding]:
    members = [int(member) for member in await db.one("HKEYS", keys.indexed())]
    findings: list[Finding] = []
    for batch in batches(members, READ):
        known = await search.known(db, batch)
        wanted = await name_index.wanted(db, batch)
        findings += [
            Finding(keys.indexed(), f"has {member}, who does not exist", (search.mend(member, state, ""),))
            for member, state in zip(batch, known, strict=True)
            if state is not None and not wanted[member]
        ]
    return findings


async def _strays(db: Database, magnitude: int) -> list[Finding]:
    findings: list[Finding] = []
    last: str | None = None
    while texts := await db.one(*search.after(magnitude, last, READ)):
        read = [search.read_entry(text) for text in texts]
        known = await search.known(db, [member for _, member in read])
        findings += [
            Finding(keys.names(magnitude), f"has {text!r}, which is stray", (search.drop(magnitude, text),))
            for text, (name, _), state in zip(texts, read, known, strict=True)
            if state is None or (magnitude, name) not in search.entries(state)
        ]
        last = texts[-1]
    return findings
