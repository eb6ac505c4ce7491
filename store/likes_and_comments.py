"""Likes and comments. Both are stored with the post, so one script changes the set and the count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.limits.writes import Limit, count_commands, read_exceeded, refused_ahead, surplus
from store.records.job_bodies import CommentDeletion, CommentMentions
from store.records.jobs import Created, Job, read_created, read_job
from store.records.lists import read_pairs
from store.records.posts import Comment
from store.refusals import Refusal, Surplus, refused
from store.scripts.mailboxes import mailboxes

Unliked = Literal[Refusal.GONE, Refusal.HOUR, Refusal.TEXT]
# Why a post is not commented on. NO_COMMENT: the comment that it answers is gone.
Uncommented = Literal[Refusal.CONFLICT, Refusal.GONE, Refusal.NO_COMMENT, Refusal.HOUR, Refusal.TEXT]

LIKES_READ = 100  # newest posts of a member's index of likes, which say what else they do not like


class Liking(NamedTuple):
    """What liking or unliking a post has done."""

    is_changed: bool  # whether there was no such like before, or one to remove
    likes: int  # of the post, by now


async def like(db: Database, post: int, member: int, limit: Limit | None = None) -> Liking | Unliked:
    """Like a post, unless that exceeds a limit. It is counted unless it is known to exceed the limit before.

    The member's index is written first. So after a crash it may have an extra entry, but it never lacks one.
    Likes at the same moment may pass the limit together. Those that are too many are taken back.
    """
    liking = _like_command(db, post, member, refused_ahead(limit))
    if limit and limit.exceeded:
        return _read(*await db.ask(liking))
    index = ("ZADD", keys.liked(member), post, post)
    _, reply, *counted = await db.ask(index, liking, *count_commands(limit))
    made = _read(reply)
    exceeded = read_exceeded(limit, counted) if limit else None
    if exceeded and isinstance(made, Liking) and made.is_changed:
        await unlike(db, post, member)
        return exceeded
    return made


def _read(reply: Any) -> Liking | Unliked:
    return refused(reply) or Liking(reply[0] == 1, reply[1])


def _like_command(db: Database, post: int, member: int, refusal: str) -> Command:
    return script("like", post, refused=refusal, **_liking(db, post, member))


def liked_command(post: int, member: int) -> Command:
    """Return the command that reads a member's like of a post, None without one."""
    return ("ZSCORE", keys.likes(post), member)


class NewestLikes(NamedTuple):
    """The end of a member's index of likes. A post above the floor that is not among them is not liked."""

    floor: int
    posts: frozenset[int]  # Perhaps some are not liked any more.

    @classmethod
    def read(cls, posts: Sequence[str]) -> "NewestLikes":
        """Return what the reply to `newest_liked_command` says."""
        found = list(map(int, posts))
        return cls(found[-1] if len(found) == LIKES_READ else 0, frozenset(found))


def newest_liked_command(member: int) -> Command:
    """Return the command that reads the end of a member's index of likes, which is in the order of the posts."""
    return ("ZREVRANGE", keys.liked(member), 0, LIKES_READ - 1)


def comment_command(comment: int) -> Command:
    """Return the command that reads a comment's hash."""
    return ("HGETALL", keys.comment(comment))


async def unlike(db: Database, post: int, member: int) -> Liking | Unliked:
    """Remove a like. The member's index keeps its entry."""
    return _read(*await db.ask(_unlike_command(db, post, member)))


def _unlike_command(db: Database, post: int, member: int) -> Command:
    return script("unlike", post, **_liking(db, post, member))


def _liking(db: Database, post: int, member: int) -> dict[str, Any]:
    """Return the script parameters that name a like."""
    return {
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


async def create_comment(db: Database, draft: CommentDraft) -> Created | Surplus[Created] | Uncommented:
    """Comment on a post. The job notifies the mentioned members; it is None when there are none.

    As with a like, the member's index is written first.
    """
    index = ("ZADD", keys.discussed(draft.author), draft.post, draft.post)
    _, reply, *counted = await db.ask(index, create_comment_command(db, draft), *count_commands(draft.limit))
    outcome = refused(reply) or read_created(CommentMentions, reply)
    return surplus(draft.limit, outcome, counted) or outcome


def create_comment_command(db: Database, draft: CommentDraft) -> Command:
    """Return the command that creates a comment."""
    post, p = draft.post, partition(draft.post)
    used = draft.idempotency_key
    idempotency = {"idempotency": keys.commented(post, draft.author, used)} if used else {}
    return script(
        "create_comment",
        post,
        **idempotency,
        author=draft.author,
        text=draft.text,
        post=post,
        reply_to=draft.reply_to or "",
        channel=db.channel(keys.activity(post)),
        digest=draft.digest,
        ttl=keys.DAY,
        mentions=" ".join(map(str, draft.mentions)),
        mailboxes=mailboxes(db, p),
        refused=refused_ahead(draft.limit),
    )


async def delete_comment(
    db: Database, comment: int, post: int, act: str = ""
) -> Job[CommentDeletion] | Literal[Refusal.GONE] | None:
    """Delete a comment; returns the job that takes back its mentions, None without any.

    With a moderator's act, there is always a job, which logs it.
    """
    (reply,) = await db.ask(delete_command(db, comment, post, act))
    return refused(reply) or (read_job(CommentDeletion, *reply) if reply else None)


def delete_command(db: Database, comment: int, post: int, act: str = "") -> Command:
    """Return the command that deletes a comment."""
    p = partition(post)
    return script(
        "delete_comment",
        post,
        comment=keys.comment(comment),
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
