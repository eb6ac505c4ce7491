"""The index of names: the fields of members that it depends on, and its own entries."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from store import keys, search
from store.client.database import Command, Database
from store.keys.fields import UserField


class Magnitude(Struct, frozen=True):
    """The magnitude and the follower count of a member."""

    member: int
    key: str
    magnitude: int
    followers: int


async def magnitudes(db: Database, members: Sequence[int]) -> list[Magnitude]:
    """Return the magnitude of each existing member. One round trip."""
    wanted = (UserField.FOLLOWERS, UserField.MAGNITUDE)
    replies = await db.ask(*(("HMGET", keys.user(member), *wanted) for member in members))
    return [
        Magnitude(member, keys.user(member), int(magnitude or 0), int(followers))
        for member, (followers, magnitude) in zip(members, replies, strict=True)
        if followers is not None
    ]


class IndexedMember(Struct, frozen=True):
    """The state of a member in the index, as it is and as it should be."""

    member: int
    key: str
    state: str | None
    wanted: str
    has_all_entries: bool  # that the wanted state calls for


async def indexed(db: Database, wanted: Mapping[int, str]) -> list[IndexedMember]:
    """Return how the index has the members of some wanted states. Two round trips."""
    states = await search.known(db, list(wanted))
    entries = [(member, *entry) for member, state in wanted.items() for entry in search.entries(state)]
    scores = await db.ask(*(("ZSCORE", keys.names(at), search.entry(name, member)) for member, at, name in entries))
    absent = {member for (member, _, _), score in zip(entries, scores, strict=True) if score is None}
    return [
        IndexedMember(member, keys.user(member), state, wanted[member], member not in absent)
        for member, state in zip(wanted, states, strict=True)
    ]


async def all_indexed(db: Database) -> list[int]:
    """Return the members that the index has a state of. One round trip."""
    return [int(member) for member in await db.one("HKEYS", keys.indexed())]


def states_key() -> str:
    """Return the key of the members' states, for a finding."""
    return keys.indexed()


class NameEntry(Struct, frozen=True):
    """An entry of a set of names, and the state of its member in the index."""

    key: str
    text: str
    magnitude: int
    name: str
    state: str | None


async def entries_after(db: Database, magnitude: int, last: str | None, count: int) -> list[NameEntry]:
    """Return the entries of a magnitude after the one with a text, at most so many. Two round trips."""
    texts = await db.one(*search.after(magnitude, last, count))
    read = [search.read_entry(text) for text in texts]
    states = await search.known(db, [member for _, member in read])
    return [
        NameEntry(keys.names(magnitude), text, magnitude, name, state)
        for text, (name, _), state in zip(texts, read, states, strict=True)
    ]


def drop(entry: NameEntry) -> Command:
    """Return the command that removes an entry, unless its member's state calls for it."""
    return search.drop(entry.magnitude, entry.text)
