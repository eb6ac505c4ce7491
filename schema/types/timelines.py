"""Timelines: posts in order, with who brought each."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Annotated, Any

import strawberry

from resolvers import hashtags, timelines
from resolvers.reading.home_edges import TimelineEdge as Entry
from schema.types.nodes import Info, PageInfo, batched, nodes_of
from schema.types.posts import Comment, Post, Repost, Status
from schema.types.promotions import Promotion
from schema.types.users import User


@strawberry.type
class PostEdge:
    cursor: str
    node: Post


@strawberry.type
class PostConnection:
    edges: list[PostEdge]
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Post])
    page_info: PageInfo


TimelineItem = Annotated[Status | Repost | Comment | Promotion, strawberry.union("TimelineItem")]

strawberry.enum(
    timelines.TimelineOrder,
    description="IMPORTANT ranks by likes, reposts, quotes, comments and age; it pages forward only, through one "
    "snapshot that is kept ten minutes.",
)


@strawberry.type
class RepostSource:
    user: User
    reposted_at: datetime


def _reposted_by(roots: list[Entry], info: Info, first: int | None = 10) -> Awaitable[Any]:
    return timelines.reposted_by(info.context, roots, first)


def _reposted_by_count(root: Entry) -> int:
    return len(root.sources)


@strawberry.type
class TimelineEdge:
    cursor: str
    node: TimelineItem
    reposted_by = batched(_reposted_by, graphql_type=list[RepostSource])
    reposted_by_count = strawberry.field(resolver=_reposted_by_count)


@strawberry.type(
    description="A timeline, newest first, as a Relay connection. Page back with `first`/`after`; fetch what is newer "
    "than what you hold with `last`/`before`. On the home timeline a status appears once however many of the followed "
    "members passed it on (plainly): `repostedBy` names them, the first one first. An entry stands at the moment it "
    "first came: its own when its author is followed, else that of the first repost. Below what is kept ready, the "
    "home timeline goes on with the followed members' own posts."
)
class Timeline:
    edges: list[TimelineEdge]
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[TimelineItem])
    page_info: PageInfo


def _tagged(
    root: hashtags.Hashtag,
    info: Info,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order: timelines.TimelineOrder | None = timelines.TimelineOrder.RECENT,
) -> Awaitable[Any]:
    return timelines.tagged(info.context, root.name, timelines.Span(first, after, last, before, order))


@strawberry.type
class Hashtag:
    name: str
    post_count: int = strawberry.field(description="Posts that carry it, among those still kept.")
    timeline = strawberry.field(resolver=_tagged, graphql_type=Timeline)


def home(
    info: Info,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order: timelines.TimelineOrder | None = timelines.TimelineOrder.RECENT,
) -> Awaitable[Any]:
    return timelines.home(info.context, timelines.Span(first, after, last, before, order))


def public(
    info: Info,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order: timelines.TimelineOrder | None = timelines.TimelineOrder.RECENT,
) -> Awaitable[Any]:
    return timelines.public(info.context, timelines.Span(first, after, last, before, order))


def hashtag(info: Info, name: str) -> Awaitable[Any]:
    return hashtags.hashtag(info.context, name)


def trending(info: Info, first: int | None = 10) -> Awaitable[Any]:
    return hashtags.trending(info.context, first, datetime.now(UTC))
