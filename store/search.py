"""Names: which members have a login or name that begins with something, the most followed first.

All of it lies in one hash slot, so that what a member is found by changes in one step. It follows the members' own
records, which are the truth: an entry that is late or left over is harmless to who compares it with the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition

MAGNITUDES = 24  # sets of names; the same in prelude.lua, where a member's magnitude is kept
_END = "\0"  # ends a name in an entry, as no name can hold it
_ANY = "any"  # in place of what the index is expected to have


def read_state(member: int) -> Command:
    """Return the command that reads what the index is made of: login, name, magnitude."""
    return ("HMGET", keys.user(member), "login", "name", "magnitude")


def state(magnitude: int, names: Sequence[str]) -> str:
    """Return what the index has of a member, as it is stored; `names` are folded, '' is stored for nobody."""
    return _END.join((str(magnitude), *names))


def entries(stored: str) -> list[tuple[int, str]]:
    """Return magnitude and name of each entry that the index has of a member."""
    magnitude, *names = stored.split(_END)
    return [(int(magnitude), name) for name in names]


def entry(name: str, member: int) -> str:
    """Return an entry of a set of names."""
    return f"{name}{_END}{member}"


def read_entry(text: str) -> tuple[str, int]:
    """Return name and member of an entry."""
    name, _, member = text.rpartition(_END)
    return name, int(member)


def write(states: Mapping[int, str]) -> Command:
    """Return the command that sets what the index has of some members, '' for nothing."""
    return _write([(member, _ANY, wanted) for member, wanted in states.items()])


def mend(member: int, found: str | None, wanted: str) -> Command:
    """Return the command that sets what the index has of a member, unless it has changed since it was `found`."""
    return _write([(member, found or "", wanted)])


def _write(changes: Sequence[tuple[int, str, str]]) -> Command:
    own = [keys.indexed(), *map(keys.names, range(MAGNITUDES))]
    return script("index_names", own, [part for change in changes for part in change])


def drop(magnitude: int, text: str) -> Command:
    """Return the command that removes an entry, unless the index has it of its member after all."""
    name, member = read_entry(text)
    return script("drop_name", [keys.names(magnitude), keys.indexed()], [text, member, magnitude, name])


def settle_magnitude(member: int) -> Command:
    """Return the command that makes a member's magnitude that of their followers."""
    p = partition(member)
    return script("settle_magnitude", [keys.user(member), keys.minted(p), keys.jobs(p)], [p, member])


def stands(magnitude: int, followers: int) -> bool:
    """Return whether a member with so many followers may have a magnitude; the same as `magnitude_of` in prelude.lua.

    One more for each doubling from 8 on; who falls back keeps theirs down to three quarters of what it takes.
    """
    least = 3 << magnitude if magnitude else 0
    return least <= followers and (followers < 8 << magnitude or magnitude == MAGNITUDES - 1)


def count(magnitude: int, prefix: str) -> Command:
    """Return the command that counts the entries of a magnitude that begin with a folded prefix."""
    return ("ZLEXCOUNT", keys.names(magnitude), *_bounds(prefix))


def read(magnitude: int, prefix: str, most: int) -> Command:
    """Return the command that reads the entries of a magnitude that begin with a folded prefix, by name."""
    return ("ZRANGE", keys.names(magnitude), *_bounds(prefix), "BYLEX", "LIMIT", 0, most)


def _bounds(prefix: str) -> tuple[bytes, bytes]:
    beginning = b"[" + prefix.encode()
    return beginning, beginning + b"\xff"  # a byte that UTF-8 never has


def after(magnitude: int, last: str | None, most: int) -> Command:
    """Return the command that reads entries of a magnitude after one, whatever they begin with."""
    return ("ZRANGE", keys.names(magnitude), "-" if last is None else f"({last}", "+", "BYLEX", "LIMIT", 0, most)


async def known(db: Database, members: Sequence[int]) -> list[str | None]:
    """Return what the index has of members."""
    return list(await db.one("HMGET", keys.indexed(), *members)) if members else []
