"""Stored homes: whether each is well-formed, and its whole content."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.homes import stored
from store.ids import partition
from store.keys.fields import HomeField
from store.records.lists import Entry, Source

_COMMANDS = 6  # of `_look`


class StoredHomeFacts(Struct, frozen=True):
    """The size and bounds of a home. Without a floor there is no home."""

    member: int
    key: str
    state_key: str
    size: int | None  # None when its key is no list
    lowest: int | None  # place of the oldest entry
    floor: int | None
    is_building: bool
    has_owner: bool
    is_known_read: bool  # whether the day on which it was last read is stored


async def facts(db: Database, members: Sequence[int]) -> list[StoredHomeFacts]:
    """Return the facts about the homes of some members. One round trip."""
    replies = await db.run([command for member in members for command in _look(member)])
    rows = [replies[i : i + _COMMANDS] for i in range(0, len(replies), _COMMANDS)]
    return [_facts(member, *row) for member, row in zip(members, rows, strict=True)]


def _look(member: int) -> list[Command]:
    return [
        ("LLEN", keys.home(member)),
        ("STRLEN", keys.newest(member)),
        ("LRANGE", keys.home(member), 0, 0),
        _read_state(member),
        ("EXISTS", keys.user(member)),
        ("ZSCORE", keys.active(partition(member)), member),
    ]


def _read_state(member: int) -> Command:
    return ("HMGET", keys.home_state(member), HomeField.FLOOR, HomeField.BUILDING)


def _facts(
    member: int, size: Any, waiting: int, oldest: Any, state: Sequence[Any], owner: int, day: Any
) -> StoredHomeFacts:
    floor, building = state
    is_list = not isinstance(size, Exception)
    entries = stored.home_entries(oldest) if is_list else []
    return StoredHomeFacts(
        member=member,
        key=keys.home(member),
        state_key=keys.home_state(member),
        size=size + max(0, waiting // stored.WIDTH - 1) if is_list else None,
        lowest=entries[0].place if entries else None,
        floor=None if floor is None else int(floor),
        is_building=bool(building),
        has_owner=bool(owner),
        is_known_read=day is not None,
    )


class HomeContent(Struct, frozen=True):
    """A whole stored home: the entries of its list in their order, and all entries, newest first."""

    member: int
    key: str
    floor: int
    listed: list[Entry]
    entries: list[Entry]
    sources: dict[int, tuple[Source, ...]]
    candidates: set[Entry]


async def content(db: Database, member: int) -> HomeContent | None:
    """Return a stored home, None if it is absent, being built or no list. Five round trips."""
    kind, (floor, building) = await db.ask(("TYPE", keys.home(member)), _read_state(member))
    if floor is None or building or kind not in {"list", "none"}:
        return None
    listed = stored.home_entries(await db.one("LRANGE", keys.home(member), 0, -1))
    entries = await stored.home(db, member)
    sources = await stored.sources(db, member)
    candidates = set(stored.home_entries(await db.one("ZRANGE", keys.candidates(member), 0, -1)))
    return HomeContent(member, keys.home(member), int(floor), listed, entries, sources, candidates)


async def owners(db: Database, p: int) -> list[int]:
    """Return the members of a partition who have a home. One round trip."""
    return [int(member) for member in await db.one("ZRANGE", keys.active(p), 0, -1)]
