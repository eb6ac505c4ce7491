"""Notifications of a member."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from resolvers import notifications
from schema.types.descriptions import CREATED_AT, CURSOR, EDGES, NODES, PAGE_INFO, connection, edge, enum, limit
from schema.types.groups import Group
from schema.types.nodes import Info, Node, PageInfo, batched, created_at, is_a, nodes_of
from schema.types.posts import Comment, Post
from schema.types.streams import Resume, StreamEvent, StreamGap
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


def _actor(root: stored.Notification, info: Info) -> Awaitable[Any]:
    return notifications.actor(info.context, root)


Actors: TypeAlias = Annotated[
    int | None,
    strawberry.argument(description=f"How many members, 1 to {limit('max_page')}. The default is 3."),
]


def _actors(roots: list[stored.Notification], info: Info, first: Actors = 3) -> Awaitable[Any]:
    return notifications.actors(info.context, roots, first)


def _post(root: stored.Notification, info: Info) -> Awaitable[Any]:
    return notifications.post(info.context, root)


def _comment(root: stored.Notification, info: Info) -> Awaitable[Any]:
    return notifications.comment(info.context, root)


def _group(root: stored.Notification, info: Info) -> Awaitable[Any]:
    return notifications.group(info.context, root)


def _is_read(root: stored.Notification, info: Info) -> Awaitable[bool]:
    return notifications.is_read(info.context, root)


@strawberry.type(
    description="Something that another member did to the viewer. It disappears when that is undone. Nobody else sees "
    "it."
)
class Notification(Node):
    kind: stored.NotificationKind = strawberry.field(description="The kind of act.")
    actor = strawberry.field(
        resolver=_actor,
        graphql_type=User | None,
        description="The member who did it, or the newest of several. Null where the viewer may not see them, and for "
        "REPORT_RESOLVED.",
    )
    actors = batched(
        _actors,
        graphql_type=list[User],
        description=f"The members who did it, newest first, without those whom the viewer does not see. Only LIKE has "
        f"more than one, of whom the newest {stored.ACTORS_READ} are considered.",
    )
    actor_count: int = strawberry.field(
        description="How many members did it, also those whom the viewer does not see. 0 for REPORT_RESOLVED."
    )
    post = strawberry.field(
        resolver=_post,
        graphql_type=Post | None,
        description="The post that was liked, reposted or commented on, or that quotes, answers or names the viewer. "
        "For a mention in a comment, the post that it is on. Null for kinds that concern no post.",
    )
    comment = strawberry.field(
        resolver=_comment,
        graphql_type=Comment | None,
        description="The comment that was written. Null for kinds that concern no comment.",
    )
    group = strawberry.field(
        resolver=_group,
        graphql_type=Group | None,
        description="The group that the viewer was invited to. Null for kinds that concern no group.",
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description=CREATED_AT)
    is_read = strawberry.field(
        resolver=_is_read, graphql_type=bool, description="Whether the viewer has marked it read."
    )

    is_type_of = is_a(stored.Notification)


@strawberry.type(description=edge("a notification"))
class NotificationEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Notification = strawberry.field(description="The notification.")


@strawberry.type(description=connection("notifications"))
class NotificationConnection:
    edges: list[NotificationEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Notification], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


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
    notification: Notification = strawberry.field(description="The notification.")
    unread_count: int = strawberry.field(description=UNREAD_COUNT)

    is_type_of = is_a(notifications.NotificationReceived)


@strawberry.type(description="The act of a notification was undone, so the notification is gone.")
class NotificationWithdrawn(StreamEvent):
    notification_id: strawberry.ID = strawberry.field(description="The id of the notification.")
    unread_count: int = strawberry.field(description=UNREAD_COUNT)

    is_type_of = is_a(notifications.NotificationWithdrawn)


NotificationEvent = Annotated[
    NotificationReceived | NotificationWithdrawn | StreamGap,
    strawberry.union("NotificationEvent", description="A change in the viewer's notifications."),
]


async def live(info: Info, after: Resume = None) -> AsyncGenerator[Any, None]:
    async with aclosing(notifications.live(info.context, after)) as events:
        async for event in events:
            yield event
