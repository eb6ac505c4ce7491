"""Invariants of ownership: nothing outlives its member."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding, existing, recount
from store import keys, likes_and_comments
from store import posts as stored
from store.client.database import Database
from store.keys.fields import CommentField, StatusField


async def posts(db: Database, things: Sequence[int]) -> list[Finding]:
    """Each post's author exists. The repair deletes the post, and a worker runs the job of that."""
    replies = await db.ask(*(("HGET", keys.status(post), StatusField.AUTHOR) for post in things))
    written = {post: int(author) for post, author in zip(things, replies, strict=True) if author}
    exists = await existing(db, set(written.values()), keys.user)
    return [
        Finding(keys.status(post), f"its author {author} does not exist", (stored.delete_command(db, post, author),))
        for post, author in written.items()
        if author not in exists
    ]


async def likes(db: Database, things: Sequence[int]) -> list[Finding]:
    """Each member who likes a post exists."""
    replies = await db.ask(*(("ZRANGE", keys.likes(post), 0, -1) for post in things))
    liked = [(post, int(member)) for post, reply in zip(things, replies, strict=True) for member in reply]
    exists = await existing(db, {member for _, member in liked}, keys.user)
    return [
        Finding(
            keys.likes(post),
            f"{member}, who likes it, does not exist",
            (("ZREM", keys.likes(post), member), recount(keys.status(post), keys.likes(post), StatusField.LIKES)),
        )
        for post, member in liked
        if member not in exists
    ]


async def comments(db: Database, things: Sequence[int]) -> list[Finding]:
    """Each comment's author exists, and the author's index leads to the comment."""
    replies = await db.ask(
        *(("HMGET", keys.comment(thing), CommentField.AUTHOR, CommentField.POST) for thing in things)
    )
    written = {c: (int(author), int(post)) for c, (author, post) in zip(things, replies, strict=True) if author}
    exists = await existing(db, {author for author, _ in written.values()}, keys.user)
    indexed = await db.ask(*(("ZSCORE", keys.commenters(post), c) for c, (_, post) in written.items()))
    found: list[Finding] = []
    for (comment, (author, post)), by in zip(written.items(), indexed, strict=True):
        if author not in exists:
            gone = (likes_and_comments.delete_command(db, comment, post),)
            found.append(Finding(keys.comment(comment), f"its author {author} does not exist", gone))
        elif by is None or int(by) != author:
            index = (
                ("ZADD", keys.discussed(author), post, post),
                ("ZADD", keys.commenters(post), author, comment),
            )
            found.append(Finding(keys.comment(comment), f"is not among the comments of {author} on {post}", index))
    return found


async def commenters(db: Database, things: Sequence[int]) -> list[Finding]:
    """Each comment in an index of authors exists."""
    replies = await db.ask(*(("ZRANGE", keys.commenters(post), 0, -1) for post in things))
    listed = [(post, int(comment)) for post, reply in zip(things, replies, strict=True) for comment in reply]
    exists = await existing(db, [comment for _, comment in listed], keys.comment)
    return [
        Finding(keys.commenters(post), f"{comment} is gone", (("ZREM", keys.commenters(post), comment),))
        for post, comment in listed
        if comment not in exists
    ]


async def names(db: Database, found: Sequence[str]) -> list[Finding]:
    """A login or e-mail without a time limit belongs to a member."""
    replies = await db.ask(*(command for key in found for command in (("GET", key), ("TTL", key))))
    lasting = {
        key: int(holder)
        for key, holder, life in zip(found, replies[::2], replies[1::2], strict=True)
        if holder is not None and life < 0
    }
    exists = await existing(db, lasting.values(), keys.user)
    return [
        Finding(key, f"belongs to {holder}, who does not exist", (("DEL", key),))
        for key, holder in lasting.items()
        if holder not in exists
    ]
