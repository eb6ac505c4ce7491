"""Likes and comments."""

from __future__ import annotations

from resolvers.jobs import dispatch
from resolvers.operation.context import Context
from resolvers.operation.errors import UserErrorCode, refuse
from resolvers.operation.inputs import checked_key, checked_text, input_digest, key_conflict
from resolvers.operation.payloads import CommentPayload, DeleteCommentPayload, PostIdPayload
from resolvers.reading import global_ids, hydrate, mentions, paging
from resolvers.reading.paging import NodeEdge, Page
from store import idempotency, likes_and_comments
from store.idempotency import Claim
from store.likes_and_comments import CommentDraft
from store.records import Comment, Post, User

UNSEEN = -1  # an id that no comment has


async def like(context: Context, *, post_id: str) -> PostIdPayload:
    """Like a post; idempotent."""
    return await _toggle(context, post_id, liked=True)


async def unlike(context: Context, *, post_id: str) -> PostIdPayload:
    """Remove the viewer's like of a post; idempotent."""
    return await _toggle(context, post_id, liked=False)


async def _toggle(context: Context, post_id: str, *, liked: bool) -> PostIdPayload:
    viewer = await context.member()
    post = await hydrate.acted_on(context, post_id)
    change = likes_and_comments.like if liked else likes_and_comments.unlike
    if await change(context.db, post.id, viewer) is None:
        raise refuse(UserErrorCode.NOT_FOUND, "postId: there is no such post", "postId")
    context.forget()
    flags = [(context.load.has_liked, [post.id])] if context.wants("viewerHasLiked") else []
    await context.load.all((context.load.post, [post.id]), *flags)  # in the post's own round trip
    return PostIdPayload(post=await hydrate.post(context, post.id))


async def comment(
    context: Context, *, post_id: str, text: str, reply_to_id: str | None = None, idempotency_key: str | None = None
) -> CommentPayload:
    """Comment on a post, or reply to a comment on it."""
    author = await context.member()
    key = checked_key(idempotency_key)
    words = checked_text(text, context.settings.max_text)
    reply_to = global_ids.expect(reply_to_id, ("comment",), "replyToId") if reply_to_id is not None else None
    post = await hydrate.acted_on(context, post_id)
    digest = input_digest(words, post.id, reply_to)
    if reply_to is not None and await hydrate.comment(context, reply_to) is None:
        reply_to = UNSEEN  # treated like a missing comment; a retry still gets its first result
    draft = CommentDraft(
        post=post.id,
        author=author,
        text=words,
        reply_to=reply_to,
        mentions=await mentions.named(context, words),
        idempotency_key=key,
        digest=digest,
    )
    created = await _commit(context, draft)
    context.forget()
    made = await hydrate.comment(context, created)
    if made is None:
        raise refuse(UserErrorCode.NOT_FOUND, "the comment has been deleted since")
    return CommentPayload(comment=made, post=await hydrate.post(context, post.id))


async def _commit(context: Context, draft: CommentDraft) -> int:
    """Commit a comment and run its job; returns its id. Raises Refused."""
    key = draft.idempotency_key
    claim = Claim(draft.author, "comment", key, f"{draft.digest} {draft.post}") if key else None
    if claim and not await idempotency.claim(context.db, claim):
        raise key_conflict()
    outcome, created, job = await likes_and_comments.create_comment(context.db, draft)
    if outcome == "conflict":
        raise key_conflict()
    if outcome == "gone":
        raise refuse(UserErrorCode.NOT_FOUND, "postId: there is no such post", "postId")
    if outcome == "no-reply":
        if claim:
            await idempotency.release(context.db, claim)
        raise refuse(UserErrorCode.NOT_FOUND, "replyToId: there is no such comment on this post", "replyToId")
    if job:
        await dispatch.finish(context.db, job, context.batcher)
    return created


async def delete_comment(context: Context, *, comment_id: str) -> DeleteCommentPayload:
    """Delete a comment; only its author and the author of the post may."""
    viewer = await context.member()
    number = global_ids.expect(comment_id, ("comment",), "commentId")
    found = await hydrate.comment(context, number)
    if found is None:
        raise refuse(UserErrorCode.NOT_FOUND, "commentId: there is no such comment", "commentId")
    post = await hydrate.post(context, found.post_id)
    if viewer not in {found.author, post.author if post else found.author}:
        message = "commentId: only its author and the author of the post can delete a comment"
        raise refuse(UserErrorCode.NOT_ALLOWED, message, "commentId")
    there, job = await likes_and_comments.delete_comment(context.db, number, found.post_id)
    if not there:
        raise refuse(UserErrorCode.NOT_FOUND, "commentId: there is no such comment", "commentId")
    if job:
        await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return DeleteCommentPayload(deleted_comment_id=comment_id, post=await hydrate.post(context, found.post_id))


async def liked_by(context: Context, post: Post, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return the members who like a post, newest like first."""
    asked = paging.window(context.settings, "likes", first=first, after=after)
    key = likes_and_comments.likes_list(hydrate.acts_for(post))
    return await paging.read_list(context, asked, key, lambda ids: hydrate.speakers(context, ids))


async def comments(context: Context, post: Post, first: int | None, after: str | None) -> Page[NodeEdge[Comment]]:
    """Return the comments on a post, newest first."""
    asked = paging.window(context.settings, "comments", first=first, after=after)
    key = likes_and_comments.comments_list(hydrate.acts_for(post))
    return await paging.read_list(context, asked, key, lambda ids: hydrate.comments(context, ids))


async def comment_post(context: Context, comment: Comment) -> Post | None:
    """Return the post of a comment."""
    return await hydrate.post(context, comment.post_id)


async def comment_answered(context: Context, comment: Comment) -> Comment | None:
    """Return the comment that another one replies to; None if there is none, or the viewer does not see it."""
    return await hydrate.comment(context, comment.reply_to_id) if comment.reply_to_id else None
