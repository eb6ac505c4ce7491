"""What must hold of homes: bounds, and equality with what they are computed to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resolvers import homes
from resolvers.invariants import Finding
from resolvers.rules.merging import Home
from store import keys, timelines
from store.connection import Command, Database
from store.records import Entry, read_sources


async def home_exists(db: Database, members: Sequence[int]) -> list[Finding]:
    """Every member has a home."""
    there = await db.ask(*(("EXISTS", key(member)) for member in members for key in (keys.user, keys.home_state)))
    without = [m for m, user, home in zip(members, there[::2], there[1::2], strict=True) if user and not home]
    return [Finding(keys.user(member), "has no home", await _anew(db, member)) for member in without]


async def home_bounds(db: Database, members: Sequence[int]) -> list[Finding]:
    """A home has its bounded size, nothing at or below its floor, and sources for its entries alone."""
    most = db.settings.home_size + db.settings.home_slack
    found: list[Finding] = []
    facts = await db.ask(
        *(
            command
            for member in members
            for command in (
                ("ZCARD", keys.home(member)),
                ("ZRANGE", keys.home(member), 0, 0, "WITHSCORES"),
                ("HGET", keys.home_state(member), "floor"),
                ("HKEYS", keys.sources(member)),
            )
        )
    )
    for i, member in enumerate(members):
        size, lowest, floor, sourced = facts[4 * i : 4 * i + 4]
        if size > most:
            message = f"has {size} entries, at most {most}"
            found.append(Finding(keys.home(member), message, await _anew(db, member)))
        if lowest and int(lowest[1]) <= int(floor or 0):
            message = f"has entries at or below its floor {floor}"
            found.append(Finding(keys.home(member), message, await _anew(db, member)))
        places = await db.one("ZMSCORE", keys.home(member), *sourced) if sourced else []
        strange = [post for post, place in zip(sourced, places, strict=True) if place is None]
        if strange:
            mend = (("HDEL", keys.sources(member), *strange),)
            found.append(Finding(keys.sources(member), f"names {len(strange)} posts that are not in the home", mend))
    return found


async def homes_equal(db: Database, members: Sequence[int]) -> list[Finding]:
    """A home is what rule 3 makes of those its owner follows, above its floor."""
    found: list[Finding] = []
    # Homes are read before what they are computed from: a repair does nothing to one that changes in between.
    seen = {member: (await timelines.home(db, member), await timelines.floor(db, member)) for member in members}
    pulled = await homes.Pulling(db).pull(members)
    for member, home in pulled.items():
        entries, floor = seen[member]
        if floor is None:
            continue
        above = max(floor, home.floor)
        stored = {entry.thing: entry.place for entry in entries if entry.place > above}
        right = {post: place for post, place in home.places.items() if place > above}
        texts = await db.one("HMGET", keys.sources(member), *stored) if stored else []
        sources = {post: read_sources(text) for post, text in zip(stored, texts, strict=True) if text}
        wanted = {post: bringing for post, bringing in home.sources.items() if post in right}
        if stored != right or sources != wanted:
            message = _difference(stored, right) or f"sources of {_first_difference(sources, wanted)} differ"
            found.append(Finding(keys.home(member), message, (_rewrite(member, home, entries),)))
    return found


async def _anew(db: Database, member: int) -> tuple[Command, ...]:
    """Return what writes a home as it should be."""
    seen = await timelines.home(db, member)  # before those it is computed from: what comes meanwhile makes it differ
    (home,) = (await homes.Pulling(db).pull([member])).values()
    return (_rewrite(member, home, seen),)


def _rewrite(member: int, home: Home, seen: Sequence[Entry]) -> Command:
    return timelines.write_home(member, homes.written(home), homes.written_sources(home), home.floor, seen)


def _difference(stored: dict[int, int], right: dict[int, int]) -> str:
    missing, extra = right.keys() - stored.keys(), stored.keys() - right.keys()
    moved = [post for post in stored.keys() & right.keys() if stored[post] != right[post]]
    parts = (("misses", missing), ("should not have", extra), ("misplaces", moved))
    return ", ".join(f"{verb} {len(posts)} (such as {min(posts)})" for verb, posts in parts if posts)


def _first_difference(left: dict[int, Any], right: dict[int, Any]) -> int:
    return min(post for post in left.keys() | right.keys() if left.get(post) != right.get(post))
