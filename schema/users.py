"""Members, and what only they may see of themselves."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import strawberry

from resolvers import accounts, blocks, favourites, relations, search, sessions, timelines
from resolvers.paging import NodeEdge
from resolvers.tokens import Claims
from schema.nodes import After, First, Info, Node, PageInfo, UserError, is_a, later, nodes_of
from store import records

Role = strawberry.enum(records.Role, name="Role")


def _followers(root: records.User, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return relations.followers(info.context, root, first, after)


def _following(root: records.User, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return relations.following(info.context, root, first, after)


def _common_following(
    root: records.User, info: Info, with_user: strawberry.ID, first: First = 20, after: After = None
) -> Awaitable[Any]:
    return relations.common_following(info.context, root, with_user, first, after)


def _common_followers(
    root: records.User, info: Info, with_user: strawberry.ID, first: First = 20, after: After = None
) -> Awaitable[Any]:
    return relations.common_followers(info.context, root, with_user, first, after)


def _common_follower_count(root: records.User, info: Info, with_user: strawberry.ID) -> Awaitable[int | None]:
    return relations.common_follower_count(info.context, root, with_user)


def _timeline(
    root: records.User,
    info: Info,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Awaitable[Any]:
    return timelines.profile(info.context, root, timelines.Span(first, after, last, before))


def _viewer_is_following(root: records.User, info: Info) -> Awaitable[bool]:
    return relations.viewer_is_following(info.context, root)


def _is_following_viewer(root: records.User, info: Info) -> Awaitable[bool]:
    return relations.is_following_viewer(info.context, root)


def _is_mutual(root: records.User, info: Info) -> Awaitable[bool]:
    return relations.is_mutual(info.context, root)


def _viewer_has_requested_follow(root: records.User, info: Info) -> Awaitable[bool]:
    return relations.viewer_has_requested_follow(info.context, root)


def _viewer_has_blocked(root: records.User, info: Info) -> Awaitable[bool]:
    return relations.viewer_has_blocked(info.context, root)


def _viewer_has_muted(root: records.User, info: Info) -> Awaitable[bool]:
    return relations.viewer_has_muted(info.context, root)


@strawberry.type(description="A member. Sensitive data (email, password, sessions) is never part of this type.")
class User(Node):
    login: str = strawberry.field(
        description="Unique, case-insensitively; 1 to 20 of a-z, A-Z, 0-9 and _. "
        "A login given up stays reserved for 30 days."
    )
    name: str
    bio: str
    created_at: datetime
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
        graphql_type=later("Timeline", "schema.timelines"),
        description="This member's own posts: the profile timeline.",
    )
    viewer_is_following = strawberry.field(resolver=_viewer_is_following, graphql_type=bool)
    is_following_viewer = strawberry.field(resolver=_is_following_viewer, graphql_type=bool)
    is_mutual = strawberry.field(resolver=_is_mutual, graphql_type=bool, description="Both follow each other.")
    viewer_has_requested_follow = strawberry.field(resolver=_viewer_has_requested_follow, graphql_type=bool)
    viewer_has_blocked = strawberry.field(resolver=_viewer_has_blocked, graphql_type=bool)
    viewer_has_muted = strawberry.field(resolver=_viewer_has_muted, graphql_type=bool)

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


def _user(root: Claims, info: Info) -> Awaitable[Any]:
    return accounts.viewer_user(info.context, root)


async def _email(root: Claims, info: Info) -> str:
    return (await accounts.viewer_credentials(info.context, root)).email


async def _role(root: Claims, info: Info) -> records.Role:
    return (await accounts.viewer_credentials(info.context, root)).role


async def _sessions(root: Claims, info: Info) -> Any:
    return [(session, session.id == root.session) for session in await sessions.sessions(info.context, root)]


def _session_id(root: tuple[records.Session, bool]) -> str:
    return root[0].id


def _session_created_at(root: tuple[records.Session, bool]) -> datetime:
    return root[0].created_at


def _session_expires_at(root: tuple[records.Session, bool]) -> datetime:
    return root[0].expires_at


def _session_user_agent(root: tuple[records.Session, bool]) -> str:
    return root[0].user_agent


def _session_is_current(root: tuple[records.Session, bool]) -> bool:
    return root[1]


@strawberry.type
class Session:
    id = strawberry.field(resolver=_session_id, graphql_type=strawberry.ID)
    created_at = strawberry.field(resolver=_session_created_at)
    expires_at = strawberry.field(resolver=_session_expires_at)
    user_agent = strawberry.field(resolver=_session_user_agent)
    is_current = strawberry.field(resolver=_session_is_current)


def _follow_requests(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return relations.follow_requests(info.context, root, first, after)


def _blocked(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return blocks.blocked(info.context, root, first, after)


def _muted(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return blocks.muted(info.context, root, first, after)


def _favourites(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return favourites.favourites(info.context, root, first, after)


@strawberry.type(description="The signed-in member, with what only they may see.")
class Viewer:
    user = strawberry.field(resolver=_user, graphql_type=User)
    email = strawberry.field(resolver=_email)
    role = strawberry.field(resolver=_role, graphql_type=Role)
    follow_requests = strawberry.field(resolver=_follow_requests, graphql_type=UserConnection)
    blocked = strawberry.field(resolver=_blocked, graphql_type=UserConnection)
    muted = strawberry.field(resolver=_muted, graphql_type=UserConnection)
    favourites = strawberry.field(
        resolver=_favourites,
        graphql_type=later("PostConnection", "schema.timelines"),
        description="Posts this member has favourited (bookmarked). Nobody else can see them.",
    )
    sessions = strawberry.field(resolver=_sessions, graphql_type=list[Session])


@strawberry.input
class SignUpInput:
    login: str
    name: str
    email: str
    password: str


@strawberry.input
class LogInInput:
    identifier: str = strawberry.field(description="A login or an email address.")
    password: str


@strawberry.input
class RefreshSessionInput:
    refresh_token: str


@strawberry.input
class LogOutInput:
    everywhere: bool | None = strawberry.field(default=False, description="End every session, not only this one.")


@strawberry.input
class ChangePasswordInput:
    current_password: str
    new_password: str


@strawberry.input
class UpdateProfileInput:
    login: str | None = None
    name: str | None = None
    bio: str | None = None
    is_private: bool | None = None


@strawberry.input
class ChangeEmailInput:
    email: str
    current_password: str


@strawberry.input
class DeleteAccountInput:
    password: str


@strawberry.input(description="One or many members at once; what can be done is done, each refusal is named.")
class UsersInput:
    user_ids: list[strawberry.ID]


@strawberry.type
class SessionPayload:
    access_token: str | None = None
    refresh_token: str | None = None
    expires_at: datetime | None = strawberry.field(default=None, description="When `accessToken` stops being accepted.")
    viewer: Viewer | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class LogOutPayload:
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class ViewerPayload:
    viewer: Viewer | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class DeleteAccountPayload:
    deleted_user_id: strawberry.ID | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class UsersPayload:
    users: list[User] = strawberry.field(default_factory=list)
    viewer: Viewer | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)
