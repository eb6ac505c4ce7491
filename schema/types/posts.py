"""Statuses, reposts and comments."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import strawberry

from resolvers import favourites, likes_and_comments, posts, replies
from resolvers.reading import hydrate
from resolvers.reading.paging import NodeEdge
from schema.types.locations import Location, LocationInput
from schema.types.nodes import After, First, Info, Node, PageInfo, UserError, batched, created_at, is_a, later, nodes_of
from schema.types.users import User
from store import records

TIMELINES = "schema.types.timelines"  # has the connections of posts, and needs this module


def _author(roots: list[records.Post | records.Comment], info: Info) -> Any:
    return hydrate.users_soon(info.context, [root.author for root in roots])


def _mentions(roots: list[records.Post], info: Info) -> Awaitable[Any]:
    return posts.mentioned(info.context, roots)


async def _like_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.like_count for shown in await posts.stand_for(info.context, roots)]


async def _repost_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.repost_count for shown in await posts.stand_for(info.context, roots)]


async def _quote_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.quote_count for shown in await posts.stand_for(info.context, roots)]


async def _comment_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.comment_count for shown in await posts.stand_for(info.context, roots)]


async def _reply_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.reply_count for shown in await posts.stand_for(info.context, roots)]


def _viewer_has_liked(roots: list[records.Post], info: Info) -> Awaitable[list[bool]]:
    return posts.viewer_has_liked(info.context, roots)


def _viewer_has_reposted(roots: list[records.Post], info: Info) -> Awaitable[list[bool]]:
    return posts.viewer_has_reposted(info.context, roots)


def _viewer_has_favourited(roots: list[records.Post], info: Info) -> Awaitable[list[bool]]:
    return favourites.viewer_has_favourited(info.context, roots)


def _liked_by(root: records.Post, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return likes_and_comments.liked_by(info.context, root, first, after)


def _reposts(root: records.Post, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return posts.reposts(info.context, root, first, after)


def _quotes(root: records.Post, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return posts.quotes(info.context, root, first, after)


def _comments(root: records.Post, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return likes_and_comments.comments(info.context, root, first, after)


def _replies(root: records.Post, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return replies.replies(info.context, root, first, after)


@strawberry.interface(description="What members publish: a `Status`, or a `Repost` of one.")
class Post(Node):
    author = batched(_author, graphql_type=User)
    text: str
    mentions = batched(_mentions, graphql_type=list[User])
    hashtags: list[str] = strawberry.field(
        description="Lower-cased, without the leading #, in order of appearance, repeated as often as in the text."
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime)
    like_count: int
    repost_count: int = strawberry.field(description="Plain reposts; quotes are counted apart.")
    quote_count: int
    comment_count: int
    reply_count: int
    is_hidden: bool = strawberry.field(
        description="Hidden by its author: until it is shown again, nobody else sees it."
    )
    viewer_has_liked = batched(_viewer_has_liked, graphql_type=bool)
    viewer_has_reposted = batched(_viewer_has_reposted, graphql_type=bool)
    viewer_has_favourited = batched(_viewer_has_favourited, graphql_type=bool)
    liked_by = strawberry.field(resolver=_liked_by, graphql_type=later("LikeConnection", __name__))
    reposts = strawberry.field(resolver=_reposts, graphql_type=later("RepostConnection", __name__))
    quotes = strawberry.field(resolver=_quotes, graphql_type=later("RepostConnection", __name__))
    comments = strawberry.field(resolver=_comments, graphql_type=later("CommentConnection", __name__))
    replies = strawberry.field(
        resolver=_replies, graphql_type=later("PostConnection", TIMELINES), description="Direct replies, oldest first."
    )


def _in_reply_to(root: records.Status, info: Info) -> Awaitable[Any]:
    return replies.in_reply_to(info.context, root)


def _conversation(root: records.Status, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return replies.conversation(info.context, root, first, after)


@strawberry.type(description="A post of a member's own words.")
class Status(Post):
    in_reply_to = strawberry.field(
        resolver=_in_reply_to,
        graphql_type=Post | None,
        description="The post this one answers; null when it answers none, or that one is gone or hidden.",
    )
    conversation = strawberry.field(
        resolver=_conversation,
        graphql_type=later("PostConnection", TIMELINES),
        description="The whole conversation this status belongs to, oldest first, from its root down.",
    )
    location: Location | None

    is_type_of = is_a(records.Status)


def _original(roots: list[records.Repost], info: Info) -> Awaitable[Any]:
    return posts.originals(info.context, roots)


@strawberry.type(
    description="A post passed on. With text it is a quote: a post of its own. With empty `text` it is a plain repost: "
    "liking, favouriting, commenting, answering or reposting it does so to its original, whose numbers and lists it "
    "shows, and it goes when the original goes."
)
class Repost(Post):
    like_count = batched(_like_count, graphql_type=int)
    repost_count = batched(_repost_count, graphql_type=int, description="Plain reposts; quotes are counted apart.")
    quote_count = batched(_quote_count, graphql_type=int)
    comment_count = batched(_comment_count, graphql_type=int)
    reply_count = batched(_reply_count, graphql_type=int)
    original = batched(_original, graphql_type=Post | None, description="The post passed on; null once it is deleted.")

    is_type_of = is_a(records.Repost)


@strawberry.type
class RepostEdge:
    cursor: str
    node: Repost


@strawberry.type
class RepostConnection:
    edges: list[RepostEdge]
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Repost])
    page_info: PageInfo


def _at(root: NodeEdge[Any]) -> datetime:
    return root.at


@strawberry.type
class LikeEdge:
    cursor: str
    node: User
    liked_at = strawberry.field(resolver=_at)


@strawberry.type
class LikeConnection:
    edges: list[LikeEdge]
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[User])
    page_info: PageInfo


def _comment_post(root: records.Comment, info: Info) -> Awaitable[Any]:
    return likes_and_comments.comment_post(info.context, root)


def _comment_answered(root: records.Comment, info: Info) -> Awaitable[Any]:
    return likes_and_comments.comment_answered(info.context, root)


@strawberry.type
class Comment(Node):
    author = batched(_author, graphql_type=User)
    text: str
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime)
    post = strawberry.field(resolver=_comment_post, graphql_type=Post | None)
    reply_to = strawberry.field(resolver=_comment_answered, graphql_type=later("Comment", __name__) | None)

    is_type_of = is_a(records.Comment)


@strawberry.type
class CommentEdge:
    cursor: str
    node: Comment


@strawberry.type
class CommentConnection:
    edges: list[CommentEdge]
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Comment])
    page_info: PageInfo


IDEMPOTENCY = (
    "1 to 64 characters, the member's own. A retry with the same key and input within a day returns the first result "
    "instead of acting again; with other input it is a CONFLICT."
)


@strawberry.input
class PostInput:
    text: str = strawberry.field(description="1 to 500 characters after NFC normalisation and trimming.")
    in_reply_to_id: strawberry.ID | None = None
    location: LocationInput | None = None
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY)


@strawberry.input
class RepostInput:
    post_id: strawberry.ID
    text: str | None = ""
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY)


@strawberry.input
class PostIdInput:
    post_id: strawberry.ID


@strawberry.input
class CommentInput:
    post_id: strawberry.ID
    text: str
    reply_to_id: strawberry.ID | None = None
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY)


@strawberry.input
class DeleteCommentInput:
    comment_id: strawberry.ID


@strawberry.type
class PostPayload:
    status: Status | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class RepostPayload:
    repost: Repost | None = None
    original: Post | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class PostIdPayload:
    post: Post | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class DeletePostPayload:
    deleted_post_id: strawberry.ID | None = None
    author: User | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class CommentPayload:
    comment: Comment | None = None
    post: Post | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)


@strawberry.type
class DeleteCommentPayload:
    deleted_comment_id: strawberry.ID | None = None
    post: Post | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)
