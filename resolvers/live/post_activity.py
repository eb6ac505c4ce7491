"""How a post's numbers stand, live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from msgspec.structs import replace

from resolvers.operation.context import Context
from resolvers.operation.errors import BadUserInput, NotFound
from resolvers.reading import global_ids, hydrate
from store import keys
from store.records import Post


@dataclass(frozen=True, slots=True)
class PostActivity:
    """How a post's numbers stand; `context` is what they were read in."""

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
    """Yield how a post's numbers stand after each change; a slow reader gets the latest only.

    Raises NotFound once the viewer sees the post no longer.
    """
    await context.member()
    kind, thing = global_ids.expect_argument(post_id, "postId")
    found = await hydrate.post(context, thing) if kind in global_ids.POSTS else None
    target = await hydrate.post(context, hydrate.acts_for(found)) if found else None
    if target is None or not global_ids.is_of(post_id, found):
        raise BadUserInput("postId: there is no such post")
    changed = asyncio.Event()

    def wake(_: str) -> None:
        changed.set()

    channel, pubsub, last = keys.activity(target.id), context.services.pubsub, target
    try:
        pubsub.listen(channel, wake)
        changed.set()  # for what happened between the first look and now
        while True:
            await changed.wait()
            changed.clear()
            async with context.room:
                look = context.fresh(counted=False)
                now = await hydrate.post(look, target.id)
                if now is None:
                    raise NotFound("postId: there is no such post any more")
                before, last = last, now
                if now != replace(before, is_hidden=now.is_hidden):  # nothing else but its numbers ever changes
                    yield PostActivity(now, look)
    finally:
        pubsub.ignore(channel, wake)
