"""A post's counts, live."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from msgspec.structs import replace

from resolvers.live.waking import wakes
from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput, NotFound
from resolvers.reading import global_ids, hydrate
from store import posts
from store.records.posts import Post


@dataclass(frozen=True, slots=True)
class PostActivity:
    """A post's counts. `context` is the context in which they were read."""

    post: Post
    context: Context = field(repr=False)

    @property
    def like_count(self) -> int:
        return self.post.like_count

    @property
    def repost_count(self) -> int:
        return self.post.repost_count

    @property
    def quote_count(self) -> int:
        return self.post.quote_count

    @property
    def comment_count(self) -> int:
        return self.post.comment_count

    @property
    def reply_count(self) -> int:
        return self.post.reply_count


async def post_activity(context: Context, post_id: str) -> AsyncGenerator[PostActivity, None]:
    """Yield a post's counts after each change. A slow reader gets only the latest.

    Raises NotFound once the viewer can no longer see the post.
    """
    await context.member()
    target = await _target(context, post_id)
    last = target
    async with aclosing(wakes(context.services.pubsub, posts.activity_channel(target.id))) as woken:
        async for _ in woken:
            async with context.room:
                look = context.fresh(counted=False)
                now = await hydrate.post(look, target.id)
                if now is None:
                    raise NotFound("postId: there is no such post any more")
                before, last = last, now
                if now != replace(before, is_hidden=now.is_hidden):  # apart from `is_hidden`, only counts ever change
                    yield PostActivity(now, look)


async def _target(context: Context, post_id: str) -> Post:
    """Return the post whose counts a post shows: for a plain repost, its original. Raises BadUserInput."""
    kind, number = global_ids.expect_argument(post_id, "postId")
    found = await hydrate.post(context, number) if kind in global_ids.POSTS else None
    target = await hydrate.post(context, hydrate.acts_for(found)) if found else None
    if target is None or not global_ids.is_of(post_id, found):
        raise BadUserInput("postId: there is no such post")
    return target
