"""Invariants of posts: counters, the author profiles that list them, and pins."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants import listings
from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.pins import unpin_command
from store.records.posts import is_plain_repost
from store.upkeep import counters
from store.upkeep import posts as stored
from store.upkeep.kinds import Kind


async def statuses(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each post's counters equal its lists, and its author's profile and, if it is public, public timelines list it."""
    known = await stored.posts(db, posts)
    found = await listings.unlisted(db, [facts.post for facts in known])
    found += [
        Finding(Kind.STATUS.key(post.id), f"is not listed at {post.original_id}", stored.relist_repost(db, post))
        for post in await stored.unlisted_reposts(db, [facts.post for facts in known])
    ]
    for facts in known:
        post = facts.post
        for name, total in facts.totals.items():
            if facts.counters[name] != total:
                message = f"says {facts.counters[name]} {name}, there are {total}"
                found.append(Finding(facts.key, message, counters.recount_post(post.id, name)))
        if not facts.is_in_profile:
            found.append(Finding(facts.key, f"is not in the profile of {post.author}", stored.add_to_profile(post)))
        if facts.is_among_hidden != post.is_hidden:
            message = f"is {'not ' if post.is_hidden else ''}among the hidden posts of {post.author}"
            found.append(Finding(facts.key, message, stored.correct_hidden(post)))
    return found


async def hidden(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each hidden post of a member exists and is theirs. Whether it is hidden is checked with the post."""
    return [
        Finding(Kind.HIDDEN.key(member), f"{post} is gone", stored.remove_from_hidden(member, post))
        for member, post in await stored.strangers_hidden(db, members)
    ]


async def profiles(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each profile entry's post exists, and a plain repost is the author's only one of its original."""
    found: list[Finding] = []
    for entry in await stored.profiles(db, members):
        if not entry.exists:
            found.append(Finding(entry.key, f"{entry.text} is no post", stored.remove_from_profile(entry)))
        if not entry.is_indexed:
            message = f"{entry.post.id} is not known as repost of {entry.post.original}"
            found.append(Finding(entry.key, message, [stored.index_repost(entry)]))
    return found


async def reposted(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each plain repost in a member's index of reposts exists, and is of that original."""
    return [
        Finding(entry.key, f"{entry.repost} of {entry.original} is none", [stored.remove_from_reposted(entry)])
        for entry in await stored.reposted(db, members)
        if not entry.exists
    ]


async def pinned(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each pin names a status or quote that exists and is the member's own; two round trips."""
    return [
        Finding(
            pin.key,
            f"pins {pin.pinned}, which is no status or quote of theirs",
            [unpin_command(pin.pinned, pin.member)],
        )
        for pin in await stored.pins(db, members)
        if pin.post is None or pin.post.author != pin.member or is_plain_repost(pin.post)
    ]
