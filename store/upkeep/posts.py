"""Posts: the profiles, indexes of reposts, originals, threads and pins that lead to them."""

from collections.abc import Sequence

from store import keys, kinds
from store import posts as live
from store.client.database import Command, Database
from store.keys.fields import StatusField, UserField
from store.pins import unpin_command
from store.records.lists import Published, read_pairs
from store.records.posts import Post, Repost, is_plain_repost, read_post
from store.timelines import read_published
from store.upkeep import counters
from store.upkeep.findings import Finding, ask_each, existing


async def posts(db: Database, ids: Sequence[int]) -> list[Post]:
    """Return the existing posts among some ids. One round trip."""
    replies = await ask_each(db, {post: [("HGETALL", keys.status(post))] for post in ids})
    return [record for post, (reply,) in replies if (record := read_post(post, read_pairs(reply)))]


async def listed(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each post's author's profile lists it, as does the original of each repost and quote, if that exists."""
    some = await posts(db, ids)
    return await _unlisted_at_originals(db, some) + await _not_in_profiles(db, some)


async def _not_in_profiles(db: Database, some: Sequence[Post]) -> list[Finding]:
    looks = {post.id: [("ZSCORE", keys.profile(post.author), _profile_entry(post))] for post in some}
    places = dict(await ask_each(db, looks))
    return [
        Finding(
            keys.status(post.id),
            f"is not in the profile of {post.author}",
            [
                ("ZADD", keys.profile(post.author), post.id, _profile_entry(post)),
                *counters.recount_list(kinds.PROFILE, post.author),
            ],
        )
        for post in some
        if places[post.id] == [None]
    ]


def _profile_entry(post: Post) -> str:
    if isinstance(post, Repost) and post.is_plain:
        return f"{post.id}:{post.original_id}:{0 if post.original_group else post.original_author}"
    return f"{post.id}:{post.group}" if post.group else str(post.id)


async def _unlisted_at_originals(db: Database, some: Sequence[Post]) -> list[Finding]:
    reposts = {one.id: one for one in some if isinstance(one, Repost) and not one.is_hidden}
    originals = await existing(db, kinds.STATUS, {one.original_id for one in reposts.values()})
    looks = {one.id: [_place_at_original(one)] for one in reposts.values() if one.original_id in originals}
    return [
        Finding(keys.status(post), f"is not listed at {reposts[post].original_id}", _relist(db, reposts[post]))
        for post, (place,) in await ask_each(db, looks)
        if place is None
    ]


def _place_at_original(post: Repost) -> Command:
    if post.is_plain:
        return ("ZSCORE", keys.reposts(post.original_id), post.author)
    return ("ZSCORE", keys.quotes(post.original_id), post.id)


def _relist(db: Database, post: Repost) -> Sequence[Command]:
    """Return the commands that list a repost or quote at its original again."""
    original = post.original_id
    if not post.is_plain:
        return live.relist_quote_commands(db, original, post.id, post.author)
    ended = ("DEL", keys.withdrawn(original, post.id))
    return [ended, live.list_repost_command(db, original, post.id, post.author, plain=True)]


async def profiles(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each plain repost in a profile is the author's only one of its original."""
    replies = await ask_each(db, {member: [("ZRANGE", keys.profile(member), 0, -1)] for member in members})
    entries = [(member, read_published(text)) for member, (reply,) in replies for text in reply]
    looks: dict[tuple[int, Published], list[Command]] = {
        (member, post): [("HGET", keys.reposted(member), post.original)] for member, post in entries if post.original
    }
    return [
        Finding(
            keys.profile(member),
            f"{repost.id} is not known as repost of {repost.original}",
            [("HSETNX", keys.reposted(member), repost.original, repost.id)],
        )
        for (member, repost), (indexed,) in await ask_each(db, looks)
        if indexed != str(repost.id)
    ]


async def reposted(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each plain repost in a member's index of reposts exists, and is of that original."""
    replies = await ask_each(db, {keys.reposted(one): [("HGETALL", keys.reposted(one))] for one in members})
    looks: dict[tuple[str, int, int], list[Command]] = {
        (key, int(original), int(repost)): [("HGET", keys.status(int(repost)), StatusField.ORIGINAL)]
        for key, (reply,) in replies
        for original, repost in read_pairs(reply).items()
    }
    return [
        Finding(key, f"{repost} of {original} is none", [("HDEL", key, original)])
        for (key, original, repost), (of,) in await ask_each(db, looks)
        if of != str(original)
    ]


async def pinned(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each pin names a status or quote that exists and is the member's own. Two round trips."""
    pins = await ask_each(db, {member: [("HGET", keys.user(member), UserField.PINNED)] for member in members})
    looks = {(member, int(post)): [("HGETALL", keys.status(int(post)))] for member, (post,) in pins if post}
    read = [(member, post, read_post(post, read_pairs(r))) for (member, post), (r,) in await ask_each(db, looks)]
    return [
        Finding(keys.user(member), f"pins {post}, which is no status or quote of theirs", [unpin_command(post, member)])
        for member, post, record in read
        if record is None or record.author != member or is_plain_repost(record)
    ]


async def threads(db: Database, roots: Sequence[int]) -> list[Finding]:
    """Each thread lists its root, if that exists."""
    looks = {root: [("ZSCORE", keys.thread(root), root), ("EXISTS", keys.status(root))] for root in roots}
    return [
        Finding(keys.thread(root), "its root is missing", [("ZADD", keys.thread(root), root, root)])
        for root, (place, exists) in await ask_each(db, looks)
        if place is None and exists
    ]
