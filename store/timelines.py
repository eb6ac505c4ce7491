"""Homes: written by delivery, merged by follows, read as slices; and slices of every other timeline."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.ids import LARGEST, PARTITIONS, first_of, partition
from store.records import Entry, Source, read_pairs, read_sources

APPENDED = 500  # homes that one script adds a newest post to: 1 to 2 ms in which the server does nothing else
WAITING = 8  # entries: more make each delivery longer, fewer have it add to the list more often
WIDTH = 17  # characters of an entry that waits, as the scripts have it
CHANGED = 100  # homes that one script changes in another way: 2 to 5 ms


class Delivery(Struct, frozen=True):
    """One post on its way to homes: by its author, or passed on by a plain repost."""

    deliverer: int
    post: int
    author: int
    repost: int | None = None
    earlier: str = ""  # `repost:author` of those who passed it on before


class Slice(Struct, frozen=True):
    """Bounds of a read, as exclusive ids; `newest_first` says at which end it begins."""

    above: int | None
    below: int | None
    newest_first: bool
    count: int


class StoredHome(Struct, frozen=True):
    """Part of a home as it is stored; without a floor there is none, and while it is built it is not to be read."""

    entries: list[Entry]
    floor: int | None
    is_built: bool


def at_once(delivery: Delivery) -> int:
    """Return how many homes one step may bring a post to."""
    return CHANGED if delivery.repost else APPENDED


def deliver(db: Database, delivery: Delivery, after: int, count: int) -> Command:
    """Return the command that brings a post to the homes of some followers of the deliverer, oldest follow first.

    It begins after a follow; `read_delivered` makes of its reply how far it came.
    """
    d = delivery
    args = [
        *_stems(),
        *_limits(db),
        min(WAITING, db.settings.home_slack),
        d.deliverer,
        d.post,
        d.author,
        d.repost or "",
        d.earlier,
        after,
        count,
    ]
    return script("deliver", [keys.followers(d.deliverer)], args)


def read_delivered(reply: Sequence[Any]) -> tuple[int, int]:
    """Return how many followers a delivery has reached, and the edge of the last one; 0 and 0 for nobody."""
    return (int(reply[0]), int(reply[1])) if reply[0] else (0, 0)


async def retract(db: Database, delivery: Delivery, followers: Sequence[int]) -> None:
    """Take a deleted post, or an undone plain repost, out of homes."""
    d = delivery
    args = [*_stems(), *_limits(db), d.post, d.author, d.repost or "", d.earlier]
    groups = (followers[i : i + CHANGED] for i in range(0, len(followers), CHANGED))
    await db.ask(*(script("retract", [], [*args, *map(keys.tag, some)]) for some in groups))


def _stems() -> list[str]:
    return [keys.stem(key) for key in (keys.following, keys.home, keys.home_state, keys.sources, keys.newest)]


def _limits(db: Database) -> list[int]:
    return [db.settings.home_size, db.settings.home_slack, oldest(db)]


def oldest(db: Database) -> int:
    """Return the id at and below which homes keep nothing because of its age; 0 without such a limit."""
    days = db.settings.home_max_age
    return first_of(datetime.now(UTC) - timedelta(days=days)) if days else 0


async def merge(
    db: Database, follower: int, followed: int, edge: int, entries: Sequence[Delivery], horizon: int
) -> None:
    """Bring a newly followed member's posts into a home; below `horizon` their profile was not read."""
    args = [*_limits(db), follower, followed, edge, horizon]
    await db.call("merge_home", [keys.following(follower), *keys.home_keys(follower)], *args, *_written(entries))


async def unmerge(db: Database, follower: int, unfollowed: int, entries: Sequence[Delivery]) -> None:
    """Take what an unfollowed member brought out of a home."""
    own = [keys.following(follower), *keys.home_keys(follower)]
    await db.call("unmerge_home", own, *_limits(db), follower, unfollowed, *_written(entries))


def _written(entries: Sequence[Delivery]) -> list[str | int]:
    return [part for e in entries for part in (e.post, e.author, e.repost or "", e.earlier)]


async def sources(db: Database, member: int) -> dict[int, tuple[Source, ...]]:
    """Return the posts of a home that plain reposts brought, and these."""
    found = read_pairs(await db.one("HGETALL", keys.sources(member)))
    return {int(post): read_sources(text) for post, text in found.items()}


async def floor(db: Database, member: int) -> int | None:
    """Return the highest id ever trimmed from a home, None when the member has no home."""
    found = await db.one(*floor_command(member))
    return None if found is None else int(found)


def floor_command(member: int) -> Command:
    """Return the command that reads the highest id ever trimmed from a home."""
    return ("HGET", keys.home_state(member), "floor")


def read_slice(key: str, part: Slice) -> Command:
    """Return the command that reads part of a timeline, WITHSCORES."""
    high = "+inf" if part.below is None else f"({part.below}"
    low = "-inf" if part.above is None else f"({part.above}"
    ends = (high, low, "BYSCORE", "REV") if part.newest_first else (low, high, "BYSCORE")
    return ("ZRANGE", key, *ends, "LIMIT", 0, part.count, "WITHSCORES")


