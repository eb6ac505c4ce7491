"""Favourites: posts that a member bookmarks. Nobody else sees them."""

from collections.abc import Sequence

from resolvers.operation.context import Context
from resolvers.operation.payloads import PostIdPayload
from resolvers.process.errors import Refused, no_such, over_limit
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, hydrate, paging
from resolvers.reading.paging import NodeEdge, Page
from store import favourites as stored
from store import kinds
from store.records.posts import Post
from store.refusals import Refusal


async def favourite(context: Context, *, post_id: str) -> PostIdPayload:
    """Add a post to the viewer's favourites; idempotent."""
    viewer = await context.member()
    post = await hydrate.acted_on(context, post_id)
    match await stored.add(context.db, viewer, post.id):
        case Refusal.GONE:
            raise no_such("post", "postId")
        case Refusal.FULL:
            most = context.settings.max_favourites
            raise over_limit("max_favourites", f"postId: at most {most} posts can be favourites", "postId")
        case bool():
            context.forget()
            return PostIdPayload(post=await hydrate.post(context, post.id))


async def unfavourite(context: Context, *, post_id: str) -> PostIdPayload:
    """Remove a post from the viewer's favourites; idempotent.

    A favourite that the viewer no longer sees can be removed only by its own id. The id of a plain repost of it that
    they do not see is refused, like the id of a missing post.
    """
    viewer = await context.member()
    try:
        post = await hydrate.acted_on(context, post_id)
    except Refused:
        unseen = await _unseen(context, post_id)
        if unseen is None or not await stored.remove(context.db, viewer, unseen):
            raise
        return PostIdPayload(post=None)
    await stored.remove(context.db, viewer, post.id)
    context.forget()
    return PostIdPayload(post=await hydrate.post(context, post.id))


async def _unseen(context: Context, post_id: str) -> int | None:
    """Return the id of the post that a global id names, whether or not the viewer sees it; None if there is none."""
    named = global_ids.read(post_id)
    post = await context.load.post.load(named[1]) if named and named[0] in global_ids.POSTS else None
    return post.id if post and global_ids.is_of(post_id, post) else None


async def favourites(context: Context, who: Claims, first: int | None, after: str | None) -> Page[NodeEdge[Post]]:
    """Return the viewer's favourites, newest favourite first, without posts that they no longer see."""
    key = kinds.FAVOURITES.key(who.member)
    return await paging.read_list(context, "favourites", key, hydrate.posts, first, after)


async def viewer_has_favourited(context: Context, posts: Sequence[Post]) -> list[bool]:
    """Return whether each post is among the viewer's favourites."""
    return await context.load.has_favourited.load_many(hydrate.acted_for(posts))
