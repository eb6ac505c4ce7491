"""What happens on the whole site, as its subscribers get it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

import strawberry

from resolvers.live import announcements, site
from resolvers.operation.stream_filters import StreamEventKind
from schema.types.nodes import Info, is_a
from schema.types.posts import Post
from schema.types.streams import StreamEvent, StreamGap
from schema.types.users import User

strawberry.enum(StreamEventKind)


@strawberry.type
class PostCreated(StreamEvent):
    post: Post

    is_type_of = is_a(announcements.PostCreated)


@strawberry.type(description="Reaches exactly those whom its PostCreated reached or would have.")
class PostDeleted(StreamEvent):
    post_id: strawberry.ID
    author_id: strawberry.ID

    is_type_of = is_a(announcements.PostDeleted)


@strawberry.type
class UserFollowed(StreamEvent):
    follower: User
    followed: User

    is_type_of = is_a(announcements.UserFollowed)


@strawberry.type
class UserUnfollowed(StreamEvent):
    follower: User
    unfollowed: User

    is_type_of = is_a(announcements.UserUnfollowed)


SiteEvent = Annotated[
    PostCreated | PostDeleted | UserFollowed | UserUnfollowed | StreamGap, strawberry.union("SiteEvent")
]


@strawberry.input
class BoundingBox:
    south: float
    west: float
    north: float
    east: float


@strawberry.input(
    description="An event matches when it matches any of the given parts; an empty list is refused. Without a filter "
    "it is the firehose."
)
class StreamFilter:
    follow: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Events by any of these members; at most 5,000."
    )
    track: list[str] | None = strawberry.field(
        default=None,
        description="At most 400 phrases of up to 60 characters. A phrase matches when every word of it stands in the "
        "text as a word, #hashtag or @mention, in any order and case, punctuation aside. In scripts written without "
        "spaces each character is a word, and those of a phrase must stand side by side.",
    )
    locations: list[BoundingBox] | None = strawberry.field(
        default=None,
        description="Posts located inside any of these boxes, at most 25; west greater than east crosses the date "
        "line.",
    )


async def stream(
    info: Info,
    filter: StreamFilter | None = None,  # noqa: A002  the argument's name in the contract
    kinds: list[StreamEventKind] | None = None,
    after: str | None = None,
) -> AsyncGenerator[Any, None]:
    async with aclosing(site.stream(info.context, filter, kinds, after)) as events:
        async for event in events:
            yield event


async def sample(info: Info, percent: int = 1, after: str | None = None) -> AsyncGenerator[Any, None]:
    async with aclosing(site.sample(info.context, percent, after)) as events:
        async for event in events:
            yield event