def read_published(reply: Sequence[str]) -> list[Entry]:
    """Return entries of a profile, whose places are their own ids."""
    return [Entry(place, place) for place in [int(text.partition(":")[0]) for text in reply]]


def probe(key: str, edge: int, *, newer: bool) -> Command:
    """Return the command that tells whether a timeline goes on beyond an id, that id included."""
    if newer:
        return ("ZRANGE", key, edge, "+inf", "BYSCORE", "LIMIT", 0, 1)
    return ("ZRANGE", key, edge, "-inf", "BYSCORE", "REV", "LIMIT", 0, 1)


def newest_of(count: int) -> Slice:
    """Return the bounds of the newest entries."""
    return Slice(None, None, newest_first=True, count=count)


def read_home(member: int, part: Slice) -> list[Command]:
    """Return the three commands that read part of a home; `read_stored` makes of their replies what was asked for.

    In this order: what is added to the list in between is read twice, not overlooked, and what is trimmed in between
    stands below the floor.
    """
    bounds = [part.above or 0, "" if part.below is None else part.below, "1" if part.newest_first else "", part.count]
    is_newest = part.below is None and part.newest_first
    return [
        ("GET", keys.newest(member)),
        ("LRANGE", keys.home(member), -part.count, -1)
        if is_newest
        else script("slice_home", [keys.home(member)], bounds),
        ("HMGET", keys.home_state(member), "floor", "building"),
    ]


def read_stored(part: Slice, waiting: str | None, listed: Sequence[str], state: Sequence[str | None]) -> StoredHome:
    """Return what the commands of `read_home` have found."""
    floor, building = state
    return StoredHome(home_slice(part, waiting, listed), None if floor is None else int(floor), not building)


def home_slice(part: Slice, waiting: str | None, listed: Sequence[str]) -> list[Entry]:
    """Return the entries of part of a home in the order asked for."""
    texts = [*listed, *(waiting or "").split()[1:]]
    found = {place: place for place in map(int, [text for text in texts if ":" not in text])}  # as almost all stand
    found |= {entry.place: entry.thing for entry in home_entries([text for text in texts if ":" in text])}
    above, below = part.above or 0, part.below or LARGEST + 1
    places = sorted([place for place in found if above < place < below], reverse=part.newest_first)
    return [Entry(found[place], place) for place in places[: part.count]]


def home_entries(listed: Sequence[str]) -> list[Entry]:
    """Return entries of the list of a home, in its order."""
    return [Entry(int(post), int(place or post)) for post, _, place in (entry.partition(":") for entry in listed)]


def places(member: int, posts: Sequence[int]) -> Command:
    """Return the command that tells where posts stand in a home, None for those that do not."""
    return script("places", [keys.home(member), keys.newest(member)], posts)


async def home(db: Database, member: int) -> list[Entry]:
    """Return a whole stored home, newest first."""
    return home_slice(
        newest_of(LARGEST), *await db.ask(("GET", keys.newest(member)), ("LRANGE", keys.home(member), 0, -1))
    )


def begin_home(member: int, *, again: bool = False) -> Command:
    """Return the command that begins to build a home; its reply is the home's count of changes, None when it is ready.

    `again` adds to a home that is ready.
    """
    return script("begin_home", [keys.home_state(member)], ["again" if again else ""])


def write_home(db: Database, member: int, changed: str, places: str, sources: Mapping[int, str], floor: int) -> Command:
    """Return the command that ends building a home; it replies -1 when the home has changed since it was begun.

    `places` are its entries, as `post` or `post:place` separated by spaces.
    """
    own = [*keys.home_keys(member), keys.active(partition(member))]
    args = [member, changed, floor, today(), db.settings.home_size, db.settings.home_slack, places]
    return script("write_home", own, [*args, *(part for pair in sources.items() for part in pair)])


def trim_home(db: Database, member: int) -> Command:
    """Return the command that bounds a home; its reply is how many entries went."""
    return script("trim_home", keys.home_keys(member), _limits(db))


def drop_home(member: int, last_read: int | None = None) -> Command:
    """Return the command that lets go of a home, of one read later than a day only if none is given."""
    own = [*keys.home_keys(member), keys.active(partition(member))]
    return script("drop_home", own, [member, "" if last_read is None else last_read])


def touch_home(member: int) -> Command:
    """Return the command that notes that a home is read today."""
    return ("ZADD", keys.active(partition(member)), "GT", today(), member)


async def idle(db: Database, last_read: int, count: int) -> list[int]:
    """Return members whose homes nobody has read since a day, some of each partition."""
    bounds = ("-inf", last_read, "BYSCORE", "LIMIT", 0, count)
    found = await db.ask(*(("ZRANGE", keys.active(p), *bounds) for p in range(PARTITIONS)))
    return [int(member) for members in found for member in members]


def today() -> int:
    """Return the number of the day, in UTC."""
    return int(time.time()) // keys.DAY
