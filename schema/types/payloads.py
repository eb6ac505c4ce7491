"""The payloads of mutations: the result, or the reasons of a refusal.

Each type shows the fields of the class of the same name in `resolvers.operation.payloads`.
"""

from __future__ import annotations

from datetime import datetime

import strawberry

from resolvers.operation.payloads import ExportDataPayload as ExportDataResult
from resolvers.operation.payloads import SessionPayload as SessionResult
from schema.types.conversations import Conversation, Message
from schema.types.descriptions import USER_ERRORS, limit
from schema.types.images import Image
from schema.types.moderation import Report
from schema.types.nodes import UserError
from schema.types.posts import Comment, Post, Repost, Status
from schema.types.promotions import Promotion
from schema.types.users import User
from schema.types.viewer import Viewer

VIEWER = "The viewer, as they are after the mutation."
POST = "The post, as it is after the mutation. For a plain repost, its original. Null where the viewer may not see it."


def _access_token(root: SessionResult) -> str | None:
    return root.access_token.reveal() if root.access_token else None


def _refresh_token(root: SessionResult) -> str | None:
    return root.refresh_token.reveal() if root.refresh_token else None


def _device_token(root: SessionResult) -> str | None:
    return root.device_token.reveal() if root.device_token else None


def _url(root: ExportDataResult) -> str | None:
    return root.url.reveal() if root.url else None


@strawberry.type(description="A session that has begun or goes on. All but `userErrors` is null when it was refused.")
class SessionPayload:
    access_token: str | None = strawberry.field(
        resolver=_access_token, description="The token that requests send as `Authorization: Bearer TOKEN`."
    )
    refresh_token: str | None = strawberry.field(
        resolver=_refresh_token, description="The token that `refreshSession` takes. Each one works once."
    )
    device_token: str | None = strawberry.field(
        resolver=_device_token,
        description="To be kept on the device, also after log-out, and sent with the next log-in.",
    )
    expires_at: datetime | None = strawberry.field(
        description=f"When `accessToken` stops being accepted: {limit('access_token_seconds')} seconds after it was "
        "issued.",
    )
    viewer: Viewer | None = strawberry.field(description="The member who is signed in now.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(
    description="Where the viewer's data can be fetched. All but `userErrors` is null when it was refused."
)
class ExportDataPayload:
    url: str | None = strawberry.field(
        resolver=_url,
        description="Where the file is, a path on this server after `PUBLIC_URL`; for an hour, and for this session "
        "only. A GET of it needs no token, and works until the whole file was sent once.",
    )
    expires_at: datetime | None = strawberry.field(
        description=f"When the link stops working: {limit('export_link_seconds')} seconds after the mutation."
    )
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="Whether the session ended.")
class LogOutPayload:
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A picture after a change.")
class ImagePayload:
    image: Image | None = strawberry.field(
        description="The picture, as it is after the mutation. Null when it was refused."
    )
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="The same answer for every address, whether or not it has an account.")
class RequestPasswordResetPayload:
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="The viewer after a change.")
class ViewerPayload:
    viewer: Viewer | None = strawberry.field(description=f"{VIEWER} Null when it was refused.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="An account that is deleted.")
class DeleteAccountPayload:
    deleted_user_id: strawberry.ID | None = strawberry.field(
        description="The id that the `User` had. Null when it was refused."
    )
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="Members after a change. Some may be done and others refused.")
class UsersPayload:
    users: list[User] = strawberry.field(
        description="The members for whom it was done, as the viewer sees them now. Those out of sight are left out.",
    )
    viewer: Viewer | None = strawberry.field(description=VIEWER)
    user_errors: list[UserError] = strawberry.field(
        description="Why it was refused for some members, in the order of the input."
    )


@strawberry.type(description="A status that is published.")
class PostPayload:
    status: Status | None = strawberry.field(description="The new status. Null when it was refused.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A repost that is published.")
class RepostPayload:
    repost: Repost | None = strawberry.field(description="The new repost. Null when it was refused.")
    original: Post | None = strawberry.field(
        description="The post that it passes on, with its new counts. Null when it was refused, or the original is "
        "gone.",
    )
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A post after a change.")
class PostIdPayload:
    post: Post | None = strawberry.field(description=POST)
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A post that is deleted.")
class DeletePostPayload:
    deleted_post_id: strawberry.ID | None = strawberry.field(
        description="The id that the post had. Null when it was refused."
    )
    author: User | None = strawberry.field(description="Its author, with the new `postCount`.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A comment that is published.")
class CommentPayload:
    comment: Comment | None = strawberry.field(description="The new comment. Null when it was refused.")
    post: Post | None = strawberry.field(description=POST)
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A comment that is deleted.")
class DeleteCommentPayload:
    deleted_comment_id: strawberry.ID | None = strawberry.field(
        description="The id that the comment had. Null when it was refused."
    )
    post: Post | None = strawberry.field(description=POST)
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A promotion after a change.")
class PromotionPayload:
    promotion: Promotion | None = strawberry.field(description="The promotion. Null when it was refused.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


CONVERSATION = "The conversation, as it is after the mutation. Null where the viewer does not see it."


@strawberry.type(description="A message that is sent.")
class MessagePayload:
    message: Message | None = strawberry.field(description="The new message. Null when it was refused.")
    conversation: Conversation | None = strawberry.field(description=CONVERSATION)
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A message that is deleted.")
class DeleteMessagePayload:
    deleted_message_id: strawberry.ID | None = strawberry.field(
        description="The id that the message had. Null when it was refused."
    )
    conversation: Conversation | None = strawberry.field(description=CONVERSATION)
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A conversation after a change.")
class ConversationPayload:
    conversation: Conversation | None = strawberry.field(description=f"{CONVERSATION} Null once the viewer has left.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A report that was filed or resolved.")
class ReportPayload:
    report: Report | None = strawberry.field(description="The report, as it is after the mutation.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)


@strawberry.type(description="A member on whom a moderator or an administrator acted.")
class UserPayload:
    user: User | None = strawberry.field(description="The member, as they are after the mutation.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)
