"""The answers of mutations: the result, or the refusals. The schema's payload of the same name shows each field."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from resolvers.operation.errors import UserError
from resolvers.operation.tokens import Claims
from store.promotions import Promotion
from store.records import Comment, Post, User
from store.secret import Secret


class Payload(Struct, frozen=True, kw_only=True):
    """The answer of every mutation. A refusal has `user_errors` alone."""

    user_errors: list[UserError] = []


class SessionPayload(Payload, frozen=True, kw_only=True):
    """A session that has begun or goes on, with its tokens."""

    access_token: Secret | None = None
    refresh_token: Secret | None = None
    device_token: Secret | None = None
    expires_at: datetime | None = None
    viewer: Claims | None = None


class LogOutPayload(Payload, frozen=True, kw_only=True):
    """Whether sessions ended."""


class ViewerPayload(Payload, frozen=True, kw_only=True):
    """The viewer after a change."""

    viewer: Claims | None = None


class DeleteAccountPayload(Payload, frozen=True, kw_only=True):
    """The global id of a member who is gone."""

    deleted_user_id: str | None = None


class UsersPayload(Payload, frozen=True, kw_only=True):
    """Members after a change. Some may be done and others refused."""

    users: list[User] = []
    viewer: Claims | None = None


class PostPayload(Payload, frozen=True, kw_only=True):
    """A status that is published."""

    status: Post | None = None


class RepostPayload(Payload, frozen=True, kw_only=True):
    """A repost that is published, and its original."""

    repost: Post | None = None
    original: Post | None = None


class PostIdPayload(Payload, frozen=True, kw_only=True):
    """A post after a change."""

    post: Post | None = None


class DeletePostPayload(Payload, frozen=True, kw_only=True):
    """The global id of a post that is gone, and its author."""

    deleted_post_id: str | None = None
    author: User | None = None


class CommentPayload(Payload, frozen=True, kw_only=True):
    """A comment that is published, and the post that it is on."""

    comment: Comment | None = None
    post: Post | None = None


class DeleteCommentPayload(Payload, frozen=True, kw_only=True):
    """The global id of a comment that is gone, and the post that it was on."""

    deleted_comment_id: str | None = None
    post: Post | None = None


class PromotionPayload(Payload, frozen=True, kw_only=True):
    """A promotion after a change."""

    promotion: Promotion | None = None
