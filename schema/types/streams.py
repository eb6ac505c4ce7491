"""Events that subscriptions deliver, apart from those of the whole site."""

from datetime import datetime
from typing import Annotated

import strawberry

from resolvers.live import cursors, home
from schema.types.descriptions import limit
from schema.types.fields import Arguments, argument, field, is_a
from schema.types.posts import COMMENT_COUNT, LIKE_COUNT, QUOTE_COUNT, REPLY_COUNT, REPOST_COUNT, Post
from schema.types.timelines import TimelineEdge


@strawberry.interface(
    description="An event of a subscription. First come the events since `after`, then live events, each once and in "
    "order."
)
class StreamEvent:
    cursor: str = field("Pass it as `after` to go on from here without a gap.", shared=True)
    at: datetime = field("When it happened. For a gap, when the loss was noticed.", shared=True)


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
    edge: TimelineEdge = field("The entry as it is now. Its cursor says where it is listed.")

    is_type_of = is_a(home.TimelineEntryPut)


@strawberry.type(description="An entry left the timeline. The client may not have had it.")
class TimelineEntryRemoved(StreamEvent):
    node_id: strawberry.ID = field("The id of the post that left.")

    is_type_of = is_a(home.TimelineEntryRemoved)


HomeTimelineEvent = Annotated[
    TimelineEntryPut | TimelineEntryRemoved | StreamGap,
    strawberry.union("HomeTimelineEvent", description="A change in the viewer's home timeline, or in a group's."),
]


@strawberry.type(description="The counts of a post after a change. A slow client gets the latest counts only.")
class PostActivity:
    post: Post = field("The post. For a plain repost, its original.")
    like_count: int = field(LIKE_COUNT)
    repost_count: int = field(REPOST_COUNT)
    quote_count: int = field(QUOTE_COUNT)
    comment_count: int = field(COMMENT_COUNT)
    reply_count: int = field(REPLY_COUNT)


AFTER_EVENT: Arguments = {
    "after": argument(
        str | None,
        "The cursor of an event of this subscription, to go on after it. Without it, only new events come.",
        default=None,
    )
}
LIVE_GROUP: Arguments = {
    "group_id": argument(strawberry.ID, "The id of a group. The viewer may see what is in it."),
    **AFTER_EVENT,
}
ACTIVE_POST: Arguments = {
    "post_id": argument(
        strawberry.ID, "The id of a post that the viewer may see. A plain repost acts for its original."
    )
}
