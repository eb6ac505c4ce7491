"""Slices of timelines, and the entries of profiles."""

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.records.lists import Entry, Published, read_entries


def read_published(text: str) -> Published:
    """Return an entry of a profile from its stored text."""
    entity, *about = map(int, text.split(":"))
    return Published(entity, group=about[0]) if len(about) == 1 else Published(entity, *about)


class Slice(Struct, frozen=True):
    """Bounds of a read, as exclusive ids; `newest_first` says at which end the read begins."""

    above: int | None
    below: int | None
    newest_first: bool
    count: int


def look_up(key: str, ids: Sequence[int]) -> Command:
    """Return the command that reads the places of some entries in a list, None for those that it lacks."""
    return ("ZMSCORE", key, *ids)


def newest_of(count: int) -> Slice:
    """Return the bounds of a timeline's newest entries."""
    return Slice(None, None, newest_first=True, count=count)


def read_slice(key: str, part: Slice) -> Command:
    """Return the command that reads part of a timeline, WITHSCORES."""
    high = "+inf" if part.below is None else f"({part.below}"
    low = "-inf" if part.above is None else f"({part.above}"
    ends = (high, low, "BYSCORE", "REV") if part.newest_first else (low, high, "BYSCORE")
    return ("ZRANGE", key, *ends, "LIMIT", 0, part.count, "WITHSCORES")


def probe(key: str, edge: int, *, newer: bool) -> Command:
    """Return the command that reads whether a timeline continues beyond an id, that id included."""
    if newer:
        return ("ZRANGE", key, edge, "+inf", "BYSCORE", "LIMIT", 0, 1)
    return ("ZRANGE", key, edge, "-inf", "BYSCORE", "REV", "LIMIT", 0, 1)


async def after(db: Database, key: str, last: int, count: int) -> list[Entry]:
    """Return entries of a list above a score, in the order of their scores; [] at its end."""
    return read_entries(await db.one(*read_slice(key, Slice(last, None, newest_first=False, count=count))))


def first_command(key: str, count: int) -> Command:
    """Return the command that reads the first entries of a list, those with the lowest scores."""
    return ("ZRANGE", key, 0, count - 1)


async def first(db: Database, key: str, count: int) -> list[int]:
    """Return the first entries of a list, those with the lowest scores."""
    return [int(entity) for entity in await db.one(*first_command(key, count))]


def profile_slice(member: int, part: Slice) -> Command:
    """Return the command that reads part of a profile, WITHSCORES."""
    return read_slice(keys.profile(member), part)


def newest_published_command(member: int, count: int) -> Command:
    """Return the command that reads the newest entries of a profile."""
    return ("ZRANGE", keys.profile(member), 0, count - 1, "REV")


def read_profile_entries(reply: Sequence[str]) -> list[Entry]:
    """Return entries of a profile; the place of each is its own id."""
    return [Entry(place, place) for place in [int(text.partition(":")[0]) for text in reply]]


async def published(db: Database, member: int, *, below: int | None, above: int, count: int) -> list[Published]:
    """Return the entries of a member's profile between two ids, both exclusive, newest first."""
    high = "+inf" if below is None else f"({below}"
    entries = await db.one("ZRANGE", keys.profile(member), high, f"({above}", "BYSCORE", "REV", "LIMIT", 0, count)
    return [read_published(text) for text in entries]


def published_command(member: int, count: int, above: int = 0) -> Command:
    """Return the command that reads the newest entries of a profile above an id."""
    return ("ZRANGE", keys.profile(member), "+inf", f"({above}", "BYSCORE", "REV", "LIMIT", 0, count)


def read_profile(reply: Sequence[str]) -> list[Published]:
    """Return the entries of a profile from a reply."""
    return [read_published(text) for text in reply]


async def published_among(db: Database, member: int, posts: Sequence[int]) -> set[int]:
    """Return those of some statuses and quotes that a member wrote and has not deleted."""
    scores = await db.one("ZMSCORE", keys.profile(member), *posts) if posts else []
    return {post for post, score in zip(posts, scores, strict=True) if score is not None}
