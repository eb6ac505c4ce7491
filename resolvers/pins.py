"""Pinned posts: one status or quote of their own that a member shows first on their profile."""

from collections.abc import Sequence

from resolvers.operation.context import Context
from resolvers.operation.payloads import PostIdPayload
from resolvers.process.errors import Refused, no_such, not_allowed
from resolvers.reading import hydrate
from store import pins
from store.records.members import User
from store.records.posts import Post, is_plain_repost
from store.refusals import Refusal


async def pin_post(context: Context, *, post_id: str) -> PostIdPayload:
    """Pin a post of the viewer's own in place of the one pinned before; doing it twice changes nothing."""
    viewer = await context.member()
    found = await hydrate.own(context, post_id, viewer, "pin")
    match await pins.pin(context.db, found.id, viewer):
        case Refusal.GONE:
            raise no_such("post", "postId")
        case Refusal.PLAIN:
            raise _plain()
        case Refusal.HIDDEN:
            raise not_allowed("a hidden post cannot be pinned", "postId")
        case bool():
            context.forget()
            return PostIdPayload(post=await hydrate.post(context, found.id))


async def unpin_post(context: Context, *, post_id: str) -> PostIdPayload:
    """Unpin a post of the viewer's own; a post that is not pinned changes nothing."""
    viewer = await context.member()
    found = await hydrate.own(context, post_id, viewer, "unpin")
    if is_plain_repost(found):
        raise _plain()
    await pins.unpin(context.db, found.id, viewer)
    context.forget()
    return PostIdPayload(post=await hydrate.post(context, found.id))


def _plain() -> Refused:
    return not_allowed("a plain repost cannot be pinned, only a status or a quote", "postId")


async def pinned_posts(context: Context, users: Sequence[User]) -> list[Post | None]:
    """Return the post that each member has pinned, None where there is none or the viewer may not see it.

    At most two round trips, however many members there are.
    """
    pinned = [user.pinned for user in users if user.pinned]
    shown = iter(await hydrate.posts(context, pinned) if pinned else ())
    return [next(shown) if user.pinned else None for user in users]
