"""Invariants of posts' lists (comments, quotes, replies, reposts) and of public timelines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from resolvers.upkeep.invariants.findings import Check, Finding, existing, recount
from store import keys
from store.client.database import Database
from store.keys.fields import CommentField, StatusField, UserField
from store.records import read_entries


def hanging(listing: Callable[[int], str]) -> Check:
    """Return a check that a list's post exists."""

    async def check(db: Database, posts: Sequence[int]) -> list[Finding]:
        exists = await existing(db, posts, keys.status)
        gone = [listing(post) for post in posts if post not in exists]
        return [Finding(key, "its post is gone", (("DEL", key),)) for key in gone]

    return check


async def comment_lists(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each listed comment exists."""
    return await _listed(db, posts, keys.comments, keys.comment, StatusField.COMMENTS)


async def quotes(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each listed quote exists."""
    return await _listed(db, posts, keys.quotes, keys.status, StatusField.QUOTES)


async def replies(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each listed reply exists."""
    return await _listed(db, posts, keys.replies, keys.status, StatusField.REPLIES)


async def reposts(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each listed plain repost exists."""
    replies = await db.ask(*(("ZRANGE", keys.reposts(post), 0, -1, "WITHSCORES") for post in posts))
    listed = [(post, e) for post, reply in zip(posts, replies, strict=True) for e in read_entries(reply)]
    exists = await existing(db, [entry.place for _, entry in listed], keys.status)
    return [
        Finding(
            keys.reposts(post),
            f"{entry.place} by {entry.thing} is gone",
            (
                ("ZREM", keys.reposts(post), entry.thing),
                recount(keys.status(post), keys.reposts(post), StatusField.REPOSTS),
            ),
        )
        for post, entry in listed
        if entry.place not in exists
    ]


async def comments(db: Database, things: Sequence[int]) -> list[Finding]:
    """Each comment is listed at its post."""
    replies = await db.ask(*(("HGET", keys.comment(thing), CommentField.POST) for thing in things))
    below = [(thing, int(post)) for thing, post in zip(things, replies, strict=True) if post]
    listed = await db.ask(*(("ZSCORE", keys.comments(post), thing) for thing, post in below))
    exists = await existing(db, {post for _, post in below}, keys.status)
    found: list[Finding] = []
    for (thing, post), score in zip(below, listed, strict=True):
        listing = keys.comments(post)
        relist = (("ZADD", listing, thing, thing), recount(keys.status(post), listing, StatusField.COMMENTS))
        if score is None:
            mend = relist if post in exists else (("DEL", keys.comment(thing)),)
            found.append(Finding(keys.comment(thing), f"is not listed at {post}", mend))
    return found


async def timeline_entries(db: Database, key: str, size: int) -> list[Finding]:
    """Each public timeline is bounded, and holds only posts that exist and that everybody may see."""
    posts = [int(post) for post in await db.one("ZRANGE", key, 0, -1)]
    records = await db.ask(*(("HMGET", keys.status(post), StatusField.AUTHOR, StatusField.HIDDEN) for post in posts))
    authors = list({int(author) for author, _ in records if author})
    states = await db.ask(*(("HMGET", keys.user(author), UserField.PRIVATE, UserField.SUSPENDED) for author in authors))
    apart = {author for author, state in zip(authors, states, strict=True) if any(state)}
    gone = [post for post, (author, _) in zip(posts, records, strict=True) if not author]
    kept = [
        post for post, (author, hid) in zip(posts, records, strict=True) if author and (hid or int(author) in apart)
    ]
    found: list[Finding] = []
    if len(posts) > size:
        trim = ("ZREMRANGEBYRANK", key, 0, -size - 1)
        found.append(Finding(key, f"has {len(posts)} entries, at most {size}", (trim,)))
    for these, what in ((gone, "that are gone"), (kept, "that not all may see")):
        if these:
            found.append(Finding(key, f"has {len(these)} posts {what}", (("ZREM", key, *these),)))
    return found


async def _listed(
    db: Database, posts: Sequence[int], listing: Callable[[int], str], record: Callable[[int], str], counter: str
) -> list[Finding]:
    replies = await db.ask(*(("ZRANGE", listing(post), 0, -1) for post in posts))
    entries = [(post, text) for post, reply in zip(posts, replies, strict=True) for text in reply]
    exists = await existing(db, [int(text) for _, text in entries], record)
    return [
        Finding(
            listing(post),
            f"{text} is gone",
            (
                ("ZREM", listing(post), text),
                recount(keys.status(post), listing(post), counter),
            ),
        )
        for post, text in entries
        if int(text) not in exists
    ]
