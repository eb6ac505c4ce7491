"""Every query, mutation and subscription: a table of contents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any

import strawberry

from resolvers import (
    accounts,
    blocks,
    favourites,
    follows,
    likes_and_comments,
    notifications,
    posts,
    promotions,
    sessions,
)
from resolvers.operation.context import Context
from resolvers.operation.errors import Refused
from schema.types import notifications as n
from schema.types import posts as p
from schema.types import promotions as a
from schema.types import site as w
from schema.types import streams as s
from schema.types import timelines as t
from schema.types import users as u
from schema.types import viewer as v
from schema.types.nodes import Info, Node


async def _node(info: Info, id: strawberry.ID) -> Any:  # noqa: A002  the argument's name in the contract
    return await posts.node(info.context, id)


async def _nodes(info: Info, ids: list[strawberry.ID]) -> Any:
    return await posts.nodes(info.context, ids)


def _viewer(info: Info) -> Any:
    return info.context.claims


async def _user(info: Info, login: str) -> Any:
    return await accounts.user(info.context, login)


async def _is_login_available(info: Info, login: str) -> bool | None:
    return await accounts.is_login_available(info.context, login)


Act = Callable[..., Awaitable[dict[str, object]]]


def _mutation(
    act: Act,
    takes: type,
    gives: type,
    *,
    optional: bool = False,
    suspended: bool = False,
    description: str | None = None,
) -> Any:
    """Declare a mutation: its input's fields become arguments, a refusal becomes `userErrors`.

    Those open to `suspended` members concern nothing but their own account.
    """

    async def resolve(info: strawberry.Info[Context, None], input: Any = None) -> Any:  # noqa: A002  the contract's name
        arguments = {f.name: getattr(input, f.name) for f in fields(takes)} if input else {}
        try:
            if not suspended:
                await info.context.active()
            return gives(**await act(info.context, **arguments))
        except Refused as refused:
            return gives(user_errors=refused.errors)

    if optional:
        resolve.__annotations__["input"] = takes | None
    else:
        resolve.__annotations__["input"] = takes
        resolve.__defaults__ = None
    return strawberry.mutation(resolver=resolve, graphql_type=gives | None, description=description)


@strawberry.type
class Query:
    node = strawberry.field(resolver=_node, graphql_type=Node | None)
    nodes = strawberry.field(
        resolver=_nodes,
        graphql_type=list[Node | None],
        description="At most 100 ids; the answer has the same order, null where there is nothing to show.",
    )
    viewer = strawberry.field(
        resolver=_viewer, graphql_type=v.Viewer | None, description="Null for an anonymous request."
    )
    user = strawberry.field(resolver=_user, graphql_type=u.User | None)
    is_login_available = strawberry.field(
        resolver=_is_login_available,
        description="Whether a new member could take it. There is no such question for e-mail addresses.",
    )
    search_users = strawberry.field(
        resolver=u.beginning_with,
        graphql_type=u.UserConnection,
        description="Members whose login or name begins with `prefix`: the 100 most followed.",
    )
    home_timeline = strawberry.field(
        resolver=t.home,
        graphql_type=t.Timeline | None,
        description="The viewer's own and followed posts. UNAUTHENTICATED without a token.",
    )
    public_timeline = strawberry.field(
        resolver=t.public,
        graphql_type=t.Timeline | None,
        description="Every public post, among those still kept.",
    )
    hashtag = strawberry.field(
        resolver=t.hashtag, graphql_type=t.Hashtag | None, description="Null when no post that is kept carries the tag."
    )
    trending_hashtags = strawberry.field(
        resolver=t.trending,
        graphql_type=list[t.Hashtag],
        description="Tags used more in the last six hours than in the week before, the most unusual first.",
    )


@strawberry.type
class Mutation:
    sign_up = _mutation(accounts.sign_up, v.SignUpInput, v.SessionPayload, suspended=True)
    log_in = _mutation(sessions.log_in, v.LogInInput, v.SessionPayload, suspended=True)
    refresh_session = _mutation(
        sessions.refresh_session,
        v.RefreshSessionInput,
        v.SessionPayload,
        description="Trades a refresh token for a new pair; the old refresh token stops working.",
        suspended=True,
    )
    log_out = _mutation(
        sessions.log_out,
        v.LogOutInput,
        v.LogOutPayload,
        optional=True,
        description="Takes effect at once, on open websockets and event streams too.",
        suspended=True,
    )
    change_password = _mutation(
        sessions.change_password,
        v.ChangePasswordInput,
        v.SessionPayload,
        description="Ends every other session.",
        suspended=True,
    )
    update_profile = _mutation(accounts.update_profile, v.UpdateProfileInput, v.ViewerPayload)
    change_email = _mutation(accounts.change_email, v.ChangeEmailInput, v.ViewerPayload, suspended=True)
    delete_account = _mutation(
        accounts.delete_account,
        v.DeleteAccountInput,
        v.DeleteAccountPayload,
        description="Ends every session, and takes away all that the member ever did; the login is free again.",
        suspended=True,
    )

    follow = _mutation(
        follows.follow,
        v.UsersInput,
        v.UsersPayload,
        description="Follows at once, or asks a private member. Doing it twice changes nothing.",
    )
    unfollow = _mutation(follows.unfollow, v.UsersInput, v.UsersPayload, description="Takes back a request, too.")
    approve_follow_requests = _mutation(follows.approve_follow_requests, v.UsersInput, v.UsersPayload)
    reject_follow_requests = _mutation(follows.reject_follow_requests, v.UsersInput, v.UsersPayload)
    remove_followers = _mutation(follows.remove_followers, v.UsersInput, v.UsersPayload)
    block = _mutation(
        blocks.block,
        v.UsersInput,
        v.UsersPayload,
        description="Ends any follow in both directions and hides each from the other.",
    )
    unblock = _mutation(blocks.unblock, v.UsersInput, v.UsersPayload)
    mute = _mutation(
        blocks.mute,
        v.UsersInput,
        v.UsersPayload,
        description="Hides their posts from the viewer's timelines and streams; they are not told.",
    )
    unmute = _mutation(blocks.unmute, v.UsersInput, v.UsersPayload)

    post = _mutation(posts.post, p.PostInput, p.PostPayload)
    repost = _mutation(posts.repost, p.RepostInput, p.RepostPayload)
    unrepost = _mutation(
        posts.unrepost, p.PostIdInput, p.PostIdPayload, description="Takes back the viewer's plain repost of a post."
    )
    delete_post = _mutation(posts.delete_post, p.PostIdInput, p.DeletePostPayload)
    hide_post = _mutation(
        posts.hide_post, p.PostIdInput, p.PostIdPayload, description="Until it is shown again, only its author sees it."
    )
    unhide_post = _mutation(posts.unhide_post, p.PostIdInput, p.PostIdPayload)
    like = _mutation(likes_and_comments.like, p.PostIdInput, p.PostIdPayload)
    unlike = _mutation(likes_and_comments.unlike, p.PostIdInput, p.PostIdPayload)
    favourite = _mutation(favourites.favourite, p.PostIdInput, p.PostIdPayload)
    unfavourite = _mutation(favourites.unfavourite, p.PostIdInput, p.PostIdPayload)
    comment = _mutation(likes_and_comments.comment, p.CommentInput, p.CommentPayload)
    delete_comment = _mutation(
        likes_and_comments.delete_comment,
        p.DeleteCommentInput,
        p.DeleteCommentPayload,
        description="By its author, or by the author of the post.",
    )
    mark_notifications_read = _mutation(
        notifications.mark_notifications_read, n.MarkNotificationsReadInput, v.ViewerPayload, optional=True
    )

    create_promotion = _mutation(
        promotions.create_promotion, a.CreatePromotionInput, a.PromotionPayload, description="Administrators only."
    )
    end_promotion = _mutation(
        promotions.end_promotion, a.EndPromotionInput, a.PromotionPayload, description="Administrators only."
    )


@strawberry.type(
    description="UNAUTHENTICATED without a token. A socket belongs to the session that opened it and ends with that "
    "session, not with the access token."
)
class Subscription:
    home_timeline = strawberry.subscription(resolver=s.home_timeline, graphql_type=s.HomeTimelineEvent)
    notifications = strawberry.subscription(resolver=n.live, graphql_type=n.NotificationEvent)
    stream = strawberry.subscription(
        resolver=w.stream,
        graphql_type=w.SiteEvent,
        description="What happens in public across the site, without those the viewer has blocked or muted or is "
        "blocked by.",
    )
    sample = strawberry.subscription(
        resolver=w.sample,
        graphql_type=w.SiteEvent,
        description="A steady random share of all public posts, `percent` from 1 to 100; the same post is in or out "
        "for everyone.",
    )
    post_activity = strawberry.subscription(
        resolver=s.post_activity,
        graphql_type=s.PostActivity,
        description="Ends with the error NOT_FOUND once the viewer sees the post no longer.",
    )
