"""The signed-in member, with the fields that only they may see."""

from datetime import datetime

import strawberry

from resolvers import accounts, conversations, favourites, groups, notifications, relationships, sessions, timelines
from resolvers.conversations import unread_count as unread_message_count
from resolvers.credentials import USER_AGENT_MOST
from resolvers.notifications import unread_count as unread_notification_count
from resolvers.process.tokens import Claims
from schema.types.account_inputs import MessageAudience
from schema.types.descriptions import limit
from schema.types.fields import attribute_of, field, is_a, later, resolved
from schema.types.nodes import Node
from schema.types.paging import PAGE, PAGE_EITHER_WAY
from schema.types.users import User, UserConnection
from store.credentials.records import Role


@strawberry.type(description="A device on which the viewer is signed in. Nobody else sees it.")
class Session:
    id: strawberry.ID = field("The identity of this session. `node` does not take it.")
    created_at: datetime = field("When the viewer logged in or signed up.")
    expires_at: datetime = field(
        f"When the session ends by itself: {limit('session_days')} days after it was last refreshed.",
    )
    user_agent: str = field(f"The `User-Agent` header of the log-in, at most {USER_AGENT_MOST} characters.")
    address: str = field(
        "The address from which it last logged in or was refreshed, of IPv6 the first 64 bits. It is empty "
        "for sessions that an older version opened.",
    )
    last_used_at: datetime = field(
        "When it was last logged in or refreshed. A client in use refreshes at least every "
        f"{limit('access_token_seconds')} seconds.",
    )
    is_current: bool = field("Whether this request belongs to it.")


@strawberry.type(
    description="The signed-in member, with what nobody else may see. Its id stays the same for the life of the "
    "account, and `node` finds it for that member alone."
)
class Viewer(Node):
    user = resolved(accounts.viewer_user, User, "The member as others see them.")
    email = resolved(
        attribute_of(accounts.viewer_credentials, "email"),
        str,
        "The e-mail address, with which the viewer can log in. Empty once another member has taken over an "
        "address that the viewer did not verify in time.",
    )
    is_email_verified = resolved(
        attribute_of(accounts.viewer_credentials, "is_verified"),
        bool,
        "Whether the address was proved to be theirs by following a link sent to it.",
    )
    role = resolved(attribute_of(accounts.viewer_credentials, "role"), Role, "The viewer's role on the whole site.")
    is_two_factor_enabled = resolved(
        attribute_of(accounts.viewer_credentials, "has_two_factor"),
        bool,
        "Whether the viewer's log-ins need a code beside the password.",
    )
    recovery_codes_left = resolved(
        attribute_of(accounts.viewer_credentials, "recovery_codes_left"),
        int,
        "How many recovery codes the viewer has not used yet. 0 without a second factor.",
    )
    messages_from = resolved(accounts.messages_from, MessageAudience, "Who may begin a conversation with the viewer.")
    home_read_up_to = resolved(
        timelines.home_read_up_to,
        str | None,
        "The cursor of the newest home entry that was marked read, on any device; null before the first.",
    )
    home_unread_count = resolved(
        timelines.home_unread_count,
        int,
        f"How many home entries are above `homeReadUpTo`, at most {limit('home_size')}. Among the newest "
        f"{timelines.UNREAD_SEEN}, only those that the viewer would be shown count. Own posts never count.",
    )
    follow_requests = resolved(
        relationships.follow_requests,
        UserConnection,
        "Members who ask to follow the viewer, newest request first.",
        takes=PAGE,
    )
    blocked = resolved(
        relationships.blocked,
        UserConnection,
        "Members whom the viewer blocks, newest block first. Those who also block the viewer have only "
        "their id and login: their name is their login, and everything else is empty.",
        takes=PAGE,
    )
    muted = resolved(
        relationships.muted, UserConnection, "Members whom the viewer mutes, newest mute first.", takes=PAGE
    )
    favourites = resolved(
        favourites.favourites,
        later("PostConnection", "schema.types.timelines"),
        "Posts that the viewer has favourited (bookmarked), newest favourite first.",
        takes=PAGE,
    )
    mentions = resolved(
        timelines.mentions,
        later("Timeline", "schema.types.timelines"),
        f"The newest {limit('mentions_kept')} posts and comments that name the viewer with @login.",
        takes=PAGE_EITHER_WAY,
    )
    notifications = resolved(
        notifications.received,
        later("NotificationConnection", "schema.types.notifications"),
        f"The newest {limit('notifications_kept')} notifications, newest first.",
        takes=PAGE,
    )
    unread_notification_count = resolved(
        unread_notification_count,
        int,
        "How many notifications are newer than the newest one marked read, also those that are out of sight by now.",
    )
    conversations = resolved(
        conversations.viewer_conversations,
        later("ConversationConnection", "schema.types.conversations"),
        "The viewer's conversations, newest message first.",
        takes=PAGE,
    )
    unread_message_count = resolved(
        unread_message_count,
        int,
        "How many conversations have messages by others that the viewer has not marked read.",
    )
    groups = resolved(
        groups.viewer_groups,
        later("GroupConnection", "schema.types.groups"),
        "The groups that the viewer is in, newest first.",
        takes=PAGE,
    )
    sessions = resolved(
        sessions.sessions,
        list[Session],
        f"Where the viewer is signed in, newest first, at most {limit('sessions_per_member')}.",
    )

    is_type_of = is_a(Claims)
