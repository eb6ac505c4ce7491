"""Homes: written by delivery, merged by follows, read as slices; and slices of every other timeline."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from store import keys
from store.connection import Command, Database, script
from store.ids import partition
from store.records import Entry, Source, read_entries, read_pairs, read_sources


@dataclass(frozen=True, slots=True)
class Delivery:
    """One post on its way to homes: by its author, or passed on by a plain repost."""

    deliverer: int
    post: int
    author: int
    repost: int | None = None
    earlier: str = ""  # `repost:author` of those who passed it on before


@dataclass(frozen=True, slots=True)
class Slice:
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
    limits = [db.settings.home_size, db.settings.home_slack]
    what = [d.deliverer, d.post, d.author, d.repost or "", d.earlier]
    await db.ask(
        *(
            script("deliver", [keys.minted(p)], [*_prefixes(p), *limits, *what, *members])
            for p, members in _by_partition(followers).items()
        )
    )


async def retract(db: Database, delivery: Delivery, followers: Iterable[int]) -> None:
    """Take a deleted post, or an undone plain repost, out of homes."""
    what = [delivery.post, delivery.author, delivery.repost or ""]
    await db.ask(
        *(
            script("retract", [keys.minted(p)], [*_prefixes(p), *what, *members])
            for p, members in _by_partition(followers).items()
        )
    )


async def merge(
    db: Database, follower: int, followed: int, edge: int, entries: Sequence[Delivery], horizon: int
) -> None:
    """Bring a newly followed member's posts into a home; below `horizon` their profile was not read."""
    p = partition(follower)
    limits = [db.settings.home_size, db.settings.home_slack]
    args = [*_prefixes(p), *limits, follower, followed, edge, horizon]
    for e in entries:
        args += [e.post, e.author, e.repost or "", e.earlier]
    await db.call("merge_home", [keys.minted(p)], *args)


async def unmerge(db: Database, follower: int, unfollowed: int, entries: Sequence[Delivery]) -> None:
    """Take what an unfollowed member brought out of a home."""
    p = partition(follower)
    args: list[str | int] = [*_prefixes(p), follower, unfollowed]
    for e in entries:
        args += [e.post, e.author, e.repost or ""]
    await db.call("unmerge_home", [keys.minted(p)], *args)


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


def write_home(
    member: int, places: str, sources: Mapping[int, str], floor: int, seen: Sequence[Entry] | None = None
) -> Command:
    """Return the command that writes a computed home: in place of the one seen, or else added to what is there.

    `places` are its entries, as `post` or `post:place` separated by spaces.
    """
    digest = ""
    if seen is not None:
        stored = " ".join(f"{e.thing} {e.place}" for e in reversed(seen))  # the script reads it oldest first
        digest = hashlib.sha1(stored.encode(), usedforsecurity=False).hexdigest()
    own = [keys.home(member), keys.home_state(member), keys.sources(member), keys.scratch(partition(member))]
    return script("write_home", own, [digest, floor, places, *(part for pair in sources.items() for part in pair)])
