"""Members, and lists of them."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from resolvers import follows, pins, search, timelines
from resolvers.reading.paging import NodeEdge
from schema.types.descriptions import CURSOR, EDGES, NODES, PAGE_INFO, connection, edge, limit
from schema.types.images import Image
from schema.types.nodes import (
    After,
    Before,
    First,
    Info,
    Last,
    Node,
    PageInfo,
    TimelineFirst,
    batched,
    created_at,
    is_a,
    later,
    nodes_of,
)
from store.records import members as records


def _followers(root: records.User, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return follows.followers(info.context, root, first, after)


def _following(root: records.User, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return follows.following(info.context, root, first, after)


WithUser: TypeAlias = Annotated[
    strawberry.ID, strawberry.argument(description="The id of the member to compare this one with.")
]


def _common_following(
    root: records.User, info: Info, with_user: WithUser, first: First = 20, after: After = None
) -> Awaitable[Any]:
    return follows.common_following(info.context, root, with_user, first, after)


def _common_followers(
    root: records.User, info: Info, with_user: WithUser, first: First = 20, after: After = None
) -> Awaitable[Any]:
    return follows.common_followers(info.context, root, with_user, first, after)


def _common_follower_count(root: records.User, info: Info, with_user: WithUser) -> Awaitable[int | None]:
    return follows.common_follower_count(info.context, root, with_user)


def _timeline(
    root: records.User,
    info: Info,
    first: TimelineFirst = None,
    after: After = None,
    last: Last = None,
    before: Before = None,
) -> Awaitable[Any]:
    return timelines.profile(info.context, root, timelines.Span(first, after, last, before))


def _pinned_post(roots: list[records.User], info: Info) -> Awaitable[Any]:
    return pins.pinned_posts(info.context, roots)


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
        description="Unique, case-insensitively: 1 to 20 of a-z, A-Z, 0-9 and _. "
        f"After a change, the former login stays reserved for {limit('login_release_days')} days."
    )
    name: str = strawberry.field(description=f"The display name, 1 to {limit('max_name')} characters in one line.")
    bio: str = strawberry.field(
        description=f"A text of the member about themselves, at most {limit('max_bio')} characters. It may be empty."
    )
    avatar: Image | None = strawberry.field(description="A square picture of the member. Null when there is none.")
    header: Image | None = strawberry.field(
        description="A wide picture for the top of their profile. Null when there is none."
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description="When the member signed up.")
    is_private: bool = strawberry.field(
        description="Whether the member approves each follower. Only approved followers see the posts and the lists "
        "of follows of a private member."
    )
    is_suspended: bool = strawberry.field(
        description="Whether moderators suspended the account. Only moderators and the member see a suspended account."
    )
    follower_count: int = strawberry.field(description="How many members follow this one, the same for every viewer.")
    following_count: int = strawberry.field(description="How many members this one follows, the same for every viewer.")
    post_count: int = strawberry.field(
        description="How many posts the profile has, the same for every viewer: statuses, quotes and plain reposts. "
        "Hidden ones do not count."
    )
    followers = strawberry.field(
        resolver=_followers,
        graphql_type=later("FollowConnection", __name__),
        description="Members who follow this one, newest follow first. Empty where the viewer may not see the lists.",
    )
    following = strawberry.field(
        resolver=_following,
        graphql_type=later("FollowConnection", __name__),
        description="Members whom this one follows, newest follow first. Empty where the viewer may not see the lists.",
    )
    common_following = strawberry.field(
        resolver=_common_following,
        graphql_type=later("UserConnection", __name__),
        description="Members that both this one and `withUser` follow, by this one's newest follow first. Empty where "
        "the viewer may not see both members' lists.",
    )
    common_followers = strawberry.field(
        resolver=_common_followers,
        graphql_type=later("UserConnection", __name__),
        description="Members that follow both this one and `withUser`, by this one's newest follower first. Empty "
        "where the viewer may not see both members' lists.",
    )
    common_follower_count = strawberry.field(
        resolver=_common_follower_count,
        graphql_type=int | None,
        description="How many members follow both. Null where counting would take too long, above "
        f"{follows.COMMON_COUNTED:,} followers of each, or where the viewer may not see both members' lists.",
    )
    timeline = strawberry.field(
        resolver=_timeline,
        graphql_type=later("Timeline", "schema.types.timelines"),
        description="The profile timeline: this member's own statuses, quotes and plain reposts. Empty where the "
        "viewer may not see the posts.",
    )
    pinned_post = batched(
        _pinned_post,
        graphql_type=later("Post", "schema.types.posts") | None,
        description="The status or quote that this member shows first on their profile. Null when there is none, or "
        "where the viewer may not see it. While it is hidden, only its author and moderators see it here.",
    )
    viewer_is_following = batched(
        _viewer_is_following,
        graphql_type=bool,
        description="Whether the viewer follows this member. False for an anonymous request.",
    )
    is_following_viewer = batched(
        _is_following_viewer,
        graphql_type=bool,
        description="Whether this member follows the viewer. False for an anonymous request.",
    )
    is_mutual = batched(
        _is_mutual, graphql_type=bool, description="Whether this member and the viewer follow each other."
    )
    viewer_has_requested_follow = batched(
        _viewer_has_requested_follow,
        graphql_type=bool,
        description="Whether the viewer asked to follow this private member and was not answered yet.",
    )
    viewer_has_blocked = batched(
        _viewer_has_blocked, graphql_type=bool, description="Whether the viewer blocks this member."
    )
    viewer_has_muted = batched(
        _viewer_has_muted, graphql_type=bool, description="Whether the viewer mutes this member."
    )

    is_type_of = is_a(records.User)


@strawberry.type(description=edge("a member"))
class UserEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: User = strawberry.field(description="The member.")


@strawberry.type(description=connection("members"))
class UserConnection:
    edges: list[UserEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[User], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


Prefix: TypeAlias = Annotated[
    str,
    strawberry.argument(
        description=f"How the login or name begins, 1 to {limit('max_name')} characters, in any case. A leading @ is "
        "ignored."
    ),
]


def beginning_with(info: Info, prefix: Prefix, first: First = 20, after: After = None) -> Awaitable[Any]:
    return search.users(info.context, prefix, first, after)


def _at(root: NodeEdge[Any]) -> datetime:
    return root.at


@strawberry.type(description=edge("a member who follows or is followed"))
class FollowEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: User = strawberry.field(description="The member who follows, or is followed.")
    followed_at = strawberry.field(resolver=_at, description="When the follow began.")


@strawberry.type(description=connection("follows"))
class FollowConnection:
    edges: list[FollowEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[User], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)
