"""Likes and comments."""

from msgspec.structs import replace

from resolvers.jobs import dispatch
from resolvers.operation import write_limits
from resolvers.operation.context import Context
from resolvers.operation.inputs import checked_key, checked_text, input_digest, key_conflict
from resolvers.operation.payloads import CommentPayload, DeleteCommentPayload, PostIdPayload
from resolvers.process.errors import UserErrorCode, no_such, not_allowed, refuse
from resolvers.reading import global_ids, groups, hydrate, moderation, named_members, paging
from resolvers.reading.paging import NodeEdge, Page
from store import idempotency, kinds, likes_and_comments
from store.idempotency import Claim
from store.likes_and_comments import CommentDraft, Liking
from store.limits.writes import Limit, WriteKind
from store.moderation.records import Act, ModerationActKind, Subject
from store.records.jobs import Created, Job
from store.records.members import User
from store.records.posts import Comment, Post
from store.refusals import Refusal, Surplus

NO_COMMENT = -1  # an id that no comment has: an answer to it is refused, unless it is a retry


async def like(context: Context, *, post_id: str) -> PostIdPayload:
    """Like a post; idempotent."""
    viewer = await context.member()
    post = await hydrate.acted_on(context, post_id)
    limit = await write_limits.limit(context, WriteKind.LIKES)
    liking = await likes_and_comments.like(context.db, post.id, viewer, limit)
    is_counted = isinstance(liking, Liking) and liking.is_changed
    uncounted = None if is_counted else write_limits.uncount(context, limit)
    if uncounted and isinstance(liking, Refusal):
        await uncounted
    return await _answer(context, post, liking, limit)


async def unlike(context: Context, *, post_id: str) -> PostIdPayload:
    """Remove the viewer's like of a post; idempotent."""
    viewer = await context.member()
    post = await hydrate.acted_on(context, post_id)
    return await _answer(context, post, await likes_and_comments.unlike(context.db, post.id, viewer), has_liked=False)


async def _answer(
    context: Context,
    post: Post,
    liking: Liking | likes_and_comments.Unliked,
    limit: Limit | None = None,
    *,
    has_liked: bool = True,
) -> PostIdPayload:
    """Answer with the post as the script has left it. Reading it again would be one more round trip."""
    match liking:
        case Refusal.GONE:
            raise no_such("post", "postId")
        case Refusal.HOUR | Refusal.TEXT as exceeded:
            raise write_limits.refusal(limit, exceeded)
        case Liking(_, likes):
            context.show(replace(post, like_count=likes), has_liked=has_liked)
            return PostIdPayload(post=await hydrate.post(context, post.id))


async def comment(
    context: Context, *, post_id: str, text: str, reply_to_id: str | None = None, idempotency_key: str | None = None
) -> CommentPayload:
    """Comment on a post, or reply to a comment on it. In a group, only its members do."""
    author = await context.member()
    key = checked_key(idempotency_key)
    words = checked_text(text, context.settings.max_text)
    reply_to = global_ids.expect(reply_to_id, ("comment",), "replyToId") if reply_to_id is not None else None
    post = await hydrate.acted_on(context, post_id)
    digest = input_digest(words, post.id, reply_to)
    may_comment = await groups.has_joined(context, post)
    if not may_comment or (reply_to is not None and await hydrate.comment(context, reply_to) is None):
        reply_to = NO_COMMENT
    draft = CommentDraft(
        post=post.id,
        author=author,
        text=words,
        reply_to=reply_to,
        mentions=await named_members.mentioned(context, words),
        idempotency_key=key,
        digest=digest,
        limit=await write_limits.limit(context, WriteKind.COMMENTS, words, post.id),
    )
    created = await _commit(context, draft, may_comment=may_comment)
    context.forget()
    made = await hydrate.comment(context, created)
    if made is None:
        raise refuse(UserErrorCode.NOT_FOUND, "the comment has been deleted since")
    return CommentPayload(comment=made, post=await hydrate.post(context, post.id))


