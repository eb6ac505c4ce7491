"""The signed-in member, with the fields that only they may see."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import strawberry

from resolvers import accounts, blocks, conversations, favourites, follows, groups, notifications, sessions, timelines
from resolvers.credentials import USER_AGENT_MOST
from resolvers.process.tokens import Claims
from schema.types.account_inputs import MessageAudience
from schema.types.descriptions import enum, limit
from schema.types.nodes import After, Before, First, Info, Last, Node, TimelineFirst, is_a, later
from schema.types.users import User, UserConnection
from store import sessions as stored
from store.credentials import records as credentials

Role = enum(
    credentials.Role,
    "A member's role on the whole site, which decides what they may do.",
    MEMBER="May do what every member may.",
    MODERATOR="May also see suspended members and hidden posts, and act on reports and on what members wrote.",
    ADMIN="May do what moderators may, give roles, and create and end promotions.",
)


def _user(root: Claims, info: Info) -> Awaitable[Any]:
    return accounts.viewer_user(info.context, root)


async def _email(root: Claims, info: Info) -> str:
    return (await accounts.viewer_credentials(info.context, root)).email


async def _is_email_verified(root: Claims, info: Info) -> bool:
    return (await accounts.viewer_credentials(info.context, root)).is_verified


async def _role(root: Claims, info: Info) -> credentials.Role:
    return (await accounts.viewer_credentials(info.context, root)).role


async def _is_two_factor_enabled(root: Claims, info: Info) -> bool:
    return bool((await accounts.viewer_credentials(info.context, root)).totp_salt)


async def _recovery_codes_left(root: Claims, info: Info) -> int:
    return len((await accounts.viewer_credentials(info.context, root)).recovery_codes)


async def _sessions(root: Claims, info: Info) -> Any:
    return [(session, session.id == root.session) for session in await sessions.sessions(info.context, root)]


def _session_id(root: tuple[stored.Session, bool]) -> str:
    return root[0].id


def _session_created_at(root: tuple[stored.Session, bool]) -> datetime:
    return root[0].created_at


def _session_expires_at(root: tuple[stored.Session, bool]) -> datetime:
    return root[0].expires_at


def _session_user_agent(root: tuple[stored.Session, bool]) -> str:
    return root[0].user_agent


def _session_address(root: tuple[stored.Session, bool]) -> str:
    return root[0].address


def _session_last_used_at(root: tuple[stored.Session, bool]) -> datetime:
    return root[0].last_used_at


def _session_is_current(root: tuple[stored.Session, bool]) -> bool:
    return root[1]


@strawberry.type(description="A device on which the viewer is signed in. Nobody else sees it.")
class Session:
    id = strawberry.field(
        resolver=_session_id,
        graphql_type=strawberry.ID,
        description="The identity of this session. `node` does not take it.",
    )
    created_at = strawberry.field(resolver=_session_created_at, description="When the viewer logged in or signed up.")
    expires_at = strawberry.field(
        resolver=_session_expires_at,
        description=f"When the session ends by itself: {limit('session_days')} days after it was last refreshed.",
    )
    user_agent = strawberry.field(
        resolver=_session_user_agent,
        description=f"The `User-Agent` header of the log-in, at most {USER_AGENT_MOST} characters.",
    )
    address = strawberry.field(
        resolver=_session_address,
        description="The address from which it last logged in or was refreshed, of IPv6 the first 64 bits. It is empty "
        "for sessions that an older version opened.",
    )
    last_used_at = strawberry.field(
        resolver=_session_last_used_at,
        description="When it was last logged in or refreshed. A client in use refreshes at least every "
        f"{limit('access_token_seconds')} seconds.",
    )
    is_current = strawberry.field(resolver=_session_is_current, description="Whether this request belongs to it.")


def _follow_requests(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return follows.follow_requests(info.context, root, first, after)


def _blocked(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return blocks.blocked(info.context, root, first, after)


def _muted(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return blocks.muted(info.context, root, first, after)


def _home_read_up_to(root: Claims, info: Info) -> Awaitable[Any]:
    return timelines.home_read_up_to(info.context, root)


def _home_unread_count(root: Claims, info: Info) -> Awaitable[int]:
    return timelines.home_unread_count(info.context, root)


def _favourites(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return favourites.favourites(info.context, root, first, after)


def _mentions(
    root: Claims,
    info: Info,
    first: TimelineFirst = None,
    after: After = None,
    last: Last = None,
    before: Before = None,
) -> Awaitable[Any]:
    return timelines.mentions(info.context, root, timelines.Span(first, after, last, before))


def _received(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return notifications.received(info.context, root, first, after)


def _groups(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return groups.viewer_groups(info.context, root, first, after)


def _unread_notification_count(root: Claims, info: Info) -> Awaitable[int]:
    return notifications.unread_count(info.context, root)


def _messages_from(root: Claims, info: Info) -> Awaitable[Any]:
    return accounts.messages_from(info.context, root)


def _conversations(root: Claims, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return conversations.conversations_of(info.context, root, first, after)


def _unread_message_count(root: Claims, info: Info) -> Awaitable[int]:
    return conversations.unread_count(info.context, root)


@strawberry.type(
    description="The signed-in member, with what nobody else may see. Its id stays the same for the life of the "
    "account, and `node` finds it for that member alone."
)
class Viewer(Node):
    user = strawberry.field(resolver=_user, graphql_type=User, description="The member as others see them.")
    email = strawberry.field(
        resolver=_email,
        description="The e-mail address, with which the viewer can log in. Empty once another member has taken over an "
        "address that the viewer did not verify in time.",
    )
    is_email_verified = strawberry.field(
        resolver=_is_email_verified,
        description="Whether the address was proved to be theirs by following a link sent to it.",
    )
    role = strawberry.field(resolver=_role, graphql_type=Role, description="The viewer's role on the whole site.")
    is_two_factor_enabled = strawberry.field(
        resolver=_is_two_factor_enabled,
        graphql_type=bool,
        description="Whether the viewer's log-ins need a code beside the password.",
    )
    recovery_codes_left = strawberry.field(
        resolver=_recovery_codes_left,
        graphql_type=int,
        description="How many recovery codes the viewer has not used yet. 0 without a second factor.",
    )
    messages_from = strawberry.field(
        resolver=_messages_from,
        graphql_type=MessageAudience,
        description="Who may begin a conversation with the viewer.",
    )
    home_read_up_to = strawberry.field(
        resolver=_home_read_up_to,
        graphql_type=str | None,
        description="The cursor of the newest home entry that was marked read, on any device; null before the first.",
    )
    home_unread_count = strawberry.field(
        resolver=_home_unread_count,
        graphql_type=int,
        description=f"How many home entries are above `homeReadUpTo`, at most {limit('home_size')}. Among the newest "
        f"{timelines.UNREAD_SEEN}, only those that the viewer would be shown count. Own posts never count.",
    )
    follow_requests = strawberry.field(
        resolver=_follow_requests,
        graphql_type=UserConnection,
        description="Members who ask to follow the viewer, newest request first.",
    )
    blocked = strawberry.field(
        resolver=_blocked,
        graphql_type=UserConnection,
        description="Members whom the viewer blocks, newest block first. Those who also block the viewer have only "
        "their id and login: their name is their login, and everything else is empty.",
    )
    muted = strawberry.field(
        resolver=_muted, graphql_type=UserConnection, description="Members whom the viewer mutes, newest mute first."
    )
    favourites = strawberry.field(
        resolver=_favourites,
        graphql_type=later("PostConnection", "schema.types.timelines"),
        description="Posts that the viewer has favourited (bookmarked), newest favourite first.",
    )
    mentions = strawberry.field(
        resolver=_mentions,
        graphql_type=later("Timeline", "schema.types.timelines"),
        description=f"The newest {limit('mentions_kept')} posts and comments that name the viewer with @login.",
    )
    notifications = strawberry.field(
        resolver=_received,
        graphql_type=later("NotificationConnection", "schema.types.notifications"),
        description=f"The newest {limit('notifications_kept')} notifications, newest first.",
    )
    unread_notification_count = strawberry.field(
        resolver=_unread_notification_count,
        graphql_type=int,
        description="How many notifications are newer than the newest one marked read, also those that are out of "
        "sight by now.",
    )
    conversations = strawberry.field(
        resolver=_conversations,
        graphql_type=later("ConversationConnection", "schema.types.conversations"),
        description="The viewer's conversations, newest message first.",
    )
    unread_message_count = strawberry.field(
        resolver=_unread_message_count,
        graphql_type=int,
        description="How many conversations have messages by others that the viewer has not marked read.",
    )
    groups = strawberry.field(
        resolver=_groups,
        graphql_type=later("GroupConnection", "schema.types.groups"),
        description="The groups that the viewer is in, newest first.",
    )
    sessions = strawberry.field(
        resolver=_sessions,
        graphql_type=list[Session],
        description=f"Where the viewer is signed in, newest first, at most {limit('sessions_per_member')}.",
    )

    is_type_of = is_a(Claims)
