"""The index of names: its entries are those of the members' states, and the magnitudes are right."""

from collections.abc import Mapping, Sequence

from store import keys, search
from store.client.database import Database
from store.keys.fields import UserField
from store.upkeep.findings import Finding, ask_each

READ = 1_000  # entries read at a time
_MAGNITUDES = {keys.names(magnitude): magnitude for magnitude in range(search.MAGNITUDES)}


async def magnitudes(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each member's magnitude is one that fits their follower count."""
    wanted = (UserField.FOLLOWERS, UserField.MAGNITUDE)
    looks = {member: [("HMGET", keys.user(member), *wanted)] for member in members}
    return [
        Finding(
            keys.user(member),
            f"has magnitude {int(magnitude or 0)} with {int(followers)} followers",
            [search.update_magnitude(member)],
        )
        for member, ((followers, magnitude),) in await ask_each(db, looks)
        if followers is not None and not search.may_have_magnitude(int(magnitude or 0), int(followers))
    ]


async def indexed(db: Database, wanted: Mapping[int, str]) -> list[Finding]:
    """Each of some members is indexed in the state that is wanted. Two round trips."""
    states = dict(zip(wanted, await search.known(db, list(wanted)), strict=True))
    looks = {
        member: [("ZSCORE", keys.names(at), search.entry(name, member)) for at, name in search.entries(state)]
        for member, state in wanted.items()
    }
    return [
        Finding(keys.user(member), "is not found by their names", [search.mend(member, states[member], wanted[member])])
        for member, scores in await ask_each(db, looks)
        if states[member] != wanted[member] or None in scores
    ]


async def all_indexed(db: Database, key: str) -> list[int]:
    """Return the members that the index has a state of. One round trip."""
    return [int(member) for member in await db.one("HKEYS", key)]


async def strays(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each entry of a set of names is one that its member's state calls for."""
    return [finding for key in found if key in _MAGNITUDES for finding in await _strays(db, key)]


async def _strays(db: Database, key: str) -> list[Finding]:
    findings: list[Finding] = []
    magnitude, last = _MAGNITUDES[key], None
    while texts := await db.one(*search.after(magnitude, last, READ)):
        read = [search.read_entry(text) for text in texts]
        states = await search.known(db, [member for _, member in read])
        findings += [
            Finding(key, f"has {text!r}, which is stray", [search.drop(magnitude, text)])
            for text, (name, _), state in zip(texts, read, states, strict=True)
            if state is None or (magnitude, name) not in search.entries(state)
        ]
        last = texts[-1]
    return findings
