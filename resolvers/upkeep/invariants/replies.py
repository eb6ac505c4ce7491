"""Invariants of replies: listed at the post they answer, and in their conversation's thread."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding, existing
from store import keys
from store import replies as stored
from store.client.database import Database
from store.keys.fields import StatusField
from store.replies import Reply


async def listed(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each reply is in its thread, and listed at its parent if that exists; a hidden reply is in neither."""
    names = (
        StatusField.AUTHOR,
        StatusField.REPLY_TO,
        StatusField.REPLY_TO_AUTHOR,
        StatusField.ROOT,
        StatusField.HIDDEN,
    )
    records = await db.ask(*(("HMGET", keys.status(post), *names) for post in posts))
    answers = [
        (Reply(post, int(author), int(parent), int(whose), int(root)), hidden is not None)
        for post, (author, parent, whose, root, hidden) in zip(posts, records, strict=True)
        if parent
    ]
    at_parent = await db.ask(*(("ZSCORE", keys.replies(reply.parent), reply.id) for reply, _ in answers))
    in_thread = await db.ask(*(("ZSCORE", keys.thread(reply.root), reply.id) for reply, _ in answers))
    parents = await existing(db, {reply.parent for reply, _ in answers}, keys.status)
    found: list[Finding] = []
    for (reply, hidden), below, among in zip(answers, at_parent, in_thread, strict=True):
        if (among is None) != hidden or (reply.parent in parents and (below is None) != hidden):
            change = stored.remove_commands if hidden else stored.relist_commands
            message = f"is {'hidden and still' if hidden else 'not'} listed as a reply to {reply.parent}"
            found.append(Finding(keys.status(reply.id), message, tuple(change(db, reply))))
    return found


async def threads(db: Database, roots: Sequence[int]) -> list[Finding]:
    """Each post of a thread exists, and the thread lists its root if that exists."""
    replies = await db.ask(*(("ZRANGE", keys.thread(root), 0, -1) for root in roots))
    entries = {root: [int(post) for post in reply] for root, reply in zip(roots, replies, strict=True) if reply}
    exists = await existing(db, {post for root, found in entries.items() for post in (root, *found)}, keys.status)
    gone = [
        Finding(keys.thread(root), f"{post} is gone", (("ZREM", keys.thread(root), post),))
        for root, found in entries.items()
        for post in found
        if post not in exists
    ]
    rootless = [root for root, found in entries.items() if root in exists and root not in found]
    return gone + [
        Finding(keys.thread(root), "its root is missing", (stored.thread_command(root, entries[root][0]),))
        for root in rootless
    ]
