"""Replies. Each is listed at the post it answers, and in the thread of the post that began the conversation."""

from __future__ import annotations

from dataclasses import dataclass

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.mailboxes import mailboxes


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
    own, activity = _at_parent(db, reply)
    boxes = mailboxes(db, partition(reply.parent))
    listing = script("list_repost", own, [reply.id, reply.id, "replies", *activity, reply.author, boxes])
    return [listing, thread_command(reply.root, reply.id)]


def thread_command(root: int, reply: int) -> Command:
    """Return the command that adds a reply to its thread, and the root with it while the root exists."""
    own = [keys.status(root), keys.thread(root), keys.withdrawn(root, reply)]
    return script("list_thread", own, [root, reply])


def relist_commands(db: Database, reply: Reply) -> list[Command]:
    """Return the commands that list a reply in both lists, even one that was removed before."""
    ends = [("DEL", keys.withdrawn(post, reply.id)) for post in (reply.parent, reply.root)]
    return [*ends, *add_commands(db, reply)]


async def remove(db: Database, reply: Reply) -> None:
    """Remove a reply from both lists, and keep late jobs from listing it again."""
    await db.ask(*remove_commands(db, reply))


def remove_commands(db: Database, reply: Reply) -> list[Command]:
    """Return the commands that remove a reply from both lists."""
    own, activity = _at_parent(db, reply)
    whose = [reply.author, reply.parent_author, mailboxes(db, partition(reply.parent))]
    return [
        script("unlist_repost", own, [reply.id, reply.id, keys.DAY, "replies", *activity, *whose]),
        ("SET", keys.withdrawn(reply.root, reply.id), "1", "EX", keys.DAY),
        ("ZREM", keys.thread(reply.root), reply.id),
    ]


def _at_parent(db: Database, reply: Reply) -> tuple[list[str], list[object]]:
    """Return the keys of the list of replies, and the script arguments that publish a change of their count."""
    parent = reply.parent
    own = [keys.status(parent), keys.replies(parent), keys.withdrawn(parent, reply.id)]
    return [*own, keys.rescore(partition(parent))], [db.channel(keys.activity(parent)), parent]
