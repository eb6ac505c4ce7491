"""Likes and comments. Both are stored with the post, so one script changes the set and the count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.limits.writes import Exceeded, Limit, count_commands, read_exceeded
from store.records.jobs import CommentDeletion, CommentMentions, Job, read_job
from store.records.lists import read_pairs
from store.records.posts import Comment
from store.scripts.mailboxes import mailboxes

_REFUSED = -1  # a like that was not made, in the reply of its script


class Liking(NamedTuple):
    """What liking or unliking a post has done."""

    is_changed: bool  # whether there was no such like before, or one to remove
    likes: int  # of the post, by now


async def like(db: Database, post: int, member: int) -> Liking | None:
    """Like a post; None when the post is gone.

    The member's index is written first. So after a crash it may have an extra entry, but it never lacks one.
    """
    index = ("ZADD", keys.liked(member), post, post)
    _, reply = await db.ask(index, _like_command(db, post, member))
    return _read(reply)


async def like_within(db: Database, post: int, member: int, limit: Limit) -> tuple[Liking | None, Exceeded | None]:
    """Like a post, unless that exceeds a limit; returns what `like` does, and the limit. It is counted in any case.

    Likes at the same moment may pass the limit together. Those that are too many are taken back.
    """
    if limit.exceeded:
        (reply,) = await db.ask(_like_command(db, post, member, refused=True))
        return _read(reply), limit.exceeded if reply and reply[0] == _REFUSED else None
    index = ("ZADD", keys.liked(member), post, post)
    _, reply, *counted = await db.ask(index, _like_command(db, post, member), *count_commands(limit))
    exceeded, liking = read_exceeded(limit, counted), _read(reply)
    if exceeded and liking and liking.is_changed:
        return await unlike(db, post, member), exceeded
    return liking, None


def _read(reply: list[int] | None) -> Liking | None:
    return Liking(reply[0] == 1, reply[1]) if reply else None


def _like_command(db: Database, post: int, member: int, *, refused: bool = False) -> Command:
    p = partition(post)
    liking = _liking(db, post, member)
    return script("like", minted=keys.minted(p), partition=p, refused="1" if refused else "", **liking)


def liked_commands(posts: Sequence[int], member: int) -> list[Command]:
    """Return the commands that read a member's like of each post, None without one."""
    return [("ZSCORE", keys.likes(post), member) for post in posts]


def comment_command(comment: int) -> Command:
    """Return the command that reads a comment's hash."""
    return ("HGETALL", keys.comment(comment))


async def unlike(db: Database, post: int, member: int) -> Liking | None:
    """Remove a like; None when the post is gone. The member's index keeps its entry."""
    (reply,) = await db.ask(_unlike_command(db, post, member))
    return _read(reply)


def _unlike_command(db: Database, post: int, member: int) -> Command:
    return script("unlike", **_liking(db, post, member))


def _liking(db: Database, post: int, member: int) -> dict[str, Any]:
    """Return the script parameters that name a like."""
    return {
        "status": keys.status(post),
        "likes": keys.likes(post),
        "rescore": keys.rescore(partition(post)),
        "member": member,
        "channel": db.channel(keys.activity(post)),
        "post": post,
        "mailboxes": mailboxes(db, partition(post)),
    }


@dataclass(frozen=True, slots=True)
class CommentDraft:
    """A comment to be created."""

    post: int
    author: int
    text: str
    reply_to: int | None = None
    mentions: tuple[int, ...] = ()
    idempotency_key: str | None = None
    digest: str = ""
    limit: Limit | None = None


async def create_comment(db: Database, draft: CommentDraft) -> tuple[str, int, Job | None]:
    """Comment on a post; returns the outcome, the comment and its job.

    The outcome is `new`, `again` for a retry, `conflict`, `gone`, `no-reply`, or the value of an `Exceeded`. Comments
    at the same moment may pass a limit together: one that is too many was made, and has to be deleted.
    The job notifies the mentioned members; it is None when there are none. As with a like, the member's index is
    written first.
    """
    limit = draft.limit
    counting = count_commands(limit) if limit and not limit.exceeded else []
    index = ("ZADD", keys.discussed(draft.author), draft.post, draft.post)
    _, reply, *counted = await db.ask(index, create_comment_command(db, draft), *counting)
    outcome, *rest = reply
    exceeded = limit and (limit.exceeded or read_exceeded(limit, counted))
    if exceeded and outcome in {"new", "refused"}:
        outcome = exceeded.value
    job = read_job(CommentMentions, *rest) if len(rest) > 1 else None
    return outcome, int(rest[0]) if rest else 0, job


