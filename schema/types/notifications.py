"""Notifications of a member."""

from typing import Annotated

import strawberry

from resolvers import notifications
from schema.types.descriptions import enum, limit
from schema.types.fields import argument, batched, field, is_a, resolved
from schema.types.groups import Group
from schema.types.nodes import Node, created
from schema.types.paging import connection
from schema.types.posts import Comment, Post
from schema.types.streams import StreamEvent, StreamGap
from schema.types.users import User
from store import notifications as stored

enum(
    stored.NotificationKind,
    "An act of another member, or of the moderators. One post or comment causes one notification: QUOTE, REPLY and "
    "COMMENT include a mention.",
    FOLLOW="The actor follows the viewer.",
    FOLLOW_REQUEST="The actor asks to follow the viewer, who is private.",
    FOLLOW_APPROVED="The actor, who is private, approved the viewer's request to follow.",
    LIKE="The actors like a post of the viewer. All likes of a post on a day, in UTC, have one notification.",
    REPOST="The actor reposted a post of the viewer plainly.",
    QUOTE="The actor quoted a post of the viewer.",
    COMMENT="The actor commented on a post of the viewer.",
    REPLY="The actor replied to a post of the viewer.",
    MENTION="The actor named the viewer with @login in a post or comment.",
    GROUP_INVITE="The actor invited the viewer to a group.",
    REPORT_RESOLVED="Moderators have resolved a report of the viewer. It says nothing of what was decided.",
)

ACTORS = {"first": argument(int | None, f"How many members, 1 to {limit('max_page')}. The default is 3.", default=3)}


@strawberry.type(
    description="Something that another member did to the viewer. It disappears when that is undone. Nobody else sees "
    "it."
)
class Notification(Node):
    kind: stored.NotificationKind = field("The kind of act.")
    actor = resolved(
        notifications.actor,
        User | None,
        "The member who did it, or the newest of several. Null where the viewer may not see them, and for "
        "REPORT_RESOLVED.",
    )
    actors = batched(
        notifications.actors,
        list[User],
        f"The members who did it, newest first, without those whom the viewer does not see. Only LIKE has "
        f"more than one, of whom the newest {stored.ACTORS_READ} are considered.",
        takes=ACTORS,
    )
    actor_count: int = field("How many members did it, also those whom the viewer does not see. 0 for REPORT_RESOLVED.")
    post = resolved(
        notifications.post,
        Post | None,
        "The post that was liked, reposted or commented on, or that quotes, answers or names the viewer. "
        "For a mention in a comment, the post that it is on. Null for kinds that concern no post.",
    )
    comment = resolved(
        notifications.comment, Comment | None, "The comment that was written. Null for kinds that concern no comment."
    )
    group = resolved(
        notifications.group,
        Group | None,
        "The group that the viewer was invited to. Null for kinds that concern no group.",
    )
    created_at = created()
    is_read = resolved(notifications.is_read, bool, "Whether the viewer has marked it read.")

    is_type_of = is_a(stored.Notification)


NotificationConnection = connection(Notification, "a notification", "notifications")


@strawberry.input(description="Which notifications to mark read.")
class MarkNotificationsReadInput:
    up_to_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id of the newest one to mark read. Without it, all are marked read."
    )


UNREAD_COUNT = (
    "How many notifications are newer than the newest one marked read, also those that are out of sight by now."
)


@strawberry.type(description="The viewer has a new notification.")
class NotificationReceived(StreamEvent):
    notification: Notification = field("The notification.")
    unread_count: int = field(UNREAD_COUNT)

    is_type_of = is_a(notifications.NotificationReceived)


@strawberry.type(description="The act of a notification was undone, so the notification is gone.")
class NotificationWithdrawn(StreamEvent):
    notification_id: strawberry.ID = field("The id of the notification.")
    unread_count: int = field(UNREAD_COUNT)

    is_type_of = is_a(notifications.NotificationWithdrawn)


NotificationEvent = Annotated[
    NotificationReceived | NotificationWithdrawn | StreamGap,
    strawberry.union("NotificationEvent", description="A change in the viewer's notifications."),
]
