"""Every query and subscription: a table of contents. The mutations are in `schema.mutations.mutation`."""

from datetime import UTC, datetime
from typing import Any

import strawberry

from resolvers import accounts, groups, hashtags, moderation, notifications, search, timelines, uploads
from resolvers.live import group_timeline, home, messages, post_activity, site
from resolvers.live import uploads as live_uploads
from resolvers.operation.context import Context
from resolvers.reading import nodes
from schema.mutations.mutation import Mutation
from schema.types.conversations import MessageEvent
from schema.types.descriptions import limit
from schema.types.fields import Arguments, argument, query, subscription
from schema.types.groups import GroupConnection
from schema.types.moderation import REPORTS, ModerationActConnection, ReportConnection
from schema.types.nodes import Node
from schema.types.notifications import NotificationEvent
from schema.types.paging import PAGE
from schema.types.site import SAMPLE, STREAM, SiteEvent
from schema.types.streams import ACTIVE_POST, AFTER_EVENT, LIVE_GROUP, HomeTimelineEvent, PostActivity
from schema.types.timelines import ORDERED_PAGE, Hashtag, Timeline
from schema.types.uploads import Upload
from schema.types.users import User, UserConnection
from schema.types.viewer import Viewer
from store.groups.reads import DIRECTORY_SIZE
from store.moderation.reports import LISTED
from store.snapshots import SNAPSHOT_SECONDS

__all__ = ["Mutation", "Query", "Subscription"]

ID: Arguments = {"global_id": argument(strawberry.ID, "The id of the object.", name="id")}
IDS: Arguments = {
    "ids": argument(
        list[strawberry.ID],
        f"The ids of the objects, at most {limit('max_ids')}. More are refused with BAD_USER_INPUT.",
    )
}
LOGIN: Arguments = {"login": argument(str, "A login, in any case.")}
PREFIX: Arguments = {
    "prefix": argument(
        str,
        f"How the login or name begins, 1 to {limit('max_name')} characters, in any case. A leading @ is ignored.",
    )
}
HASHTAG: Arguments = {"name": argument(str, "The tag in any case, with or without the leading #.")}
TRENDING: Arguments = {
    "first": argument(int | None, f"How many tags, 1 to {limit('max_page')}. The default is 10.", default=10)
}
OWN_UPLOAD: Arguments = {"global_id": argument(strawberry.ID, "The id of an upload of the viewer's.", name="id")}


def _viewer(context: Context) -> Any:
    return context.claims


async def _trending(context: Context, first: int | None) -> Any:
    return await hashtags.trending(context, first, datetime.now(UTC))


