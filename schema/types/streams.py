"""What subscriptions deliver."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any

import strawberry

from resolvers.live import cursors, home
from resolvers.live import post_activity as activity
from schema.types.nodes import Info, is_a
from schema.types.posts import Post
from schema.types.timelines import TimelineEdge


@strawberry.interface(
    description="What a subscription delivers. Every one starts with what came since `after`, then goes on live."
)
class StreamEvent:
    cursor: str = strawberry.field(description="Pass it as `after` to go on from here without a gap.")
    at: datetime


@strawberry.type(
    description="Events were lost: the cursor is older than what is kept, or this client read too slowly; or one event "
    "changed too much to tell each change. Refetch."
)
class StreamGap(StreamEvent):
    is_type_of = is_a(cursors.StreamGap)


@strawberry.type(
    description="An entry came to the viewer's home timeline or changed there; "
    "it replaces the one with the same node id."
)
class TimelineEntryPut(StreamEvent):
    edge: TimelineEdge

    is_type_of = is_a(home.TimelineEntryPut)


@strawberry.type
class TimelineEntryRemoved(StreamEvent):
    node_id: strawberry.ID

    is_type_of = is_a(home.TimelineEntryRemoved)


HomeTimelineEvent = Annotated[
    TimelineEntryPut | TimelineEntryRemoved | StreamGap, strawberry.union("HomeTimelineEvent")
]


@strawberry.type(description="How a post's numbers stand after a change; the latest only, none of them queued.")
class PostActivity:
    post: Post
    like_count: int
    repost_count: int
    quote_count: int
    comment_count: int
    reply_count: int


async def home_timeline(info: Info, after: str | None = None) -> AsyncGenerator[Any, None]:
    async with aclosing(home.home_timeline(info.context, after)) as events:
        async for event in events:
            yield event


async def post_activity(info: Info, post_id: strawberry.ID) -> AsyncGenerator[Any, None]:
    async with aclosing(activity.post_activity(info.context, post_id)) as events:
        async for event in events:
            yield event
