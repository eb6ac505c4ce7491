"""Stored homes: their bounds, and the whole content of one."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.homes import stored
from store.ids import partition
from store.keys.fields import HomeField
from store.records.lists import Entry, Source
from store.upkeep.findings import Finding


class StoredHomeFacts(Struct, frozen=True):
    """The size and bounds of a home. Without a floor there is no home."""

    member: int
    size: int | None  # None when its key is no list
    lowest: int | None  # place of the oldest entry
    floor: int | None
    is_building: bool
    has_owner: bool
    is_known_read: bool  # whether the day on which it was last read is stored

    def wrong(self, message: str) -> Finding:
        """Return a finding whose repair drops the home, so that the next read builds it again."""
        return Finding(keys.home(self.member), message, [stored.drop_home(self.member)])


async def home_bounds(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each home is a list of bounded size, entirely above its floor, with an owner and the day it was last read."""
    most = db.settings.home_size + db.settings.home_slack
    found: list[Finding] = []
    for home in await _facts(db, members):
        found += [home.wrong(message) for message in _wrong_bounds(home, most)]
        if not home.is_known_read and home.floor is not None and not home.is_building:
            key, mend = keys.home_state(home.member), stored.touch_home(home.member)
            found.append(Finding(key, "is not known to be read", [mend]))
    return found


def _wrong_bounds(home: StoredHomeFacts, most: int) -> list[str]:
    wrong = [] if home.has_owner else ["belongs to nobody"]
    if home.size is None:
        return [*wrong, "is no list"]
    if home.size > most:
        wrong.append(f"has {home.size} entries, at most {most}")
    if home.lowest is not None and home.lowest <= (home.floor or 0):
        wrong.append(f"has entries at or below its floor {home.floor}")
    return wrong


async def stateless(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each home has a state. Without one it is not read, and the next read builds it again."""
    return [home.wrong("has no floor") for home in await _facts(db, members) if home.floor is None]


async def _facts(db: Database, members: Sequence[int]) -> list[StoredHomeFacts]:
    """Return the facts about the homes of some members. One round trip."""
    looks = [_look(member) for member in members]
    replies = iter(await db.run([command for commands in looks for command in commands]))
    rows = [[next(replies) for _ in commands] for commands in looks]
    return [_read_facts(member, *row) for member, row in zip(members, rows, strict=True)]


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


def _read_facts(
    member: int, size: Any, waiting: int, oldest: Any, state: Sequence[Any], owner: int, day: Any
) -> StoredHomeFacts:
    floor, building = state
    is_list = not isinstance(size, Exception)
    entries = stored.home_entries(oldest) if is_list else []
    return StoredHomeFacts(
        member=member,
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
