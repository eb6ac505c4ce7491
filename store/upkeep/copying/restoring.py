"""Restoring an account from an export: its posts under the ids that they had, and whether its names are free."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from store import jobs, keys, posts, replies
from store.client.database import Command, Database, script
from store.ids import partition
from store.records.jobs import AccountDeletion
from store.records.posts import Location, write_hashtags
from store.refusals import Refusal, refused
from store.replies import Reply


class RestoredPost(Struct, frozen=True):
    """A post from an export. A plain repost has an original and no text."""

    id: int
    author: int
    text: str
    mentions: tuple[int, ...] = ()
    hashtags: tuple[str, ...] = ()
    original: int = 0  # 0 stands for no post or member here and below
    original_author: int = 0
    of_quote: bool = False
    reply_to: int = 0
    reply_to_author: int = 0
    root: int = 0
    location: Location | None = None
    is_hidden: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is a plain repost."""
        return bool(self.original) and not self.text


async def restore(db: Database, found: list[RestoredPost]) -> list[bool | Literal[Refusal.TAKEN, Refusal.GONE]]:
    """Write posts; returns for each whether it is new. One round trip.

    TAKEN is the post of somebody else, GONE a plain repost whose original is not there.
    """
    return [refused(reply) or bool(reply) for reply in await db.ask(*map(_restore_command, found))]


def _restore_command(post: RestoredPost) -> Command:
    place = post.location
    return script(
        "restore_post",
        user=keys.user(post.author),
        status=keys.status(post.id),
        profile=keys.profile(post.author),
        hidden=keys.hidden(post.author),
        reposted=keys.reposted(post.author),
        author=post.author,
        post=post.id,
        status_prefix=keys.prefix(keys.status, partition(post.id)),
        text=post.text,
        mentions=" ".join(map(str, post.mentions)),
        hashtags=write_hashtags(post.hashtags),
        original=post.original or "",
        original_author=post.original_author or "",
        of_quote="1" if post.of_quote else "",
        reply_to=post.reply_to or "",
        reply_to_author=post.reply_to_author or "",
        root=post.root or "",
        latitude=repr(place.latitude) if place else "",
        longitude=repr(place.longitude) if place else "",
        is_hidden="1" if post.is_hidden else "",
    )


async def list_at_others(db: Database, found: list[RestoredPost]) -> None:
    """List reposts, quotes and replies at the posts that they name, as far as these exist. One round trip."""
    commands: list[Command] = []
    for post in found:
        if post.is_plain:  # a hidden one does not exist
            commands += [
                ("DEL", keys.withdrawn(post.original, post.id)),
                posts.list_repost_command(db, post.original, post.id, post.author, plain=True),
            ]
        elif post.original and not post.is_hidden:
            commands += posts.relist_quote_commands(db, post.original, post.id, post.author)
        if post.reply_to and not post.is_hidden:
            reply = Reply(post.id, post.author, post.reply_to, post.reply_to_author, post.root)
            commands += replies.relist_commands(db, reply)
    if commands:
        await db.ask(*commands)


async def is_being_deleted(db: Database, member: int) -> bool:
    """Return whether a job has still to remove what a deleted member has left."""
    async for batch in jobs.waiting(db, partition(member)):
        if any(isinstance(job.body, AccountDeletion) and job.body.member == member for job in batch):
            return True
    return False