async def _commit(context: Context, draft: CommentDraft, *, may_comment: bool) -> int:
    """Commit a comment and run its job; returns its id. Raises Refused."""
    key = draft.idempotency_key
    claim = Claim(draft.author, "comment", key, f"{draft.digest} {draft.post}") if key else None
    if claim and await idempotency.claim(context.db, claim):
        raise key_conflict()
    made = await likes_and_comments.create_comment(context.db, draft)
    is_new = isinstance(made, Created) and made.is_new
    uncounted = None if is_new else write_limits.uncount(context, draft.limit)
    if isinstance(made, Created):
        await dispatch.finish(context.db, made.job, context.batcher)
        return made.id
    if uncounted:
        await uncounted
    if isinstance(made, Surplus):
        await _take_back(context, made.made.id, draft.post)
    if claim and made not in {Refusal.CONFLICT, Refusal.GONE}:
        await idempotency.release(context.db, claim)
    raise _refusal(draft, made, may_comment=may_comment)


def _refusal(
    draft: CommentDraft, made: Surplus[Created] | likes_and_comments.Uncommented, *, may_comment: bool
) -> Exception:
    match made:
        case Refusal.CONFLICT:
            return key_conflict()
        case Refusal.GONE:
            return no_such("post", "postId")
        case Refusal.NO_COMMENT if not may_comment:
            return not_allowed("only members of its group comment on this post", "postId")
        case Refusal.NO_COMMENT:
            return no_such("comment on this post", "replyToId")
        case Surplus(exceeded=exceeded) | (Refusal.HOUR | Refusal.TEXT as exceeded):
            return write_limits.refusal(draft.limit, exceeded)


async def _take_back(context: Context, comment: int, post: int) -> None:
    """Delete a comment that was made at the same moment as others, and is one too many."""
    job = await likes_and_comments.delete_comment(context.db, comment, post)
    await dispatch.finish(context.db, job if isinstance(job, Job) else None, context.batcher)


async def delete_comment(context: Context, *, comment_id: str) -> DeleteCommentPayload:
    """Delete a comment; only its author, the author of the post and moderators of the site may."""
    viewer = await context.member()
    number = global_ids.expect(comment_id, ("comment",), "commentId")
    named, act = await hydrate.comment(context, number), ""
    if named is None:
        raise no_such("comment", "commentId")
    post = await hydrate.post(context, named.post_id)
    if viewer not in {named.author, post.author if post else named.author}:
        if not context.is_moderator:
            raise not_allowed("only its author and the author of the post can delete a comment", "commentId")
        await moderation.check_rank(context, named.author, "commentId")
        act = Act(viewer, ModerationActKind.CONTENT_DELETED, Subject("comment", number)).written()
    job = await likes_and_comments.delete_comment(context.db, number, named.post_id, act)
    if job is Refusal.GONE:
        raise no_such("comment", "commentId")
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return DeleteCommentPayload(deleted_comment_id=comment_id, post=await hydrate.post(context, named.post_id))


async def liked_by(context: Context, post: Post, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return the members who like a post, newest like first."""
    key = kinds.LIKES.key(hydrate.acts_for(post))
    return await paging.read_list(context, "likes", key, hydrate.speakers, first, after)


async def comments(context: Context, post: Post, first: int | None, after: str | None) -> Page[NodeEdge[Comment]]:
    """Return the comments on a post, newest first."""
    key = kinds.COMMENTS.key(hydrate.acts_for(post))
    return await paging.read_list(context, "comments", key, hydrate.comments, first, after)


async def comment_post(context: Context, comment: Comment) -> Post | None:
    """Return the post of a comment."""
    return await hydrate.post(context, comment.post_id)


async def comment_answered(context: Context, comment: Comment) -> Comment | None:
    """Return the comment that another one replies to; None if there is none, or the viewer does not see it."""
    return await hydrate.comment(context, comment.reply_to_id) if comment.reply_to_id else None
