"""Pinned posts: the field `pinned` of a member's record names one post of their own, in the same partition."""

from typing import Literal

from store import keys
from store.client.database import Command, Database, script
from store.refusals import Refusal, refused

Unpinnable = Literal[Refusal.GONE, Refusal.PLAIN, Refusal.HIDDEN]


async def pin(db: Database, post: int, author: int) -> bool | Unpinnable:
    """Pin a status or quote of this author in place of the one before; False when it is pinned already.

    GONE says that the author has no such post. One round trip. Raises MemberGone.
    """
    reply = await db.call("pin", author, status=keys.status(post), post=post, member=author)
    return refused(reply) or bool(reply)


async def unpin(db: Database, post: int, author: int) -> bool:
    """Unpin a post of this author; returns whether it was pinned; one round trip."""
    return bool(await db.one(*unpin_command(post, author)))


def unpin_command(post: int, author: int) -> Command:
    """Return the command that unpins a post of this author, and leaves any other pinned post."""
    return script("unpin", author, post=post)
