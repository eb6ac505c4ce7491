"""Restoring an account from an export: its posts under the ids that they had, and whether its names are free."""

from typing import Literal

from store import jobs, keys, posts
from store.client.database import Command, Database, script
from store.ids import partition
from store.posts import Reply
from store.records.job_bodies import AccountDeletion
from store.records.posts import PostContent, write_content
from store.refusals import Refusal, refused


class RestoredPost(PostContent, frozen=True):
    """A post from an export."""

    id: int = 0
    is_hidden: bool = False


async def restore(db: Database, found: list[RestoredPost]) -> list[bool | Literal[Refusal.TAKEN, Refusal.GONE]]:
    """Write posts; returns for each whether it is new. One round trip.

    TAKEN is the post of somebody else, GONE a plain repost whose original is not there.
    """
    return [refused(reply) or bool(reply) for reply in await db.ask(*map(_restore_command, found))]


def _restore_command(post: RestoredPost) -> Command:
    return script(
        "restore_post",
        post.author,
        status=keys.status(post.id),
        author=post.author,
        id=post.id,
        content=write_content(post),
        is_hidden="1" if post.is_hidden else "",
    )


async def list_at_others(db: Database, found: list[RestoredPost]) -> None:
    """List reposts, quotes and replies at the posts that they name, as far as these exist. One round trip."""
    commands: list[Command] = []
    for post in found:
        if post.original and post.is_plain:  # a hidden one does not exist
            commands += [
                ("DEL", keys.withdrawn(post.original, post.id)),
                posts.list_repost_command(db, post.original, post.id, post.author, plain=True),
            ]
        elif post.original and not post.is_hidden:
            commands += posts.relist_quote_commands(db, post.original, post.id, post.author)
        if post.reply_to and not post.is_hidden:
            reply = Reply(post.id, post.author, post.reply_to, post.reply_to_author or 0, post.root or post.reply_to)
            commands += posts.relist_reply_commands(db, reply)
    if commands:
        await db.ask(*commands)


async def is_being_deleted(db: Database, member: int) -> bool:
    """Return whether a job has still to remove what a deleted member has left."""
    async for batch in jobs.waiting(db, partition(member)):
        if any(isinstance(job.body, AccountDeletion) and job.body.member == member for job in batch):
            return True
    return False
