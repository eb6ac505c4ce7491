"""Likes and comments: both lie with the post, so one step changes set and count."""

from __future__ import annotations

from dataclasses import dataclass

from store import keys
from store.connection import Command, Database, script
from store.ids import partition


async def like(db: Database, post: int, member: int) -> bool | None:
    """Like a post; True when that is new, None when the post is gone.

    The member's index comes first: left over by a crash it names too much, never too little.
    """
    p = partition(post)
    own = [keys.minted(p), keys.status(post), keys.likes(post), keys.rescore(p)]
    index = ("ZADD", keys.liked(member), post, post)
    _, reply = await db.ask(index, script("like", own, [p, member, db.channel(keys.activity(post)), post]))
    return None if reply is None else bool(reply)


async def unlike(db: Database, post: int, member: int) -> bool | None:
    """Take a like back; None when the post is gone. The index keeps its entry, which `repair` prunes."""
    own = [keys.status(post), keys.likes(post), keys.rescore(partition(post))]
    reply = await db.call("unlike", own, member, db.channel(keys.activity(post)), post)
    return None if reply is None else bool(reply)


@dataclass(frozen=True, slots=True)
class CommentDraft:
    """A comment to be made."""

    post: int
    author: int
    text: str
    reply_to: int | None = None
    idempotency_key: str | None = None
    digest: str = ""


async def create_comment(db: Database, draft: CommentDraft) -> tuple[str, int]:
    """Comment on a post; returns `new`, `again` for a retry, `conflict`, `gone` or `no-reply`, and the comment."""
    (reply,) = await db.ask(create_comment_command(db, draft))
    return reply[0], int(reply[1]) if len(reply) > 1 else 0


def create_comment_command(db: Database, draft: CommentDraft) -> Command:
    """Return the command that makes a comment."""
    post, p = draft.post, partition(draft.post)
    own = [keys.minted(p), keys.status(post), keys.comments(post), keys.rescore(p)]
    if draft.idempotency_key:
        own.append(keys.commented(post, draft.author, draft.idempotency_key))
    channel = db.channel(keys.activity(post))
    args = [p, keys.prefix(keys.comment, p), draft.author, draft.text, post, draft.reply_to or "", channel]
    return script("create_comment", own, [*args, draft.digest, keys.DAY])


async def claim_comment_key(db: Database, draft: CommentDraft) -> bool:
    """Bind an idempotency key to one input at its member; False when it was used with another.

    The post's partition keeps the result, so this only guards the key against use on two posts.
    """
    key, value = _claim(draft)
    first = await db.one("SET", key, value, "NX", "GET", "EX", keys.DAY)
    return first is None or first == value


async def release_comment_key(db: Database, draft: CommentDraft) -> None:
    """Let go of an idempotency key whose input was refused, so that it can be used for the corrected input."""
    key, value = _claim(draft)
    await db.call("release_name", [key], value)


def _claim(draft: CommentDraft) -> tuple[str, str]:
    assert draft.idempotency_key
    return keys.idempotency(draft.author, "comment", draft.idempotency_key), f"{draft.digest} {draft.post}"


async def delete_comment(db: Database, comment: int, post: int) -> bool:
    """Delete a comment; False when it is gone."""
    own = [keys.status(post), keys.comments(post), keys.comment(comment), keys.rescore(partition(post))]
    return bool(await db.call("delete_comment", own, comment, db.channel(keys.activity(post)), post))


async def clear(db: Database, post: int, batch: int) -> bool:
    """Remove a batch of what hangs on a deleted post; True when nothing is left.

    Each step can be repeated: an index entry goes before the like that names it, a comment before its place.
    """
    likers, comments = await db.ask(
        ("ZRANGE", keys.likes(post), 0, batch - 1), ("ZRANGE", keys.comments(post), 0, batch - 1)
    )
    await db.ask(
        *(("ZREM", keys.liked(int(member)), post) for member in likers),
        *(("DEL", keys.comment(int(comment))) for comment in comments),
    )
    steps: list[Command] = []
    if likers:
        steps.append(("ZREM", keys.likes(post), *likers))
    if comments:
        steps.append(("ZREM", keys.comments(post), *comments))
    await db.ask(*steps)
    return not likers and not comments
