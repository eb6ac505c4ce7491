"""Invariants of homes: equality with the computed home."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from resolvers.homes import build
from resolvers.rules.merging import Added, Home
from store import big_authors
from store.client.database import Database
from store.homes.stored import drop_home
from store.upkeep import homes
from store.upkeep.findings import Finding
from store.upkeep.homes import HomeContent


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
        least, whole = await build.above(db, member, content.floor, set(big))
        message = _difference(_above(content, whole.floor), least, whole)
        if message or not _in_order(content):
            message = message or "is not in order, or has a post twice"
            found.append(Finding(content.key, message, [drop_home(member)]))
    return found


def _above(content: HomeContent, floor: int) -> HomeContent:
    """Return what a home holds above a floor that is at or above its own."""
    sources = {post: tuple(s for s in found if s.repost > floor) for post, found in content.sources.items()}
    return structs.replace(
        content,
        entries=[entry for entry in content.entries if entry.place > floor],
        sources={post: found for post, found in sources.items() if found},
        candidates={entry for entry in content.candidates if entry.place > floor},
    )


def _in_order(content: HomeContent) -> bool:
    """Return whether the list of a home is in order and the home has each post once."""
    in_order = all(one.place < other.place for one, other in itertools.pairwise(content.listed))
    return in_order and len({entry.entity for entry in content.entries}) == len(content.entries)


def _difference(stored: HomeContent, least: Home, whole: Home) -> str:
    """Return how a home differs from the least it must hold and the most it may hold with big authors' additions."""
    places = {entry.entity: entry.place for entry in stored.entries}
    known = places.keys() | least.places.keys() | stored.sources.keys()
    wrong = {post: places.get(post) for post in known if places.get(post) not in _allowed(post, stored, least, whole)}
    missing = [post for post, place in wrong.items() if place is None]
    extra = [post for post, place in wrong.items() if place and post not in whole.places]
    moved = [post for post, place in wrong.items() if place and post in whole.places]
    parts = (("misses", missing), ("should not have", extra), ("misplaces", moved))
    differences = [f"{verb} {len(posts)} (such as {min(posts)})" for verb, posts in parts if posts]
    if not differences and (post := _wrong_sources(stored, least, whole)):
        differences.append(f"sources of {post} differ")
    if not differences and (post := _wrong_candidates(stored, places, least, whole)):
        differences.append(f"candidates of {post} differ")
    return ", ".join(differences)


def _allowed(post: int, stored: HomeContent, least: Home, whole: Home) -> set[int | None]:
    """Return the places at which a post may be stored, None for not at all, by the reposts that are stored.

    With big authors' reposts up to the floor, that can be any of them: those that were made before their authors became
    big have counted, the others have not.
    """
    allowed = {added.place(whole.floor, whole.lift) for added in _possible(post, stored, least, whole)}
    if least.what_adds(post).earlier != whole.what_adds(post).earlier:
        allowed |= {None, *(source.repost for source in stored.sources.get(post, ()))}
    return allowed


def _possible(post: int, stored: HomeContent, least: Home, whole: Home) -> Iterator[Added]:
    """Yield what may add a post to the home, with the reposts that are stored.

    A big author's post may have been pushed before its author became big, or a repost may have added it before its
    author was followed.
    """
    is_pushed = least.what_adds(post).is_delivered
    for home in (least, whole):
        added = structs.replace(home.what_adds(post), reposts=stored.sources.get(post, ()))
        yield added
        if added.own is not None and not is_pushed:
            yield structs.replace(added, is_delivered=False)
            yield structs.replace(added, is_delivered=False, own=None)


def _wrong_sources(stored: HomeContent, least: Home, whole: Home) -> int | None:
    for post in sorted(stored.sources.keys() | least.added.keys()):
        found = set(stored.sources.get(post, ()))
        if not set(least.what_adds(post).reposts) <= found <= set(whole.what_adds(post).reposts):
            return post
    return None


def _wrong_candidates(stored: HomeContent, places: Mapping[int, int], least: Home, whole: Home) -> int | None:
    for post in sorted(stored.sources.keys() | {entry.entity for entry in stored.candidates}):
        found = {entry.place for entry in stored.candidates if entry.entity == post}
        possible = _possible(post, stored, least, whole)
        if found not in [added.candidates(places.get(post), whole.lift) for added in possible]:
            return post
    return None
