"""Replies: listed at the post that they answer, and in the thread of their conversation."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.keys.fields import StatusField
from store.replies import Reply
from store.upkeep.kinds import Kind, existing


class ReplyFacts(Struct, frozen=True):
    """A reply, whether it is hidden, and which lists have it."""

    reply: Reply
    key: str
    is_hidden: bool
    parent_exists: bool
    is_at_parent: bool
    is_in_thread: bool


async def replies(db: Database, posts: Sequence[int]) -> list[ReplyFacts]:
    """Return the facts about those of some posts that are replies. Four round trips."""
    wanted = (StatusField.AUTHOR, StatusField.REPLY_TO, StatusField.REPLY_TO_AUTHOR, StatusField.ROOT)
    records = await db.ask(*(("HMGET", keys.status(post), *wanted, StatusField.HIDDEN) for post in posts))
    found = [
        (Reply(post, int(author), int(parent), int(whose), int(root)), hidden is not None)
        for post, (author, parent, whose, root, hidden) in zip(posts, records, strict=True)
        if parent
    ]
    at_parent = await db.ask(*(("ZSCORE", keys.replies(reply.parent), reply.id) for reply, _ in found))
    in_thread = await db.ask(*(("ZSCORE", keys.thread(reply.root), reply.id) for reply, _ in found))
    parents = await existing(db, Kind.STATUS, {reply.parent for reply, _ in found})
    return [
        ReplyFacts(
            reply,
            keys.status(reply.id),
            is_hidden,
            parent_exists=reply.parent in parents,
            is_at_parent=below is not None,
            is_in_thread=among is not None,
        )
        for (reply, is_hidden), below, among in zip(found, at_parent, in_thread, strict=True)
    ]


class Thread(Struct, frozen=True):
    """A thread that lists posts: those that are gone, and whether its root exists and is among them."""

    root: int
    key: str
    posts: list[int]
    gone: list[int]
    root_exists: bool


async def threads(db: Database, roots: Sequence[int]) -> list[Thread]:
    """Return the threads of some roots that list any post. Two round trips."""
    replies = await db.ask(*(("ZRANGE", keys.thread(root), 0, -1) for root in roots))
    entries = {root: [int(post) for post in reply] for root, reply in zip(roots, replies, strict=True) if reply}
    exists = await existing(db, Kind.STATUS, {post for root, found in entries.items() for post in (root, *found)})
    return [
        Thread(root, keys.thread(root), found, [post for post in found if post not in exists], root in exists)
        for root, found in entries.items()
    ]


def remove_from_thread(thread: Thread, post: int) -> Command:
    """Return the command that removes a post from a thread."""
    return ("ZREM", thread.key, post)
