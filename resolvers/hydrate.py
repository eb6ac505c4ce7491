"""Ids become what a viewer may see: records are fetched per batch, then the rules decide."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence

from resolvers import identity
from resolvers.context import Context
from resolvers.errors import UserErrorCode, refuse
from resolvers.rules import visibility
from store.promotions import Promotion
from store.records import Comment, Post, Repost, User

POST_FLAGS = {"viewerHasLiked": "has_liked", "viewerHasReposted": "has_reposted"}
MEMBER_FLAGS = {"viewerIsFollowing": "follows", "isFollowingViewer": "followed_by"}


async def users(context: Context, members: Sequence[int]) -> list[User | None]:
    """Return members as the viewer sees them, None for whom they cannot see; one round trip."""
    found = await context.load.user.load_many(members)
    return [user if visibility.sees_user(user) else None for user in found]


async def posts(context: Context, ids: Sequence[int], *, also: Iterable[int] = ()) -> list[Post | None]:
    """Return posts as the viewer sees them, None for those they cannot see; two round trips.

    Records, then what they name: authors, originals, the originals' authors, and how the viewer stands to all of them.
    `also` are members read along with the authors.
    """
    found = await context.load.post.load_many(ids)
    known = [post for post in found if post]
    reposts = [post for post in known if isinstance(post, Repost)]
    originals = [repost.original_id for repost in reposts]
    authors = list({post.author for post in known} | {repost.original_author for repost in reposts})
    await asyncio.gather(
        context.load.post.load_many(originals),
        context.load.user.load_many([*authors, *also]),
        *_read_flags(context, POST_FLAGS, [*(acts_for(post) for post in known), *originals]),
        *_read_flags(context, MEMBER_FLAGS, authors),
    )
    return [post if await _sees(context, post) else None for post in found]


def _read_flags(context: Context, flags: Mapping[str, str], ids: Sequence[int]) -> list[Awaitable[list[bool]]]:
    if context.viewer is None:
        return []
    loaders = [getattr(context.load, loader) for field, loader in flags.items() if context.wants(field)]
    return [loader.load_many(ids) for loader in loaders]


async def _sees(context: Context, post: Post | None) -> bool:
    # Everything is loaded: awaiting it again only reads what is there.
    if post is None:
        return False
    author = await context.load.user.load(post.author)
    original = await context.load.post.load(post.original_id) if isinstance(post, Repost) else None
    original_author = await context.load.user.load(original.author) if original else None
    return visibility.sees_post(context.viewer, post, author, original, original_author)


async def post(context: Context, thing: int) -> Post | None:
    """Return one post as the viewer sees it."""
    (found,) = await posts(context, [thing])
    return found


async def original(context: Context, repost: Repost) -> Post | None:
    """Return what a repost passes on; no round trip where the repost was read by `posts`."""
    found = await context.load.post.load(repost.original_id)
    author = await context.load.user.load(repost.original_author)
    return found if visibility.sees_post(context.viewer, found, author, None, None) else None


async def user(context: Context, member: int) -> User | None:
    """Return one member as the viewer sees them."""
    (found,) = await users(context, [member])
    return found


async def comments(context: Context, ids: Sequence[int]) -> list[Comment | None]:
    """Return comments as the viewer sees them, None for those they cannot see."""
    found = await context.load.comment.load_many(ids)
    known = [comment for comment in found if comment]
    _, below = await asyncio.gather(
        context.load.user.load_many(list({comment.author for comment in known})),
        posts(context, list({comment.post_id for comment in known})),
    )
    seen = {post.id for post in below if post}
    return [
        comment
        if comment
        and visibility.sees_comment(
            comment, await context.load.user.load(comment.author), post_is_seen=comment.post_id in seen
        )
        else None
        for comment in found
    ]


async def comment(context: Context, thing: int) -> Comment | None:
    """Return one comment as the viewer sees it."""
    (found,) = await comments(context, [thing])
    return found


async def promotions(context: Context, ids: Sequence[int]) -> list[Promotion | None]:
    """Return promotions, None for those that have ended; one round trip."""
    found = await context.load.promotion.load_many(ids)
    return [promotion if promotion and promotion.runs else None for promotion in found]


def acts_for(post: Post) -> int:
    """Return the post that likes, comments and reposts go to: for a plain repost its original."""
    return post.original_id if isinstance(post, Repost) and post.is_plain else post.id


async def acted_on(context: Context, post_id: str) -> Post:
    """Return the post that an action on a post goes to; raises the refusal when the viewer sees none."""
    thing = identity.expect(post_id, identity.POSTS, "postId")
    found = await post(context, thing)
    target = await post(context, acts_for(found)) if found else None
    if target is None or not identity.is_of(post_id, found):
        raise refuse(UserErrorCode.NOT_FOUND, "postId: there is no such post", "postId")
    return target
