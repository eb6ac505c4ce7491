"""Timelines: posts in order, each with the members who reposted it."""

from collections.abc import Awaitable
from datetime import datetime
from typing import Annotated, Any

import strawberry

from resolvers import hashtags, timelines
from resolvers.operation.context import Context
from resolvers.reading.home_edges import TimelineEdge as Entry
from schema.types.descriptions import enum, limit
from schema.types.fields import Arguments, argument, batched, computed, field, resolved
from schema.types.paging import CURSOR, PAGE_EITHER_WAY, connection, page
from schema.types.posts import Comment, Post, Repost, Status
from schema.types.promotions import Promotion
from schema.types.users import User
from store.snapshots import SNAPSHOT_SECONDS

PostConnection = connection(Post, "a post", "posts")

TimelineItem = Annotated[
    Status | Repost | Comment | Promotion,
    strawberry.union("TimelineItem", description="An entry of a timeline. Comments are in `Viewer.mentions` only."),
]

enum(
    timelines.TimelineOrder,
    "The order of a timeline.",
    RECENT="Newest first. It pages forward and backward.",
    IMPORTANT="Ranked by likes, reposts, quotes, comments and age. It pages forward only, through a snapshot that is "
    f"kept for {SNAPSHOT_SECONDS // 60} minutes. It ranks the {limit('important_home')} newest entries of a home, and "
    f"{limit('important_size')} posts of another timeline.",
)


@strawberry.type(description="A plain repost that adds a post to the viewer's home timeline.")
class RepostSource:
    user: User = field("The followed member who reposted the post.", cached=True)
    reposted_at: datetime = field("When the member reposted it.", cached=True)


REPOSTERS = {
    "first": argument(int | None, f"How many members, 1 to {limit('max_page')}. The default is 10.", default=10)
}


def _reposted_by_count(root: Entry) -> int:
    return len(root.sources)


@strawberry.type(description="An entry of a timeline in a list, with its place there.")
class TimelineEdge:
    cursor: str = field(f"{CURSOR} A promotion repeats the cursor of the entry before it.", cached=True)
    node: TimelineItem = field("The post, comment or promotion.", cached=True)
    reposted_by = batched(
        timelines.reposted_by,
        list[RepostSource],
        "On the home timeline, the followed members who reposted the post plainly. Those since the last "
        "lift come first, then the earlier ones, each in the order of their reposts. Empty elsewhere.",
        takes=REPOSTERS,
        cached=True,
    )
    reposted_by_count = computed(
        _reposted_by_count,
        int,
        "On the home timeline, how many followed members reposted the post plainly. 0 elsewhere.",
        cached=True,
    )


Timeline = page(
    "Timeline",
    "A timeline, newest first, as a Relay connection. Page to older entries with `first` and `after`. "
    "Fetch entries newer than yours with `last` and `before`. Members whom the viewer mutes are left out of every "
    "timeline but a profile. The home timeline lists a post once, however many followed members reposted it plainly. "
    "Its place there is its own time when its author is followed, else the time of the first repost. A repost that is "
    f"more than {limit('repost_lift_hours')} hours after its place lifts it to the time of that repost.",
    TimelineEdge,
    TimelineItem,
)

ORDERED_PAGE: Arguments = {
    **PAGE_EITHER_WAY,
    "order": argument(
        timelines.TimelineOrder | None,
        "The order of the timeline. The default is RECENT.",
        default=timelines.TimelineOrder.RECENT,
    ),
}


def _tagged(context: Context, hashtag: hashtags.Hashtag, **asked: Any) -> Awaitable[Any]:
    return timelines.tagged(context, hashtag.name, **asked)


def _hashtag_id(root: hashtags.Hashtag) -> str:
    return f"hashtag_{root.name}"


@strawberry.type(description="A hashtag that public posts carry. Everybody sees it.")
class Hashtag:
    id = computed(
        _hashtag_id,
        strawberry.ID,
        "The identity of this hashtag, under which a client may cache it. `node` does not take it.",
    )
    name: str = field("The tag in lower case, without the leading #.")
    post_count: int = field(f"How many posts carry it, among the newest {limit('hashtag_size')} that are kept.")
    timeline = resolved(
        _tagged,
        Timeline,
        "The posts that carry it, among those that are kept. Posts of private and suspended members, "
        "hidden posts and plain reposts are not in it.",
        takes=ORDERED_PAGE,
    )


@strawberry.input(description="Up to which entry the home was read.")
class MarkHomeReadInput:
    cursor: str = strawberry.field(description="The cursor of a home entry.")
