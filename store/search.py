"""The index of names: finds members whose login or name begins with a prefix, the most followed first.

The whole index is in one hash slot, so all entries of a member change in one script. The members' own records are the
truth. A late or left-over entry is harmless, because readers compare it with the record.
"""

from collections.abc import Mapping, Sequence

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import UserField

MAGNITUDES = 24  # Sets of names. The same number is in prelude.lua, which sets a member's magnitude.
_END = "\0"  # Ends the name in an entry. No name can contain it.
_ANY = "any"  # Expected state that matches every stored state.


def read_state(member: int) -> Command:
    """Return the command that reads the indexed fields of a member: login, name, magnitude."""
    return ("HMGET", keys.user(member), UserField.LOGIN, UserField.NAME, UserField.MAGNITUDE)


def state(magnitude: int, names: Sequence[str]) -> str:
    """Return a member's state in the index, as it is stored. `names` are folded; no stored state is ''."""
    return _END.join((str(magnitude), *names))


def entries(stored: str) -> list[tuple[int, str]]:
    """Return the magnitude and name of each of a member's entries, from their stored state."""
    magnitude, *names = stored.split(_END)
    return [(int(magnitude), name) for name in names]


def entry(name: str, member: int) -> str:
    """Return the text of an entry in a set of names."""
    return f"{name}{_END}{member}"


def read_entry(text: str) -> tuple[str, int]:
    """Return the name and member of an entry."""
    name, _, member = text.rpartition(_END)
    return name, int(member)


def write(states: Mapping[int, str]) -> Command:
    """Return the command that sets the states of some members in the index; '' removes a member."""
    return _write([(member, _ANY, wanted) for member, wanted in states.items()])


def mend(member: int, found: str | None, wanted: str) -> Command:
    """Return the command that sets a member's state in the index, unless it is no longer `found`."""
    return _write([(member, found or "", wanted)])


def _write(changes: Sequence[tuple[int, str, str]]) -> Command:
    sets = [keys.names(magnitude) for magnitude in range(MAGNITUDES)]
    changed = [part for change in changes for part in change]
    return script("index_names", indexed=keys.indexed(), names=sets, changes=changed)


def drop(magnitude: int, text: str) -> Command:
    """Return the command that removes an entry, unless its member's state in the index includes it."""
    name, member = read_entry(text)
    return script(
        "drop_name",
        names=keys.names(magnitude),
        indexed=keys.indexed(),
        entry=text,
        member=member,
        magnitude=magnitude,
        name=name,
    )


def update_magnitude(member: int) -> Command:
    """Return the command that adjusts a member's magnitude to their number of followers."""
    return script("update_magnitude", member, member=member)


def may_have_magnitude(magnitude: int, followers: int) -> bool:
    """Return whether a member with so many followers may have a magnitude; the same as `magnitude_of` in prelude.lua.

    Magnitude 1 begins at 8 followers, and each further one at twice as many. With hysteresis: a member who loses
    followers keeps a magnitude down to three quarters of where it begins.
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
    """Return the command that reads all entries of a magnitude after one, at most so many."""
    return ("ZRANGE", keys.names(magnitude), "-" if last is None else f"({last}", "+", "BYLEX", "LIMIT", 0, most)


async def known(db: Database, members: Sequence[int]) -> list[str | None]:
    """Return the states of some members in the index, None for those that it does not have."""
    return list(await db.one("HMGET", keys.indexed(), *members)) if members else []
