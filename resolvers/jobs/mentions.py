"""Notifications of mentions: added when a post or comment is delivered, withdrawn when it is deleted."""

from __future__ import annotations

from collections.abc import Iterable

from resolvers.jobs.step import Budget, Outcome, text
from store import accounts, likes_and_comments, notifications, posts
from store.client.database import Database
from store.groups import membership
from store.notifications import MentionSource
from store.records.jobs import Job
from store.records.posts import Comment


async def notify_of_post(db: Database, job: Job, post: int) -> None:
    """Notify the members whom a new post mentions."""
    if members := await _readers(db, _members(job), job.body.get("group")):
        author = int(text(job, "author"))
        await notifications.mention(db, MentionSource(author, post, private=await _private(db, author)), members)


async def end_of_post(db: Database, job: Job, post: int) -> None:
    """Withdraw the notifications of a deleted post's mentions."""
    await notifications.unmention(db, MentionSource(int(text(job, "author")), post), _members(job))


async def notify_of_comment(db: Database, job: Job, _: Budget) -> Outcome:
    """Notify the members whom a new comment mentions."""
    comment = _comment(job)
    below = await posts.post(db, comment.post)
    if below:
        private = await _private(db, below.author)
        members = await _readers(db, _members(job), below.group)
        await notifications.mention(db, MentionSource(comment.author, comment.post, comment.comment, private), members)
    if not await likes_and_comments.comment_exists(db, comment.comment, comment.post):
        # The comment was deleted before or during the notification, so its own withdrawal may have run too early.
        await notifications.unmention(db, comment, _members(job))
    return Outcome.DONE


async def end_of_comment(db: Database, job: Job, _: Budget) -> Outcome:
    """Withdraw the notifications of a deleted comment's mentions."""
    await notifications.unmention(db, _comment(job), _members(job))
    return Outcome.DONE


async def end_of_comments(db: Database, comments: Iterable[Comment]) -> None:
    """Withdraw the notifications of the mentions in comments that are deleted with their post."""
    for comment in comments:
        if comment.mentioned:
            named = MentionSource(comment.author, comment.post_id, comment.id)
            await notifications.unmention(db, named, set(comment.mentioned))


async def _readers(db: Database, members: set[int], group: object) -> set[int]:
    """Return those of some members who see what is in a group; all of them without one."""
    return await membership.readers(db, int(str(group)), members) if group else members


def _members(job: Job) -> set[int]:
    return {int(member) for member in str(job.body.get("mentions", "")).split()}


def _comment(job: Job) -> MentionSource:
    return MentionSource(int(text(job, "author")), int(text(job, "post")), int(text(job, "comment")))


async def _private(db: Database, author: int) -> int | None:
    """Return the author whose approved followers alone see the post, None when everybody sees it."""
    user = await accounts.user(db, author)
    return author if user and user.is_private else None
