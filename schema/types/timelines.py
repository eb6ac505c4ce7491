"""Timelines: posts in order, each with the members who reposted it."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from resolvers import hashtags, timelines
from resolvers.reading.home_edges import TimelineEdge as Entry
from schema.types.descriptions import CURSOR, EDGES, NODES, PAGE_INFO, connection, edge, enum, limit
from schema.types.nodes import After, Before, Info, Last, PageInfo, TimelineFirst, batched, nodes_of
from schema.types.posts import Comment, Post, Repost, Status
from schema.types.promotions import Promotion
from schema.types.users import User
from store.snapshots import SNAPSHOT_SECONDS


@strawberry.type(description=edge("a post"))
class PostEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Post = strawberry.field(description="The post.")


@strawberry.type(description=connection("posts"))
class PostConnection:
    edges: list[PostEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Post], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


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
    user: User = strawberry.field(description="The followed member who reposted the post.")
    reposted_at: datetime = strawberry.field(description="When the member reposted it.")


Reposters: TypeAlias = Annotated[
    int | None,
    strawberry.argument(description=f"How many members, 1 to {limit('max_page')}. The default is 10."),
]


def _reposted_by(roots: list[Entry], info: Info, first: Reposters = 10) -> Awaitable[Any]:
    return timelines.reposted_by(info.context, roots, first)


def _reposted_by_count(root: Entry) -> int:
    return len(root.sources)


@strawberry.type(description=edge("an entry of a timeline"))
class TimelineEdge:
    cursor: str = strawberry.field(description=f"{CURSOR} A promotion repeats the cursor of the entry before it.")
    node: TimelineItem = strawberry.field(description="The post, comment or promotion.")
    reposted_by = batched(
        _reposted_by,
        graphql_type=list[RepostSource],
        description="On the home timeline, the followed members who reposted the post plainly. Those since the last "
        "lift come first, then the earlier ones, each in the order of their reposts. Empty elsewhere.",
    )
    reposted_by_count = strawberry.field(
        resolver=_reposted_by_count,
        description="On the home timeline, how many followed members reposted the post plainly. 0 elsewhere.",
    )


@strawberry.type(
    description="A timeline, newest first, as a Relay connection. Page to older entries with `first` and `after`. "
    "Fetch entries newer than yours with `last` and `before`. Members whom the viewer mutes are left out of every "
    "timeline but a profile. The home timeline lists a post once, however many followed members reposted it plainly. "
    "Its place there is its own time when its author is followed, else the time of the first repost. A repost that is "
    f"more than {limit('repost_lift_hours')} hours after its place lifts it to the time of that repost."
)
class Timeline:
    edges: list[TimelineEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[TimelineItem], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


Order: TypeAlias = Annotated[
    timelines.TimelineOrder | None,
    strawberry.argument(description="The order of the timeline. The default is RECENT."),
]


def _tagged(
    root: hashtags.Hashtag,
    info: Info,
    first: TimelineFirst = None,
    after: After = None,
    last: Last = None,
    before: Before = None,
    order: Order = timelines.TimelineOrder.RECENT,
) -> Awaitable[Any]:
    return timelines.tagged(info.context, root.name, timelines.Span(first, after, last, before, order))


def _hashtag_id(root: hashtags.Hashtag) -> str:
    return f"hashtag_{root.name}"


@strawberry.type(description="A hashtag that public posts carry. Everybody sees it.")
class Hashtag:
    id = strawberry.field(
        resolver=_hashtag_id,
        graphql_type=strawberry.ID,
        description="The identity of this hashtag, under which a client may cache it. `node` does not take it.",
    )
    name: str = strawberry.field(description="The tag in lower case, without the leading #.")
    post_count: int = strawberry.field(
        description=f"How many posts carry it, among the newest {limit('hashtag_size')} that are kept."
    )
    timeline = strawberry.field(
        resolver=_tagged,
        graphql_type=Timeline,
        description="The posts that carry it, among those that are kept. Posts of private and suspended members, "
        "hidden posts and plain reposts are not in it.",
    )


def home(
    info: Info,
    first: TimelineFirst = None,
    after: After = None,
    last: Last = None,
    before: Before = None,
    order: Order = timelines.TimelineOrder.RECENT,
) -> Awaitable[Any]:
    return timelines.home(info.context, timelines.Span(first, after, last, before, order))


def public(
    info: Info,
    first: TimelineFirst = None,
    after: After = None,
    last: Last = None,
    before: Before = None,
    order: Order = timelines.TimelineOrder.RECENT,
) -> Awaitable[Any]:
    return timelines.public(info.context, timelines.Span(first, after, last, before, order))


HashtagName: TypeAlias = Annotated[
    str, strawberry.argument(description="The tag in any case, with or without the leading #.")
]
TrendingFirst: TypeAlias = Annotated[
    int | None, strawberry.argument(description=f"How many tags, 1 to {limit('max_page')}. The default is 10.")
]


def hashtag(info: Info, name: HashtagName) -> Awaitable[Any]:
    return hashtags.hashtag(info.context, name)


def trending(info: Info, first: TrendingFirst = 10) -> Awaitable[Any]:
    return hashtags.trending(info.context, first, datetime.now(UTC))


@strawberry.input(description="Up to which entry the home was read.")
class MarkHomeReadInput:
    cursor: str = strawberry.field(description="The cursor of a home entry.")
