"""Invariants of homes: bounds, and equality with the computed home."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from resolvers.homes import build
from resolvers.rules.merging import Home
from resolvers.upkeep.invariants.findings import Finding
from store import big_authors, keys, timelines
from store.client.database import Database
from store.ids import partition
from store.keys.fields import HomeField
from store.records import Source


async def home_bounds(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each home is a list of bounded size, entirely above its floor, with an owner and the day it was last read."""
    most = db.settings.home_size + db.settings.home_slack
    facts = await db.run(
        [
            command
            for member in members
            for command in (
                ("LLEN", keys.home(member)),
                ("STRLEN", keys.newest(member)),
                ("LRANGE", keys.home(member), 0, 0),
                ("HMGET", keys.home_state(member), HomeField.FLOOR, HomeField.BUILDING),
                ("EXISTS", keys.user(member)),
                ("ZSCORE", keys.active(partition(member)), member),
            )
        ]
    )
    found: list[Finding] = []
    for i, member in enumerate(members):
        size, waiting, lowest, (floor, building), owner, day = facts[6 * i : 6 * i + 6]
        wrong = [(not owner, "belongs to nobody")]
        if isinstance(size, Exception):
            wrong.append((True, "is no list"))
        else:
            size += max(0, waiting // timelines.WIDTH - 1)
            below = any(entry.place <= int(floor or 0) for entry in timelines.home_entries(lowest))
            wrong += [
                (size > most, f"has {size} entries, at most {most}"),
                (below, f"has entries at or below its floor {floor}"),
            ]
        found += [Finding(keys.home(member), message, _anew(member)) for is_wrong, message in wrong if is_wrong]
        if day is None and floor is not None and not building:
            mend = (timelines.touch_home(member),)
            found.append(Finding(keys.home_state(member), "is not known to be read", mend))
    return found


async def homes_equal(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each home equals what rule 3 computes above its floor, in order and with each post once.

    Big authors' posts are merged at read time. A home may still hold some that were pushed before they became big.
    """
    _, big = await big_authors.big_authors(db)
    found: list[Finding] = []
    for member in members:
        home, in_order = await _stored(db, member)
        if home is None:
            continue
        least, whole, pulled = await build.above(db, member, home.floor, set(big))
        message = _difference(home.above(whole.floor), least.above(whole.floor), whole, pulled)
        if message or not in_order:
            message = message or "is not in order, or has a post twice"
            found.append(Finding(keys.home(member), message, _anew(member)))
    return found


async def _stored(db: Database, member: int) -> tuple[Home | None, bool]:
    """Return a stored home (None if absent, being built or no list), and whether it is in order without repetitions."""
    kind, (floor, building) = await db.ask(
        ("TYPE", keys.home(member)), ("HMGET", keys.home_state(member), HomeField.FLOOR, HomeField.BUILDING)
    )
    if floor is None or building or kind not in {"list", "none"}:
        return None, False
    listed = timelines.home_entries(await db.one("LRANGE", keys.home(member), 0, -1))
    in_order = all(one.place < other.place for one, other in itertools.pairwise(listed))
    entries = await timelines.home(db, member)
    places = {entry.thing: entry.place for entry in entries}
    sources = await timelines.sources(db, member)
    return Home(places, sources, int(floor)), in_order and len(places) == len(entries)


def _anew(member: int) -> tuple[tuple[Any, ...], ...]:
    """Return the command that drops a home, so that the next read builds it again."""
    return (timelines.drop_home(member),)


def _difference(stored: Home, least: Home, whole: Home, pulled: Collection[int]) -> str:
    """Return how a home differs from the least it must hold and the most it may hold with big authors' additions."""
    missing = [post for post in least.places.keys() - stored.places.keys() if post in whole.places]
    strange = [post for post, place in stored.places.items() if not _may_stand(post, place, least, whole, pulled)]
    extra = [post for post in strange if post not in whole.places]
    moved = [post for post in strange if post in whole.places]
    parts = (("misses", missing), ("should not have", extra), ("misplaces", moved))
    told = [f"{verb} {len(posts)} (such as {min(posts)})" for verb, posts in parts if posts]
    if not told and (post := _wrong_sources(stored.sources, least.sources, whole.sources)):
        told.append(f"sources of {post} differ")
    return ", ".join(told)


def _may_stand(post: int, place: int, least: Home, whole: Home, pulled: Collection[int]) -> bool:
    """Return whether a post may be stored at a place: with or without big authors, or at a big author's repost.

    A repost may have added a post before its big author was followed. Readers then pull the post at its own place
    and skip the stored entry, even if the post's own place is below the floor.
    """
    if post not in whole.places and post not in pulled:  # a big author's repost puts it below the floor
        return least.places.get(post) == place
    bringing = {whole.places.get(post), *(source.repost for source in whole.sources.get(post, ()))}
    return place in bringing and place <= least.places.get(post, place)


Sources = Mapping[int, tuple[Source, ...]]


def _wrong_sources(stored: Sources, least: Sources, whole: Sources) -> int | None:
    for post in sorted(stored.keys() | least.keys()):
        if not set(least.get(post, ())) <= set(stored.get(post, ())) <= set(whole.get(post, ())):
            return post
    return None
