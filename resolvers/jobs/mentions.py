"""The members whom a post or comment mentions: notified when it is delivered, and no longer when it is gone."""

from __future__ import annotations

from collections.abc import Iterable

from resolvers.jobs.step import Budget, Outcome, text
from store import accounts, likes_and_comments, notifications, posts
from store.client.database import Database
from store.notifications import MentionSource
from store.records import Comment, Job


async def tell_of_post(db: Database, job: Job, thing: int) -> None:
    """Tell the members whom a new post names."""
    if members := _members(job):
        author = int(text(job, "author"))
        await notifications.mention(db, MentionSource(author, thing, private=await _private(db, author)), members)


async def end_of_post(db: Database, job: Job, thing: int) -> None:
    """Take a deleted post from the members whom it names."""
    await notifications.unmention(db, MentionSource(int(text(job, "author")), thing), _members(job))


async def tell_of_comment(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell the members whom a new comment names."""
    comment = _comment(job)
    below = await posts.post(db, comment.post)
    if below:
        private = await _private(db, below.author)
        await notifications.mention(
            db, MentionSource(comment.author, comment.post, comment.comment, private), _members(job)
        )
    if not await likes_and_comments.comment_stands(db, comment.comment, comment.post):
        # Deleted before, or in the meantime: what took it from them may have come too early.
        await notifications.unmention(db, comment, _members(job))
    return Outcome.DONE


async def end_of_comment(db: Database, job: Job, _: Budget) -> Outcome:
    """Take a deleted comment from the members whom it names."""
    await notifications.unmention(db, _comment(job), _members(job))
    return Outcome.DONE


async def end_of_comments(db: Database, comments: Iterable[Comment]) -> None:
    """Take comments that go with their post from the members whom they name."""
    for comment in comments:
        if comment.mentioned:
            named = MentionSource(comment.author, comment.post_id, comment.id)
            await notifications.unmention(db, named, set(comment.mentioned))


def _members(job: Job) -> set[int]:
    return {int(member) for member in str(job.body.get("mentions", "")).split()}


def _comment(job: Job) -> MentionSource:
    return MentionSource(int(text(job, "author")), int(text(job, "post")), int(text(job, "comment")))


async def _private(db: Database, author: int) -> int | None:
    """Return the author of a post where only approved followers see it, None where all do."""
    user = await accounts.user(db, author)
    return author if user and user.is_private else None
