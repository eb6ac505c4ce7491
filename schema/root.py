"""Every query and subscription: a table of contents. The mutations are in `schema.mutations.mutation`."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import strawberry

from resolvers import accounts, search, uploads
from resolvers.reading import nodes
from schema.mutations.mutation import Mutation
from schema.types import groups as g
from schema.types import message_events as m
from schema.types import moderation as r
from schema.types import notifications as n
from schema.types import site as w
from schema.types import streams as s
from schema.types import timelines as t
from schema.types import uploads as p
from schema.types import users as u
from schema.types import viewer as v
from schema.types.descriptions import limit
from schema.types.nodes import Info, Node
from store.moderation.reports import LISTED
from store.snapshots import SNAPSHOT_SECONDS

__all__ = ["Mutation", "Query", "Subscription"]

Id: TypeAlias = Annotated[strawberry.ID, strawberry.argument(description="The id of the object.")]
Ids: TypeAlias = Annotated[
    list[strawberry.ID],
    strawberry.argument(
        description=f"The ids of the objects, at most {limit('max_ids')}. More are refused with BAD_USER_INPUT."
    ),
]
Login: TypeAlias = Annotated[str, strawberry.argument(description="A login, in any case.")]


async def _node(info: Info, id: Id) -> Any:  # noqa: A002  the argument's name in the contract
    return await nodes.node(info.context, id)


async def _nodes(info: Info, ids: Ids) -> Any:
    return await nodes.nodes(info.context, ids)


def _viewer(info: Info) -> Any:
    return info.context.claims


async def _user(info: Info, login: Login) -> Any:
    return await accounts.user(info.context, login)


async def _is_login_available(info: Info, login: Login) -> bool | None:
    return await accounts.is_login_available(info.context, login)


async def _upload(info: Info, id: Id) -> Any:  # noqa: A002  the argument's name in the contract
    return await uploads.upload(info.context, id)


@strawberry.type(
    description="Everything that can be read. Without a token, the viewer sees what everybody may see. With a token "
    "that is expired, revoked or forged, the request is refused with UNAUTHENTICATED."
)
class Query:
    node = strawberry.field(
        resolver=_node,
        graphql_type=Node | None,
        description="The object with an id. Null where there is none, or the viewer may not see it.",
    )
    nodes = strawberry.field(
        resolver=_nodes,
        graphql_type=list[Node | None],
        description="The objects with some ids, in the same order. Null where there is none, or the viewer may not see "
        "it.",
    )
    viewer = strawberry.field(
        resolver=_viewer,
        graphql_type=v.Viewer | None,
        description="The signed-in member. Null for an anonymous request.",
    )
    user = strawberry.field(
        resolver=_user,
        graphql_type=u.User | None,
        description="The member who has a login now. Null where there is none, or the viewer may not see them.",
    )
    is_login_available = strawberry.field(
        resolver=_is_login_available,
        description="Whether a new member could take a login. False for one that is malformed, taken or still "
        "reserved. There is no such question for e-mail addresses.",
    )
    search_users = strawberry.field(
        resolver=u.beginning_with,
        graphql_type=u.UserConnection,
        description=f"Members whose login or name begins with `prefix`: the {search.MOST} most followed, most followed "
        f"first. Its cursors work for {SNAPSHOT_SECONDS // 60} minutes.",
    )
    home_timeline = strawberry.field(
        resolver=t.home,
        graphql_type=t.Timeline | None,
        description="The posts of the viewer and of the members whom they follow, and those members' plain reposts. "
        "Without a token it is refused with UNAUTHENTICATED.",
    )
    public_timeline = strawberry.field(
        resolver=t.public,
        graphql_type=t.Timeline | None,
        description=f"Every public status and quote, among the newest {limit('public_size')} that are kept.",
    )
    hashtag = strawberry.field(
        resolver=t.hashtag,
        graphql_type=t.Hashtag | None,
        description="A hashtag. Null when no post that is kept carries it.",
    )
    trending_hashtags = strawberry.field(
        resolver=t.trending,
        graphql_type=list[t.Hashtag],
        description="Hashtags used more in the last six hours than in the week before, the most unusual first.",
    )
    groups = strawberry.field(resolver=g.directory, graphql_type=g.GroupConnection, description=g.DIRECTORY)
    upload = strawberry.field(
        resolver=_upload,
        graphql_type=p.Upload | None,
        description="An upload of the viewer's, to learn whether its picture is ready. Null for any other id.",
    )
    reports = strawberry.field(
        resolver=r.listed,
        graphql_type=r.ReportConnection | None,
        description=f"The reports in a state, {LISTED:,} at most: open ones of the most reported subject first, the "
        "others by when they were resolved. Without the role of a moderator it is refused with FORBIDDEN. Its cursors "
        f"work for {SNAPSHOT_SECONDS // 60} minutes.",
    )
    moderation_log = strawberry.field(
        resolver=r.log,
        graphql_type=r.ModerationActConnection | None,
        description="What moderators, administrators and operators have done, newest first. Without the role of a "
        "moderator it is refused with FORBIDDEN.",
    )


@strawberry.type(
    description="Everything that is delivered live, over a websocket or an event stream. Without a token it is "
    "refused with UNAUTHENTICATED. A connection belongs to the session that opened it, and ends with that session, "
    "not with the access token."
)
class Subscription:
    home_timeline = strawberry.subscription(
        resolver=s.home_timeline,
        graphql_type=s.HomeTimelineEvent,
        description="The viewer's home timeline as it changes.",
    )
    notifications = strawberry.subscription(
        resolver=n.live, graphql_type=n.NotificationEvent, description="The viewer's notifications as they change."
    )
    messages = strawberry.subscription(
        resolver=m.live,
        graphql_type=m.MessageEvent,
        description="What happens in all conversations of the viewer. Events are kept to resume from while somebody is "
        f"subscribed and {limit('message_events_seconds')} seconds longer, the newest {limit('message_events_kept')}.",
    )
    group_timeline = strawberry.subscription(
        resolver=s.group_timeline,
        graphql_type=s.HomeTimelineEvent,
        description="A group's timeline as it changes. It ends with the error NOT_FOUND when the viewer may no longer "
        "see what is in the group.",
    )
    stream = strawberry.subscription(
        resolver=w.stream,
        graphql_type=w.SiteEvent,
        description="Public events of the whole site. Members whom the viewer blocks or mutes, and members who "
        "block the viewer, are left out.",
    )
    sample = strawberry.subscription(
        resolver=w.sample,
        graphql_type=w.SiteEvent,
        description="A steady random share of all public posts and plain reposts. The same post is in or out for "
        "everyone. Members whom the viewer blocks or mutes, and members who block the viewer, are left out.",
    )
    upload = strawberry.subscription(
        resolver=p.live,
        graphql_type=p.Upload,
        description="An upload of the viewer's as it is, then each time that its state has changed. It completes when "
        "the upload is READY or FAILED. It ends with the error NOT_FOUND when the upload is removed.",
    )
    post_activity = strawberry.subscription(
        resolver=s.post_activity,
        graphql_type=s.PostActivity,
        description="The counts of a post as they change. It ends with the error NOT_FOUND when the viewer may not "
        "see the post any more.",
    )
