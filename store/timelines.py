"""Homes: written by delivery, merged by follows, read as slices; and slices of every other timeline."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from store import keys
from store.connection import Command, Database, script
from store.ids import PARTITIONS, first_of, partition
from store.records import Entry, Source, read_entries, read_pairs, read_sources


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


def _prefixes(p: int) -> list[str]:
    return [keys.prefix(key, p) for key in (keys.following, keys.home, keys.home_state, keys.sources)]


def _by_partition(members: Iterable[int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for member in members:
        groups[partition(member)].append(member)
    return groups


async def deliver(db: Database, delivery: Delivery, followers: Iterable[int]) -> None:
    """Bring a post to followers' homes, one script per partition."""
    d = delivery
    what = [d.deliverer, d.post, d.author, d.repost or "", d.earlier]
    await db.ask(
        *(
            script("deliver", [keys.minted(p)], [*_prefixes(p), *_limits(db), *what, *members])
            for p, members in _by_partition(followers).items()
        )
    )


async def retract(db: Database, delivery: Delivery, followers: Iterable[int]) -> None:
    """Take a deleted post, or an undone plain repost, out of homes."""
    what = [delivery.post, delivery.author, delivery.repost or "", delivery.earlier]
    await db.ask(
        *(
            script("retract", [keys.minted(p)], [*_prefixes(p), *_limits(db), *what, *members])
            for p, members in _by_partition(followers).items()
        )
    )


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
    p = partition(follower)
    args = [*_prefixes(p), *_limits(db), follower, followed, edge, horizon]
    await db.call("merge_home", [keys.minted(p)], *args, *_written(entries))


async def unmerge(db: Database, follower: int, unfollowed: int, entries: Sequence[Delivery]) -> None:
    """Take what an unfollowed member brought out of a home."""
    p = partition(follower)
    await db.call(
        "unmerge_home", [keys.minted(p)], *_prefixes(p), *_limits(db), follower, unfollowed, *_written(entries)
    )


def _written(entries: Sequence[Delivery]) -> list[str | int]:
    return [part for e in entries for part in (e.post, e.author, e.repost or "", e.earlier)]


async def sources(db: Database, member: int) -> dict[int, tuple[Source, ...]]:
    """Return the posts of a home that plain reposts brought, and these."""
    found = read_pairs(await db.one("HGETALL", keys.sources(member)))
    return {int(post): read_sources(text) for post, text in found.items()}


async def floor(db: Database, member: int) -> int | None:
    """Return the highest id ever trimmed from a home, None when the member has no home."""
    found = await db.one("HGET", keys.home_state(member), "floor")
    return None if found is None else int(found)


def read_slice(key: str, part: Slice) -> Command:
    """Return the command that reads part of a timeline, WITHSCORES."""
    high = "+inf" if part.below is None else f"({part.below}"
    low = "-inf" if part.above is None else f"({part.above}"
    ends = (high, low, "BYSCORE", "REV") if part.newest_first else (low, high, "BYSCORE")
    return ("ZRANGE", key, *ends, "LIMIT", 0, part.count, "WITHSCORES")


def probe(key: str, edge: int, *, newer: bool) -> Command:
    """Return the command that tells whether a timeline goes on beyond an id, that id included."""
    if newer:
        return ("ZRANGE", key, edge, "+inf", "BYSCORE", "LIMIT", 0, 1)
    return ("ZRANGE", key, edge, "-inf", "BYSCORE", "REV", "LIMIT", 0, 1)


async def places(db: Database, member: int, posts: Sequence[int]) -> dict[int, int]:
    """Return where posts stand in a home; those that do not are left out."""
    scores = await db.one("ZMSCORE", keys.home(member), *posts) if posts else []
    return {post: int(score) for post, score in zip(posts, scores, strict=True) if score is not None}


async def home(db: Database, member: int) -> list[Entry]:
    """Return a whole stored home, newest first."""
    return read_entries(await db.one("ZRANGE", keys.home(member), 0, -1, "REV", "WITHSCORES"))


def begin_home(member: int, *, again: bool = False) -> Command:
    """Return the command that begins to build a home; its reply is the home's count of changes, None when it is ready.

    `again` adds to a home that is ready.
    """
    return script("begin_home", [keys.home_state(member)], ["again" if again else ""])


def write_home(db: Database, member: int, changed: str, places: str, sources: Mapping[int, str], floor: int) -> Command:
    """Return the command that ends building a home; it replies -1 when the home has changed since it was begun.

    `places` are its entries, as `post` or `post:place` separated by spaces.
    """
    p = partition(member)
    own = [keys.home(member), keys.home_state(member), keys.sources(member), keys.scratch(p), keys.active(p)]
    args = [member, changed, floor, today(), db.settings.home_size, db.settings.home_slack, places]
    return script("write_home", own, [*args, *(part for pair in sources.items() for part in pair)])


def trim_home(db: Database, member: int) -> Command:
    """Return the command that bounds a home; its reply is how many entries went."""
    own = [keys.home(member), keys.home_state(member), keys.sources(member)]
    return script("trim_home", own, _limits(db))


def drop_home(member: int, last_read: int | None = None) -> Command:
    """Return the command that lets go of a home, of one read later than a day only if none is given."""
    own = [keys.home(member), keys.home_state(member), keys.sources(member), keys.active(partition(member))]
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
