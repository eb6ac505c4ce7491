"""Members, and lists of them."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import strawberry

from resolvers import follows, search, timelines
from resolvers.reading.paging import NodeEdge
from schema.types.nodes import After, First, Info, Node, PageInfo, batched, created_at, is_a, later, nodes_of
from store import records


def _followers(root: records.User, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return follows.followers(info.context, root, first, after)


def _following(root: records.User, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return follows.following(info.context, root, first, after)


def _common_following(
    root: records.User, info: Info, with_user: strawberry.ID, first: First = 20, after: After = None
) -> Awaitable[Any]:
    return follows.common_following(info.context, root, with_user, first, after)


def _common_followers(
    root: records.User, info: Info, with_user: strawberry.ID, first: First = 20, after: After = None
) -> Awaitable[Any]:
    return follows.common_followers(info.context, root, with_user, first, after)


def _common_follower_count(root: records.User, info: Info, with_user: strawberry.ID) -> Awaitable[int | None]:
    return follows.common_follower_count(info.context, root, with_user)


def _timeline(
    root: records.User,
    info: Info,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Awaitable[Any]:
    return timelines.profile(info.context, root, timelines.Span(first, after, last, before))


async def _viewer_is_following(roots: list[records.User], info: Info) -> list[bool]:
    return [relationship.follows for relationship in await follows.relationships(info.context, roots)]


def _is_following_viewer(roots: list[records.User], info: Info) -> Awaitable[list[bool]]:
    return follows.are_following_viewer(info.context, roots)


def _is_mutual(roots: list[records.User], info: Info) -> Awaitable[list[bool]]:
    return follows.are_mutual(info.context, roots)


def _viewer_has_requested_follow(roots: list[records.User], info: Info) -> Awaitable[list[bool]]:
    return follows.viewer_has_requested_follow(info.context, roots)


async def _viewer_has_blocked(roots: list[records.User], info: Info) -> list[bool]:
    return [relationship.blocks for relationship in await follows.relationships(info.context, roots)]


async def _viewer_has_muted(roots: list[records.User], info: Info) -> list[bool]:
    return [relationship.mutes for relationship in await follows.relationships(info.context, roots)]


@strawberry.type(description="A member. Sensitive data (email, password, sessions) is never part of this type.")
class User(Node):
    login: str = strawberry.field(
        description="Unique, case-insensitively; 1 to 20 of a-z, A-Z, 0-9 and _. "
        "A login given up stays reserved for 30 days."
    )
    name: str
    bio: str
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime)
    is_private: bool = strawberry.field(
        description="A private member approves each follower; only approved followers see the posts."
    )
    is_suspended: bool
    follower_count: int
    following_count: int
    post_count: int
    followers = strawberry.field(resolver=_followers, graphql_type=later("FollowConnection", __name__))
    following = strawberry.field(resolver=_following, graphql_type=later("FollowConnection", __name__))
    common_following = strawberry.field(
        resolver=_common_following,
        graphql_type=later("UserConnection", __name__),
        description="Members that both this one and `withUser` follow.",
    )
    common_followers = strawberry.field(
        resolver=_common_followers,
        graphql_type=later("UserConnection", __name__),
        description="Members that follow both this one and `withUser`.",
    )
    common_follower_count = strawberry.field(
        resolver=_common_follower_count,
        graphql_type=int | None,
        description="How many follow both; null where counting would take too long.",
    )
    timeline = strawberry.field(
        resolver=_timeline,
        graphql_type=later("Timeline", "schema.types.timelines"),
        description="This member's own posts: the profile timeline.",
    )
    viewer_is_following = batched(_viewer_is_following, graphql_type=bool)
    is_following_viewer = batched(_is_following_viewer, graphql_type=bool)
    is_mutual = batched(_is_mutual, graphql_type=bool, description="Both follow each other.")
    viewer_has_requested_follow = batched(_viewer_has_requested_follow, graphql_type=bool)
    viewer_has_blocked = batched(_viewer_has_blocked, graphql_type=bool)
    viewer_has_muted = batched(_viewer_has_muted, graphql_type=bool)

    is_type_of = is_a(records.User)


@strawberry.type
class UserEdge:
    cursor: str
    node: User


@strawberry.type
class UserConnection:
    edges: list[UserEdge]
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[User])
    page_info: PageInfo


def beginning_with(info: Info, prefix: str, first: First = 20, after: After = None) -> Awaitable[Any]:
    return search.users(info.context, prefix, first, after)


def _at(root: NodeEdge[Any]) -> datetime:
    return root.at


@strawberry.type
class FollowEdge:
    cursor: str
    node: User
    followed_at = strawberry.field(resolver=_at)


@strawberry.type
class FollowConnection:
    edges: list[FollowEdge]
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[User])
    page_info: PageInfo
