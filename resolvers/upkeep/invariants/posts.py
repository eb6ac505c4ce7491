"""Invariants of posts: the lists of their authors and originals that have them, and pins."""

from collections.abc import Sequence

from resolvers.upkeep.invariants import listings
from resolvers.upkeep.invariants.findings import Finding
from store import kinds
from store.client.database import Database
from store.pins import unpin_command
from store.records.posts import is_plain_repost
from store.upkeep import posts as stored


async def statuses(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each post's author's profile, its original and, if it is public, public timelines list it."""
    known = await stored.posts(db, posts)
    found = await listings.unlisted(db, known)
    found += [
        Finding(kinds.STATUS.key(post.id), f"is not listed at {post.original_id}", stored.relist_repost(db, post))
        for post in await stored.unlisted_reposts(db, known)
    ]
    return found + [
        Finding(kinds.STATUS.key(post.id), f"is not in the profile of {post.author}", stored.add_to_profile(post))
        for post in await stored.not_in_profile(db, known)
    ]


async def profiles(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each plain repost in a profile is the author's only one of its original."""
    return [
        Finding(
            kinds.PROFILE.key(member),
            f"{repost.id} is not known as repost of {repost.original}",
            [stored.index_repost(member, repost)],
        )
        for member, repost in await stored.unindexed_reposts(db, members)
    ]


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


async def threads(db: Database, roots: Sequence[int]) -> list[Finding]:
    """Each thread lists its root, if that exists."""
    return [
        Finding(kinds.THREAD.key(root), "its root is missing", stored.add_root(root))
        for root in await stored.missing_roots(db, roots)
    ]
