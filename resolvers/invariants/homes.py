"""What must hold of homes: bounds, and equality with what they are computed to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resolvers import homes
from resolvers.invariants.findings import Finding
from resolvers.rules.merging import Home
from store import keys, reach, timelines
from store.connection import Database
from store.ids import partition
from store.records import Source


async def home_bounds(db: Database, members: Sequence[int]) -> list[Finding]:
    """A home has its bounded size, nothing at or below its floor, an owner, and a day when it was last read."""
    most = db.settings.home_size + db.settings.home_slack
    facts = await db.ask(
        *(
            command
            for member in members
            for command in (
                ("ZCARD", keys.home(member)),
                ("ZRANGE", keys.home(member), 0, 0, "WITHSCORES"),
                ("HMGET", keys.home_state(member), "floor", "building"),
                ("EXISTS", keys.user(member)),
                ("ZSCORE", keys.active(partition(member)), member),
            )
        )
    )
    found: list[Finding] = []
    for i, member in enumerate(members):
        size, lowest, (floor, building), owner, day = facts[5 * i : 5 * i + 5]
        wrong = [
            (size > most, f"has {size} entries, at most {most}"),
            (lowest and int(lowest[1]) <= int(floor or 0), f"has entries at or below its floor {floor}"),
            (not owner, "belongs to nobody"),
        ]
        found += [Finding(keys.home(member), message, _anew(member)) for is_wrong, message in wrong if is_wrong]
        if day is None and floor is not None and not building:
            mend = (timelines.touch_home(member),)
            found.append(Finding(keys.home_state(member), "is not known to be read", mend))
    return found


async def homes_equal(db: Database, members: Sequence[int]) -> list[Finding]:
    """A home is what rule 3 makes of those its owner follows, above its floor.

    What big authors bring is merged when it is read; a home may hold some of it from before they were big.
    """
    _, big = await reach.big_authors(db)
    found: list[Finding] = []
    for member in members:
        home = await _stored(db, member)
        if home is None:
            continue
        least, whole = await homes.above(db, member, home.floor, set(big))
        message = _difference(home.above(whole.floor), least.above(whole.floor), whole)
        if message:
            found.append(Finding(keys.home(member), message, _anew(member)))
    return found


async def _stored(db: Database, member: int) -> Home | None:
    floor, building = await db.one("HMGET", keys.home_state(member), "floor", "building")
    if floor is None or building:
        return None
    places = {entry.thing: entry.place for entry in await timelines.home(db, member)}
    return Home(places, await timelines.sources(db, member), int(floor))


def _anew(member: int) -> tuple[tuple[Any, ...], ...]:
    """Return what lets go of a home: the next read builds it as it should be."""
    return (timelines.drop_home(member),)


def _difference(stored: Home, least: Home, whole: Home) -> str:
    """Return how a home differs from what it must hold at least, and at most with what big authors have brought."""
    missing = [post for post in least.places.keys() - stored.places.keys() if post in whole.places]
    strange = [post for post, place in stored.places.items() if not _may_stand(post, place, least, whole)]
    extra = [post for post in strange if post not in whole.places]
    moved = [post for post in strange if post in whole.places]
    parts = (("misses", missing), ("should not have", extra), ("misplaces", moved))
    told = [f"{verb} {len(posts)} (such as {min(posts)})" for verb, posts in parts if posts]
    if not told and (post := _wrong_sources(stored.sources, least.sources, whole.sources)):
        told.append(f"sources of {post} differ")
    return ", ".join(told)


def _may_stand(post: int, place: int, least: Home, whole: Home) -> bool:
    """Return whether a post may be stored at a place: the right one, without or with big authors, or one of theirs."""
    if post not in whole.places:  # a big author's repost has it below the floor
        return least.places.get(post) == place
    bringing = {whole.places[post], *(source.repost for source in whole.sources.get(post, ()))}
    return place in bringing and place <= least.places.get(post, place)


Sources = Mapping[int, tuple[Source, ...]]


def _wrong_sources(stored: Sources, least: Sources, whole: Sources) -> int | None:
    for post in sorted(stored.keys() | least.keys()):
        if not set(least.get(post, ())) <= set(stored.get(post, ())) <= set(whole.get(post, ())):
            return post
    return None
