"""Pinned posts: the field `pinned` of a member's record names one post of their own, in the same partition."""

from __future__ import annotations

from store import keys
from store.client.database import Command, Database, script


async def pin(db: Database, post: int, author: int) -> str:
    """Pin a status or quote of this author in place of the one before; one round trip.

    Returns `new`, `again` when it is pinned already, `hidden`, `plain` for a plain repost, or `gone` when the author
    has no such post. Raises MemberGone.
    """
    outcome: str = await db.call("pin", user=keys.user(author), status=keys.status(post), post=post, member=author)
    return outcome


async def unpin(db: Database, post: int, author: int) -> bool:
    """Unpin a post of this author; returns whether it was pinned; one round trip."""
    return bool(await db.one(*unpin_command(post, author)))


def unpin_command(post: int, author: int) -> Command:
    """Return the command that unpins a post of this author, and leaves any other pinned post."""
    return script("unpin", user=keys.user(author), post=post)
