"""Invariants of homes: bounds, and equality with the computed home."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

from resolvers.homes import build
from resolvers.rules.merging import Home
from resolvers.upkeep.invariants.findings import Finding
from store import big_authors
from store.client.database import Command, Database
from store.homes import drop_home, touch_home
from store.records import Source
from store.upkeep import homes
from store.upkeep.homes import HomeContent, HomeFacts
from store.upkeep.kinds import Kind, existing


async def home_bounds(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each home is a list of bounded size, entirely above its floor, with an owner and the day it was last read."""
    most = db.settings.home_size + db.settings.home_slack
    found: list[Finding] = []
    for home in await homes.facts(db, members):
        found += [Finding(home.key, message, _anew(home.member)) for message in _wrong_bounds(home, most)]
        if not home.is_known_read and home.floor is not None and not home.is_building:
            found.append(Finding(home.state_key, "is not known to be read", [touch_home(home.member)]))
    return found


async def read_marks(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each mark of a home that was read has an owner."""
    exists = await existing(db, Kind.USER, members)
    return [
        Finding(Kind.HOME_READ.key(member), "belongs to nobody", [homes.drop_mark(member)])
        for member in members
        if member not in exists
    ]


def _wrong_bounds(home: HomeFacts, most: int) -> list[str]:
    wrong = [] if home.has_owner else ["belongs to nobody"]
    if home.size is None:
        return [*wrong, "is no list"]
    if home.size > most:
        wrong.append(f"has {home.size} entries, at most {most}")
    if home.lowest is not None and home.lowest <= (home.floor or 0):
        wrong.append(f"has entries at or below its floor {home.floor}")
    return wrong


async def homes_equal(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each home equals what rule 3 computes above its floor, in order and with each post once.

    Big authors' posts are merged at read time. A home may still hold some that were pushed before they became big.
    """
    _, big = await big_authors.big_authors(db)
    found: list[Finding] = []
    for member in members:
        content = await homes.content(db, member)
        if content is None:
            continue
        home = Home({entry.entity: entry.place for entry in content.entries}, content.sources, content.floor)
        least, whole, pulled = await build.above(db, member, home.floor, set(big))
        message = _difference(home.above(whole.floor), least.above(whole.floor), whole, pulled)
        if message or not _in_order(content):
            message = message or "is not in order, or has a post twice"
            found.append(Finding(content.key, message, _anew(member)))
    return found


def _in_order(content: HomeContent) -> bool:
    """Return whether the list of a home is in order and the home has each post once."""
    in_order = all(one.place < other.place for one, other in itertools.pairwise(content.listed))
    return in_order and len({entry.entity for entry in content.entries}) == len(content.entries)


def _anew(member: int) -> list[Command]:
    """Return the command that drops a home, so that the next read builds it again."""
    return [drop_home(member)]


def _difference(stored: Home, least: Home, whole: Home, pulled: Collection[int]) -> str:
    """Return how a home differs from the least it must hold and the most it may hold with big authors' additions."""
    missing = [post for post in least.places.keys() - stored.places.keys() if post in whole.places]
    strange = [post for post, place in stored.places.items() if not _may_be_stored(post, place, least, whole, pulled)]
    extra = [post for post in strange if post not in whole.places]
    moved = [post for post in strange if post in whole.places]
    parts = (("misses", missing), ("should not have", extra), ("misplaces", moved))
    differences = [f"{verb} {len(posts)} (such as {min(posts)})" for verb, posts in parts if posts]
    if not differences and (post := _wrong_sources(stored.sources, least.sources, whole.sources)):
        differences.append(f"sources of {post} differ")
    return ", ".join(differences)


def _may_be_stored(post: int, place: int, least: Home, whole: Home, pulled: Collection[int]) -> bool:
    """Return whether a post may be stored at a place: with or without big authors, or at a big author's repost.

    A repost may have added a post before its big author was followed. Readers then pull the post at its own place
    and skip the stored entry, even if the post's own place is below the floor.
    """
    if post not in whole.places and post not in pulled:  # a big author's repost puts it below the floor
        return least.places.get(post) == place
    allowed = {whole.places.get(post), *(source.repost for source in whole.sources.get(post, ()))}
    return place in allowed and place <= least.places.get(post, place)


Sources = Mapping[int, tuple[Source, ...]]


def _wrong_sources(stored: Sources, least: Sources, whole: Sources) -> int | None:
    for post in sorted(stored.keys() | least.keys()):
        if not set(least.get(post, ())) <= set(stored.get(post, ())) <= set(whole.get(post, ())):
            return post
    return None
