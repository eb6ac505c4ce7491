"""What a member is told of others."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any

import strawberry

from resolvers import notifications
from schema.types.nodes import Info, Node, PageInfo, created_at, is_a, nodes_of
from schema.types.posts import Comment, Post
from schema.types.streams import StreamEvent, StreamGap
from schema.types.users import User
from store import notifications as stored

strawberry.enum(
    stored.NotificationKind,
    description="Of one post or comment a member is told once: QUOTE, REPLY and COMMENT stand for the MENTION in it.",
)


def _actor(root: stored.Notification, info: Info) -> Awaitable[Any]:
    return notifications.actor(info.context, root)


def _post(root: stored.Notification, info: Info) -> Awaitable[Any]:
    return notifications.post(info.context, root)


def _comment(root: stored.Notification, info: Info) -> Awaitable[Any]:
    return notifications.comment(info.context, root)


def _is_read(root: stored.Notification, info: Info) -> Awaitable[bool]:
    return notifications.is_read(info.context, root)


@strawberry.type(description="Something that somebody did to the viewer. It goes when that is taken back.")
class Notification(Node):
    kind: stored.NotificationKind
    actor = strawberry.field(resolver=_actor, graphql_type=User | None)
    post = strawberry.field(
        resolver=_post,
        graphql_type=Post | None,
        description="What was liked, passed on or commented; or what quotes, answers or names the viewer, or has the "
        "comment below it that does.",
    )
    comment = strawberry.field(resolver=_comment, graphql_type=Comment | None)
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime)
    is_read = strawberry.field(resolver=_is_read, graphql_type=bool)

    is_type_of = is_a(stored.Notification)


@strawberry.type
class NotificationEdge:
    cursor: str
    node: Notification


@strawberry.type
class NotificationConnection:
    edges: list[NotificationEdge]
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Notification])
    page_info: PageInfo


@strawberry.input
class MarkNotificationsReadInput:
    up_to_id: strawberry.ID | None = strawberry.field(
        default=None, description="All up to this one; all of them when left out."
    )


@strawberry.type
class NotificationReceived(StreamEvent):
    notification: Notification
    unread_count: int

    is_type_of = is_a(notifications.NotificationReceived)


@strawberry.type
class NotificationWithdrawn(StreamEvent):
    notification_id: strawberry.ID
    unread_count: int

    is_type_of = is_a(notifications.NotificationWithdrawn)


NotificationEvent = Annotated[
    NotificationReceived | NotificationWithdrawn | StreamGap, strawberry.union("NotificationEvent")
]


async def live(info: Info, after: str | None = None) -> AsyncGenerator[Any, None]:
    async with aclosing(notifications.live(info.context, after)) as events:
        async for event in events:
            yield event
