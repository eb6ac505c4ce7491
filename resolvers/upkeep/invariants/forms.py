"""Invariants of form: each key has the type of its kind, and each of its values can be read."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.upkeep import malformed


async def wellformed(db: Database, keys: Sequence[str]) -> tuple[list[Finding], set[str]]:
    """Return what does not have the form of its kind, and the keys whose type is wrong, which no check can read.

    A field of a record that is no counter is the truth, so a person has to decide on it.
    """
    found = await malformed.malformed(db, keys)
    findings = [Finding(one.key, one.message, one.repair) for one in found]
    return findings, {one.key for one in found if one.is_unreadable}
