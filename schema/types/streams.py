"""Events that subscriptions deliver, apart from those of the whole site."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from resolvers.live import cursors, home
from resolvers.live import group_timeline as groups
from resolvers.live import post_activity as activity
from schema.types.descriptions import limit
from schema.types.nodes import Info, is_a
from schema.types.posts import COMMENT_COUNT, LIKE_COUNT, QUOTE_COUNT, REPLY_COUNT, REPOST_COUNT, Post
from schema.types.timelines import TimelineEdge


@strawberry.interface(
    description="An event of a subscription. First come the events since `after`, then live events, each once and in "
    "order."
)
class StreamEvent:
    cursor: str = strawberry.field(description="Pass it as `after` to go on from here without a gap.")
    at: datetime = strawberry.field(description="When it happened. For a gap, when the loss was noticed.")


@strawberry.type(
    description="Events were lost, so the client has to fetch its list again. The cursor may be older than the newest "
    f"{limit('events_kept')} events, or the client was more than {limit('subscriber_queue')} events behind. It may "
    "also be that the store lost its last moments, or that one event changed too much to deliver each change."
)
class StreamGap(StreamEvent):
    is_type_of = is_a(cursors.StreamGap)


@strawberry.type(
    description="An entry was added to the timeline, or changed there. It replaces the entry with the same node id. "
    "The client moves that entry if the cursor is another one, as after a repost that lifts the post."
)
class TimelineEntryPut(StreamEvent):
    edge: TimelineEdge = strawberry.field(description="The entry as it is now. Its cursor says where it is listed.")

    is_type_of = is_a(home.TimelineEntryPut)


@strawberry.type(description="An entry left the timeline. The client may not have had it.")
class TimelineEntryRemoved(StreamEvent):
    node_id: strawberry.ID = strawberry.field(description="The id of the post that left.")

    is_type_of = is_a(home.TimelineEntryRemoved)


HomeTimelineEvent = Annotated[
    TimelineEntryPut | TimelineEntryRemoved | StreamGap,
    strawberry.union("HomeTimelineEvent", description="A change in the viewer's home timeline, or in a group's."),
]


@strawberry.type(description="The counts of a post after a change. A slow client gets the latest counts only.")
class PostActivity:
    post: Post = strawberry.field(description="The post. For a plain repost, its original.")
    like_count: int = strawberry.field(description=LIKE_COUNT)
    repost_count: int = strawberry.field(description=REPOST_COUNT)
    quote_count: int = strawberry.field(description=QUOTE_COUNT)
    comment_count: int = strawberry.field(description=COMMENT_COUNT)
    reply_count: int = strawberry.field(description=REPLY_COUNT)


Resume: TypeAlias = Annotated[
    str | None,
    strawberry.argument(
        description="The cursor of an event of this subscription, to go on after it. Without it, only new events come."
    ),
]
ActivePost: TypeAlias = Annotated[
    strawberry.ID,
    strawberry.argument(description="The id of a post that the viewer may see. A plain repost acts for its original."),
]


async def home_timeline(info: Info, after: Resume = None) -> AsyncGenerator[Any, None]:
    async with aclosing(home.home_timeline(info.context, after)) as events:
        async for event in events:
            yield event


LiveGroup: TypeAlias = Annotated[
    strawberry.ID, strawberry.argument(description="The id of a group. The viewer may see what is in it.")
]


async def group_timeline(info: Info, group_id: LiveGroup, after: Resume = None) -> AsyncGenerator[Any, None]:
    async with aclosing(groups.group_timeline(info.context, group_id, after)) as events:
        async for event in events:
            yield event


async def post_activity(info: Info, post_id: ActivePost) -> AsyncGenerator[Any, None]:
    async with aclosing(activity.post_activity(info.context, post_id)) as events:
        async for event in events:
            yield event
