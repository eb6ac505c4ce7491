"""Payloads of mutations: the result, or user errors. `schema.types.payloads` describes them to clients."""

from datetime import datetime

from msgspec import Struct

from resolvers.process.errors import UserError
from resolvers.process.tokens import Claims
from store.conversations.records import Conversation, Message
from store.groups.records import Group
from store.moderation.records import Report
from store.pictures.uploads import Upload
from store.promotions import Promotion
from store.records.members import User
from store.records.pictures import Image
from store.records.posts import Comment, Post, Repost, Status
from store.secret import Secret


class Payload(Struct, frozen=True, kw_only=True):
    """The answer of every mutation. A refusal has `user_errors` alone."""

    user_errors: list[UserError] = []


class SessionPayload(Payload, frozen=True, kw_only=True):
    """A session that was opened or continued, with its tokens."""

    access_token: Secret | None = None
    refresh_token: Secret | None = None
    device_token: Secret | None = None
    expires_at: datetime | None = None
    viewer: Claims | None = None


class LogOutPayload(Payload, frozen=True, kw_only=True):
    """Whether sessions ended."""


class RequestPasswordResetPayload(Payload, frozen=True, kw_only=True):
    """Always the same, whether or not the address has an account."""


class ViewerPayload(Payload, frozen=True, kw_only=True):
    """The viewer after a change."""

    viewer: Claims | None = None


class EnableTwoFactorPayload(Payload, frozen=True, kw_only=True):
    """A secret for an authenticator app, and its URI."""

    secret: Secret | None = None
    uri: Secret | None = None


class ConfirmTwoFactorPayload(Payload, frozen=True, kw_only=True):
    """The recovery codes of a second factor that was turned on."""

    recovery_codes: list[Secret] | None = None
    viewer: Claims | None = None


class DeleteAccountPayload(Payload, frozen=True, kw_only=True):
    """The global id of the member whose account was deleted."""

    deleted_user_id: str | None = None


class ExportDataPayload(Payload, frozen=True, kw_only=True):
    """The link to the viewer's data, and when it expires."""

    url: Secret | None = None
    expires_at: datetime | None = None


class UsersPayload(Payload, frozen=True, kw_only=True):
    """Members after a change. The change may have succeeded for some members and been refused for others."""

    users: list[User] = []
    viewer: Claims | None = None


class UploadPayload(Payload, frozen=True, kw_only=True):
    """An upload that was announced."""

    upload: Upload | None = None


class PostPayload(Payload, frozen=True, kw_only=True):
    """A published status."""

    status: Status | None = None


class RepostPayload(Payload, frozen=True, kw_only=True):
    """A published repost, and its original."""

    repost: Repost | None = None
    original: Post | None = None


class PostIdPayload(Payload, frozen=True, kw_only=True):
    """A post after a change."""

    post: Post | None = None


class DeletePostPayload(Payload, frozen=True, kw_only=True):
    """The global id of a deleted post, and its author."""

    deleted_post_id: str | None = None
    author: User | None = None


class CommentPayload(Payload, frozen=True, kw_only=True):
    """A published comment, and its post."""

    comment: Comment | None = None
    post: Post | None = None


class DeleteCommentPayload(Payload, frozen=True, kw_only=True):
    """The global id of a deleted comment, and its post."""

    deleted_comment_id: str | None = None
    post: Post | None = None


class PromotionPayload(Payload, frozen=True, kw_only=True):
    """A promotion after a change."""

    promotion: Promotion | None = None


class ImagePayload(Payload, frozen=True, kw_only=True):
    """A picture after a change."""

    image: Image | None = None


class GroupPayload(Payload, frozen=True, kw_only=True):
    """A group after a change. The change may have succeeded for some members and been refused for others."""

    group: Group | None = None


class DeleteGroupPayload(Payload, frozen=True, kw_only=True):
    """The global id of a deleted group."""

    deleted_group_id: str | None = None


class ReportPayload(Payload, frozen=True, kw_only=True):
    """A report that was filed or resolved."""

    report: Report | None = None


class UserPayload(Payload, frozen=True, kw_only=True):
    """A member after a change."""

    user: User | None = None


class MessagePayload(Payload, frozen=True, kw_only=True):
    """A message that was sent, and its conversation."""

    message: Message | None = None
    conversation: Conversation | None = None


class DeleteMessagePayload(Payload, frozen=True, kw_only=True):
    """The global id of a deleted message, and its conversation."""

    deleted_message_id: str | None = None
    conversation: Conversation | None = None


class ConversationPayload(Payload, frozen=True, kw_only=True):
    """A conversation after a change."""

    conversation: Conversation | None = None
