"""Invariants of posts: counters, and author profiles that list them."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.upkeep import counters
from store.upkeep import posts as stored


async def statuses(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each post's counters equal its lists, and its author's profile lists it."""
    found: list[Finding] = []
    for facts in await stored.posts(db, posts):
        post = facts.post
        for name, total in facts.totals.items():
            if facts.counters[name] != total:
                message = f"says {facts.counters[name]} {name}, there are {total}"
                found.append(Finding(facts.key, message, counters.recount_post(post.id, name)))
        if not facts.is_in_profile:
            found.append(Finding(facts.key, f"is not in the profile of {post.author}", stored.add_to_profile(post)))
    return found


async def profiles(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each profile entry's post exists, and a plain repost is the author's only one of its original."""
    found: list[Finding] = []
    for entry in await stored.profiles(db, members):
        if not entry.exists:
            found.append(Finding(entry.key, f"{entry.text} is no post", stored.remove_from_profile(entry)))
        if not entry.is_indexed:
            message = f"{entry.post.id} is not known as repost of {entry.post.original}"
            found.append(Finding(entry.key, message))
    return found


async def reposted(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each plain repost in a member's index of reposts exists."""
    return [
        Finding(entry.key, f"{entry.repost} of {entry.original} is gone", [stored.remove_from_reposted(entry)])
        for entry in await stored.reposted(db, members)
        if not entry.exists
    ]