@strawberry.type(
    description="Everything that can be read. Without a token, the viewer sees what everybody may see. With a token "
    "that is expired, revoked or forged, the request is refused with UNAUTHENTICATED."
)
class Query:
    node = query(
        nodes.node,
        Node | None,
        "The object with an id. Null where there is none, or the viewer may not see it.",
        takes=ID,
        cached=True,
    )
    nodes = query(
        nodes.nodes,
        list[Node | None],
        "The objects with some ids, in the same order. Null where there is none, or the viewer may not see it.",
        takes=IDS,
        cached=True,
    )
    viewer = query(_viewer, Viewer | None, "The signed-in member. Null for an anonymous request.")
    user = query(
        accounts.user,
        User | None,
        "The member who has a login now. Null where there is none, or the viewer may not see them.",
        takes=LOGIN,
        cached=True,
    )
    is_login_available = query(
        accounts.is_login_available,
        bool | None,
        "Whether a new member could take a login. False for one that is malformed, taken or still "
        "reserved. There is no such question for e-mail addresses.",
        takes=LOGIN,
    )
    search_users = query(
        search.users,
        UserConnection,
        f"Members whose login or name begins with `prefix`: the {search.MOST} most followed, most followed "
        f"first. Its cursors work for {SNAPSHOT_SECONDS // 60} minutes.",
        takes=PREFIX | PAGE,
    )
    home_timeline = query(
        timelines.home,
        Timeline | None,
        "The posts of the viewer and of the members whom they follow, and those members' plain reposts. "
        "Without a token it is refused with UNAUTHENTICATED.",
        takes=ORDERED_PAGE,
        cached=True,
    )
    public_timeline = query(
        timelines.public,
        Timeline | None,
        f"Every public status and quote, among the newest {limit('public_size')} that are kept.",
        takes=ORDERED_PAGE,
    )
    hashtag = query(
        hashtags.hashtag, Hashtag | None, "A hashtag. Null when no post that is kept carries it.", takes=HASHTAG
    )
    trending_hashtags = query(
        _trending,
        list[Hashtag],
        "Hashtags used more in the last six hours than in the week before, the most unusual first.",
        takes=TRENDING,
    )
    groups = query(
        groups.directory,
        GroupConnection,
        f"The directory of public and announcement groups: the {DIRECTORY_SIZE} with most members, largest first.",
        takes=PAGE,
    )
    upload = query(
        uploads.upload,
        Upload | None,
        "An upload of the viewer's, to learn whether its picture is ready. Null for any other id.",
        takes=ID,
    )
    reports = query(
        moderation.listed,
        ReportConnection | None,
        f"The reports in a state, {LISTED:,} at most: open ones of the most reported subject first, the "
        "others by when they were resolved. Without the role of a moderator it is refused with FORBIDDEN. Its cursors "
        f"work for {SNAPSHOT_SECONDS // 60} minutes.",
        takes=REPORTS,
    )
    moderation_log = query(
        moderation.moderation_log,
        ModerationActConnection | None,
        "What moderators, administrators and operators have done, newest first. Without the role of a "
        "moderator it is refused with FORBIDDEN.",
        takes=PAGE,
    )


@strawberry.type(
    description="Everything that is delivered live, over a websocket or an event stream. Without a token it is "
    "refused with UNAUTHENTICATED. A connection belongs to the session that opened it, and ends with that session, "
    "not with the access token."
)
class Subscription:
    home_timeline = subscription(
        home.home_timeline, HomeTimelineEvent, "The viewer's home timeline as it changes.", takes=AFTER_EVENT
    )
    notifications = subscription(
        notifications.live, NotificationEvent, "The viewer's notifications as they change.", takes=AFTER_EVENT
    )
    messages = subscription(
        messages.live,
        MessageEvent,
        "What happens in all conversations of the viewer. Events are kept to resume from while somebody is "
        f"subscribed and {limit('message_events_seconds')} seconds longer, the newest {limit('message_events_kept')}.",
        takes=AFTER_EVENT,
    )
    group_timeline = subscription(
        group_timeline.group_timeline,
        HomeTimelineEvent,
        "A group's timeline as it changes. It ends with the error NOT_FOUND when the viewer may no longer "
        "see what is in the group.",
        takes=LIVE_GROUP,
    )
    stream = subscription(
        site.stream,
        SiteEvent,
        "Public events of the whole site. Members whom the viewer blocks or mutes, and members who "
        "block the viewer, are left out.",
        takes=STREAM,
        shared=True,
    )
    sample = subscription(
        site.sample,
        SiteEvent,
        "A steady random share of all public posts and plain reposts. The same post is in or out for "
        "everyone. Members whom the viewer blocks or mutes, and members who block the viewer, are left out.",
        takes=SAMPLE,
        shared=True,
    )
    upload = subscription(
        live_uploads.upload,
        Upload,
        "An upload of the viewer's as it is, then each time that its state has changed. It completes when "
        "the upload is READY or FAILED. It ends with the error NOT_FOUND when the upload is removed.",
        takes=OWN_UPLOAD,
    )
    post_activity = subscription(
        post_activity.post_activity,
        PostActivity,
        "The counts of a post as they change. It ends with the error NOT_FOUND when the viewer may not "
        "see the post any more.",
        takes=ACTIVE_POST,
    )