def create_comment_command(db: Database, draft: CommentDraft) -> Command:
    """Return the command that creates a comment."""
    post, p = draft.post, partition(draft.post)
    used = draft.idempotency_key
    idempotency = {"idempotency": keys.commented(post, draft.author, used)} if used else {}
    return script(
        "create_comment",
        **keys.committing(p),
        **keys.of(post, keys.status, keys.comments, keys.commenters),
        rescore=keys.rescore(p),
        **idempotency,
        comment_prefix=keys.prefix(keys.comment, p),
        author=draft.author,
        text=draft.text,
        post=post,
        reply_to=draft.reply_to or "",
        channel=db.channel(keys.activity(post)),
        digest=draft.digest,
        ttl=keys.DAY,
        mentions=" ".join(map(str, draft.mentions)),
        mailboxes=mailboxes(db, p),
        refused="1" if draft.limit and draft.limit.exceeded else "",
    )


async def delete_comment(
    db: Database, comment: int, post: int, act: str = ""
) -> tuple[bool, Job[CommentDeletion] | None]:
    """Delete a comment; returns False when it is gone, and the job that takes back its mentions, None without any.

    With a moderator's act, there is always a job, which logs it.
    """
    (reply,) = await db.ask(delete_command(db, comment, post, act))
    return reply is not None, read_job(CommentDeletion, *reply) if reply else None


def delete_command(db: Database, comment: int, post: int, act: str = "") -> Command:
    """Return the command that deletes a comment."""
    p = partition(post)
    return script(
        "delete_comment",
        **keys.committing(p),
        **keys.of(post, keys.status, keys.comments, keys.commenters),
        comment=keys.comment(comment),
        rescore=keys.rescore(p),
        id=comment,
        channel=db.channel(keys.activity(post)),
        post=post,
        mailboxes=mailboxes(db, p),
        **({"act": act} if act else {}),
    )


async def comment_exists(db: Database, comment: int, post: int) -> bool:
    """Return whether neither a comment nor its post is deleted."""
    return int(await db.one("EXISTS", keys.comment(comment), keys.status(post))) == 2  # noqa: PLR2004  both of them


async def oldest_comments(db: Database, post: int, count: int) -> list[Comment]:
    """Return the oldest comments on a post."""
    ids = [int(comment_id) for comment_id in await db.one("ZRANGE", keys.comments(post), 0, count - 1)]
    replies = await db.ask(*(("HGETALL", keys.comment(comment_id)) for comment_id in ids))
    found = (Comment.read(comment_id, read_pairs(reply)) for comment_id, reply in zip(ids, replies, strict=True))
    return [comment for comment in found if comment]


async def clear(db: Database, post: int, batch: int) -> bool:
    """Remove a batch of a deleted post's likes and comments; True when none is left.

    Each step can be repeated: index entries go before the likes and comments they refer to, a comment's record before
    its entry in the list.
    """
    likers, comments = await db.ask(
        ("ZRANGE", keys.likes(post), 0, batch - 1), ("ZRANGE", keys.comments(post), 0, batch - 1)
    )
    authors = await db.one("ZMSCORE", keys.commenters(post), *comments) if comments else []
    await db.ask(
        *(("ZREM", keys.liked(int(member)), post) for member in likers),
        *(("ZREM", keys.discussed(int(author)), post) for author in set(authors) if author is not None),
        *(("DEL", keys.comment(int(comment))) for comment in comments),
    )
    steps: list[Command] = []
    if likers:
        steps.append(("ZREM", keys.likes(post), *likers))
    if comments:
        steps += [("ZREM", keys.comments(post), *comments), ("ZREM", keys.commenters(post), *comments)]
    await db.ask(*steps)
    return not likers and not comments


async def liked(db: Database, member: int, after: int, count: int) -> list[int]:
    """Return posts newer than one from a member's index of likes, oldest first."""
    return await _indexed(db, keys.liked(member), after, count)


async def discussed(db: Database, member: int, after: int, count: int) -> list[int]:
    """Return posts newer than one from a member's index of comments, oldest first."""
    return await _indexed(db, keys.discussed(member), after, count)


async def _indexed(db: Database, index: str, after: int, count: int) -> list[int]:
    return [int(post) for post in await db.one("ZRANGE", index, f"({after}", "+inf", "BYSCORE", "LIMIT", 0, count)]


async def take_back_likes(db: Database, member: int, posts: Sequence[int]) -> None:
    """Remove a member's likes of some posts, if there are any."""
    await db.ask(*(_unlike_command(db, post, member) for post in posts))


async def take_back_comments(db: Database, member: int, posts: Sequence[int], batch: int) -> None:
    """Delete all comments of a member on some posts."""
    left = list(posts)
    while left:
        lists = await db.ask(
            *(("ZRANGE", keys.commenters(post), member, member, "BYSCORE", "LIMIT", 0, batch) for post in left)
        )
        await db.ask(
            *(
                delete_command(db, int(comment), post)
                for post, comments in zip(left, lists, strict=True)
                for comment in comments
            )
        )
        left = [post for post, comments in zip(left, lists, strict=True) if len(comments) == batch]
