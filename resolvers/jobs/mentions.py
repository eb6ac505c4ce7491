"""Notifications of mentions: added when a post or comment is delivered, withdrawn when it is deleted."""

from collections.abc import Iterable

from resolvers.jobs.step import Budget, step
from store import accounts, likes_and_comments, notifications, posts
from store.client.database import Database
from store.groups import membership
from store.notifications import MentionSource
from store.records.job_bodies import CommentDeletion, CommentMentions, PostDeletion, PostDelivery
from store.records.jobs import Job
from store.records.posts import Comment


async def notify_of_post(db: Database, body: PostDelivery, post: int) -> None:
    """Notify the members whom a new post mentions."""
    if members := await _readers(db, body.mentions, body.group):
        source = MentionSource(body.author, post, private=await _private(db, body.author))
        await notifications.mention(db, source, members)


async def end_of_post(db: Database, body: PostDeletion) -> None:
    """Withdraw the notifications of a deleted post's mentions."""
    await notifications.unmention(db, MentionSource(body.author, body.post), set(body.mentions))


@step(CommentMentions)
async def notify_of_comment(db: Database, job: Job[CommentMentions], _: Budget) -> None:
    """Notify the members whom a new comment mentions."""
    comment = job.body
    below = await posts.post(db, comment.post)
    if below:
        private = await _private(db, below.author)
        members = await _readers(db, comment.mentions, below.group)
        await notifications.mention(db, MentionSource(comment.author, comment.post, comment.comment, private), members)
    if not await likes_and_comments.comment_exists(db, comment.comment, comment.post):
        # The comment was deleted before or during the notification, so its own withdrawal may have run too early.
        await _withdraw(db, comment)


@step(CommentDeletion)
async def end_of_comment(db: Database, job: Job[CommentDeletion], _: Budget) -> None:
    """Withdraw the notifications of a deleted comment's mentions."""
    await _withdraw(db, job.body)


async def _withdraw(db: Database, body: CommentMentions) -> None:
    await notifications.unmention(db, MentionSource(body.author, body.post, body.comment), set(body.mentions))


async def end_of_comments(db: Database, comments: Iterable[Comment]) -> None:
    """Withdraw the notifications of the mentions in comments that are deleted with their post."""
    for comment in comments:
        if comment.mentioned:
            named = MentionSource(comment.author, comment.post_id, comment.id)
            await notifications.unmention(db, named, set(comment.mentioned))


async def _readers(db: Database, mentioned: Iterable[int], group: int | None) -> set[int]:
    """Return those of some members who see what is in a group; all of them without one."""
    return await membership.readers(db, group, set(mentioned)) if group else set(mentioned)


async def _private(db: Database, author: int) -> int | None:
    """Return the author whose approved followers alone see the post, None when everybody sees it."""
    user = await accounts.user(db, author)
    return author if user and user.is_private else None
