"""Invariants of replies: listed at the post they answer, and in their conversation's thread."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.replies import relist_commands, remove_commands, thread_command
from store.upkeep import replies as stored


async def listed(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each reply is in its thread, and listed at its parent if that exists; a hidden reply is in neither."""
    found: list[Finding] = []
    for facts in await stored.replies(db, posts):
        belongs = not facts.is_hidden
        if facts.is_in_thread != belongs or (facts.parent_exists and facts.is_at_parent != belongs):
            change = relist_commands if belongs else remove_commands
            message = f"is {'not' if belongs else 'hidden and still'} listed as a reply to {facts.reply.parent}"
            found.append(Finding(facts.key, message, change(db, facts.reply)))
    return found


async def threads(db: Database, roots: Sequence[int]) -> list[Finding]:
    """Each post of a thread exists, and the thread lists its root if that exists."""
    found: list[Finding] = []
    for thread in await stored.threads(db, roots):
        found += [
            Finding(thread.key, f"{post} is gone", [stored.remove_from_thread(thread, post)]) for post in thread.gone
        ]
        if thread.root_exists and thread.root not in thread.posts:
            mend = [thread_command(thread.root, thread.posts[0])]
            found.append(Finding(thread.key, "its root is missing", mend))
    return found
