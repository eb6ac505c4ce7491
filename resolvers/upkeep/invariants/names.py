"""Invariants of the index of names, which compare the stored states with those that members' records call for."""

from collections.abc import Sequence

from resolvers.jobs import name_index
from resolvers.operation.inputs import batches
from store import search
from store.client.database import Database
from store.upkeep import search as stored
from store.upkeep.findings import Finding


async def indexed(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each member is indexed as their record says."""
    wanted = await name_index.wanted(db, members)
    return await stored.indexed(db, {member: state for member, state in wanted.items() if state})


async def left_over(db: Database, found: Sequence[str]) -> list[Finding]:
    """The index holds no deleted members."""
    findings: list[Finding] = []
    for key in found:
        for batch in batches(await stored.all_indexed(db, key), stored.READ):
            known = await search.known(db, batch)
            wanted = await name_index.wanted(db, batch)
            findings += [
                Finding(key, f"has {member}, who does not exist", [search.mend(member, state, "")])
                for member, state in zip(batch, known, strict=True)
                if state is not None and not wanted[member]
            ]
    return findings
