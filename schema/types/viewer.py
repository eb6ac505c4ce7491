"""The signed-in member: what only they may see, and the inputs and payloads of their account."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import strawberry

from resolvers import accounts, blocks, favourites, follows, notifications, sessions, timelines
from resolvers.operation.tokens import Claims
from schema.types.nodes import After, First, Info, UserError, later
from schema.types.users import User, UserConnection
from store import records
from store.secret import Secret

Role = strawberry.enum(records.Role, name="Role")


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
    return follows.follow_requests(info.context, root, first, after)


def _blocked(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return blocks.blocked(info.context, root, first, after)


def _muted(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return blocks.muted(info.context, root, first, after)


def _favourites(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return favourites.favourites(info.context, root, first, after)


def _mentions(
    root: Claims,
    info: Info,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Awaitable[Any]:
    return timelines.mentions(info.context, root, timelines.Span(first, after, last, before))


def _received(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return notifications.received(info.context, root, first, after)


def _unread_notification_count(root: Claims, info: Info) -> Awaitable[int]:
    return notifications.unread_count(info.context, root)


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
        graphql_type=later("PostConnection", "schema.types.timelines"),
        description="Posts this member has favourited (bookmarked). Nobody else can see them.",
    )
    mentions = strawberry.field(
        resolver=_mentions,
        graphql_type=later("Timeline", "schema.types.timelines"),
        description="Posts and comments that name this member with @login.",
    )
    notifications = strawberry.field(
        resolver=_received, graphql_type=later("NotificationConnection", "schema.types.notifications")
    )
    unread_notification_count = strawberry.field(
        resolver=_unread_notification_count,
        graphql_type=int,
        description="Those that came after the newest one marked read, also where what they are about is hidden since.",
    )
    sessions = strawberry.field(resolver=_sessions, graphql_type=list[Session])


@strawberry.input
class SignUpInput:
    login: str
    name: str
    email: str
    password: Secret


@strawberry.input
class LogInInput:
    identifier: str = strawberry.field(description="A login or an email address.")
    password: Secret
    device_token: Secret | None = strawberry.field(
        default=None,
        description="The member's token from an earlier session on this device: guesses of others don't hold it up.",
    )


@strawberry.input
class RefreshSessionInput:
    refresh_token: Secret


@strawberry.input
class LogOutInput:
    everywhere: bool | None = strawberry.field(default=False, description="End every session, not only this one.")


@strawberry.input
class ChangePasswordInput:
    current_password: Secret
    new_password: Secret


@strawberry.input
class UpdateProfileInput:
    login: str | None = None
    name: str | None = None
    bio: str | None = None
    is_private: bool | None = None


@strawberry.input
class ChangeEmailInput:
    email: str
    current_password: Secret


@strawberry.input
class DeleteAccountInput:
    password: Secret


@strawberry.input(
    description="One or many members at once, at least one; what can be done is done, each refusal is named."
)
class UsersInput:
    user_ids: list[strawberry.ID]


def _access_token(root: SessionPayload) -> str | None:
    return root.access.reveal() if root.access else None


def _refresh_token(root: SessionPayload) -> str | None:
    return root.refresh.reveal() if root.refresh else None


def _device_token(root: SessionPayload) -> str | None:
    return root.device.reveal() if root.device else None


@strawberry.type
class SessionPayload:
    access: strawberry.Private[Secret | None] = None
    refresh: strawberry.Private[Secret | None] = None
    device: strawberry.Private[Secret | None] = None
    access_token: str | None = strawberry.field(resolver=_access_token)
    refresh_token: str | None = strawberry.field(resolver=_refresh_token)
    device_token: str | None = strawberry.field(
        resolver=_device_token, description="Kept on the device, also after log-out, and sent with the next log-in."
    )
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
