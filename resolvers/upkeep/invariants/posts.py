"""Invariants of posts: counters, and author profiles that list them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from resolvers.upkeep.invariants.findings import (
    COUNTED_BY_POST,
    Finding,
    counts_of,
    existing,
    pairs,
    recount,
    recount_one,
)
from store import keys
from store.client.database import Database
from store.keys.fields import UserField
from store.records import is_plain_repost, read_pairs, read_post, read_published


async def statuses(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each post's counters equal its lists, and its author's profile lists it."""
    counts = await counts_of(db, posts, COUNTED_BY_POST)
    replies = await db.ask(*(("HGETALL", keys.status(post)) for post in posts))
    known = {post: reply for post, reply in zip(posts, replies, strict=True) if reply}
    records = {post: read_post(post, read_pairs(reply)) for post, reply in known.items()}
    in_profile = await db.ask(*(("ZSCORE", keys.profile(r.author), _profile_member(r)) for r in records.values() if r))
    found: list[Finding] = []
    for (post, reply), stands in zip(known.items(), in_profile, strict=True):
        found += _miscounted(keys.status(post), read_pairs(reply), counts[post], post, COUNTED_BY_POST)
        record = records[post]
        if record and stands is None:
            mend = (
                ("ZADD", keys.profile(record.author), post, _profile_member(record)),
                *recount_one(record.author, UserField.POSTS),
            )
            found.append(Finding(keys.status(post), f"is not in the profile of {record.author}", mend))
    return found


async def profiles(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each profile entry's post exists, and a plain repost is the author's only one of its original."""
    replies = await db.ask(*(("ZRANGE", keys.profile(member), 0, -1) for member in members))
    entries = [(m, text, read_published(text)) for m, reply in zip(members, replies, strict=True) for text in reply]
    exists = await existing(db, [entry.id for _, _, entry in entries], keys.status)
    plain = [(m, entry) for m, _, entry in entries if entry.original]
    own = await db.ask(*(("HGET", keys.reposted(m), entry.original) for m, entry in plain))
    found = [
        Finding(
            keys.profile(m), f"{text} is no post", (("ZREM", keys.profile(m), text), *recount_one(m, UserField.POSTS))
        )
        for m, text, entry in entries
        if entry.id not in exists
    ]
    found += [
        Finding(keys.profile(m), f"{entry.id} is not known as repost of {entry.original}")
        for (m, entry), repost in zip(plain, own, strict=True)
        if repost != str(entry.id)
    ]
    return found


async def reposted(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each plain repost in a member's index of reposts exists."""
    replies = await db.ask(*(("HGETALL", keys.reposted(member)) for member in members))
    own = [(m, original, repost) for m, r in zip(members, replies, strict=True) for original, repost in pairs(r)]
    exists = await existing(db, [repost for _, _, repost in own], keys.status)
    return [
        Finding(keys.reposted(m), f"{repost} of {original} is gone", (("HDEL", keys.reposted(m), original),))
        for m, original, repost in own
        if repost not in exists
    ]


def _miscounted(
    key: str, fields: dict[str, str], counts: dict[str, int], thing: int, counted: Mapping[str, Callable[[int], str]]
) -> list[Finding]:
    return [
        Finding(
            key,
            f"says {fields.get(name, 0)} {name}, there are {count}",
            (recount(key, counted[name](thing), name),),
        )
        for name, count in counts.items()
        if int(fields.get(name, 0)) != count
    ]


def _profile_member(post: Any) -> str:
    return f"{post.id}:{post.original_id}:{post.original_author}" if is_plain_repost(post) else str(post.id)
