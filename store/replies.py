"""Replies. Each is listed at the post it answers, and in the thread of the post that began the conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.keys.fields import StatusField
from store.scripts.mailboxes import mailboxes


@dataclass(frozen=True, slots=True)
class Reply:
    """A status that answers a post; `root` is the post that began the conversation."""

    id: int
    author: int
    parent: int
    parent_author: int
    root: int


def add_commands(db: Database, reply: Reply) -> list[Command]:
    """Return the commands that list a reply in both lists, unless it was removed before."""
    return [script("list_repost", **_listing(db, reply)), _thread_command(reply.root, reply.id)]


async def answered_authors(db: Database, posts: Sequence[int]) -> list[int | None]:
    """Return who wrote the post that each of some posts answers, None where it answers none. One round trip."""
    replies = await db.ask(*(("HGET", keys.status(post), StatusField.REPLY_TO_AUTHOR) for post in posts))
    return [int(author) if author else None for author in replies]


def _thread_command(root: int, reply: int) -> Command:
    """Return the command that adds a reply to its thread, and the root with it while the root exists."""
    return script(
        "list_thread",
        **keys.of(root, keys.status, keys.thread),
        tombstone=keys.withdrawn(root, reply),
        root=root,
        reply=reply,
    )


def relist_commands(db: Database, reply: Reply) -> list[Command]:
    """Return the commands that list a reply in both lists, even one that was removed before."""
    ends = [("DEL", keys.withdrawn(post, reply.id)) for post in (reply.parent, reply.root)]
    return [*ends, *add_commands(db, reply)]


async def remove(db: Database, reply: Reply) -> None:
    """Remove a reply from both lists, and keep late jobs from listing it again."""
    await db.ask(*remove_commands(db, reply))


def remove_commands(db: Database, reply: Reply) -> list[Command]:
    """Return the commands that remove a reply from both lists."""
    return [
        script("unlist_repost", **_listing(db, reply), original_author=reply.parent_author, ttl=keys.DAY),
        ("SET", keys.withdrawn(reply.root, reply.id), "1", "EX", keys.DAY),
        ("ZREM", keys.thread(reply.root), reply.id),
    ]


def _listing(db: Database, reply: Reply) -> dict[str, Any]:
    """Return the script parameters that name a reply and its parent's list."""
    parent = reply.parent
    return {
        "status": keys.status(parent),
        "listing": keys.replies(parent),
        "tombstone": keys.withdrawn(parent, reply.id),
        "rescore": keys.rescore(partition(parent)),
        "entry": reply.id,
        "repost": reply.id,
        "author": reply.author,
        "counter": StatusField.REPLIES,
        "original": parent,
        "channel": db.channel(keys.activity(parent)),
        "mailboxes": mailboxes(db, partition(parent)),
    }
