"""Statuses, reposts and comments."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import strawberry

from resolvers import favourites, likes_and_comments, posts, replies
from resolvers.reading import groups, hydrate
from resolvers.reading.paging import NodeEdge
from schema.types.descriptions import CREATED_AT, CURSOR, EDGES, NODES, PAGE_INFO, connection, edge, limit
from schema.types.images import Image
from schema.types.locations import Location
from schema.types.nodes import After, First, Info, Node, PageInfo, batched, created_at, is_a, later, nodes_of
from schema.types.users import User
from store.records import posts as records

LIKE_COUNT = "How many members like it, the same for every viewer."
QUOTE_COUNT = "How many quotes it has, the same for every viewer."
COMMENT_COUNT = "How many comments it has, the same for every viewer."
REPLY_COUNT = "How many direct replies it has, the same for every viewer."
REPOST_COUNT = "How many plain reposts it has, the same for every viewer. Quotes are counted apart."
TIMELINES = "schema.types.timelines"  # has the connections of posts, and imports this module


def _author(roots: list[records.Post | records.Comment], info: Info) -> Awaitable[Any]:
    return hydrate.users(info.context, [root.author for root in roots])


def _mentions(roots: list[records.Post], info: Info) -> Awaitable[Any]:
    return posts.mentioned(info.context, roots)


async def _like_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.like_count for shown in await posts.targets(info.context, roots)]


async def _repost_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.repost_count for shown in await posts.targets(info.context, roots)]


async def _quote_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.quote_count for shown in await posts.targets(info.context, roots)]


async def _comment_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.comment_count for shown in await posts.targets(info.context, roots)]


async def _reply_count(roots: list[records.Post], info: Info) -> list[int]:
    return [shown.reply_count for shown in await posts.targets(info.context, roots)]


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


@strawberry.interface(description="A post of a member: a `Status`, or a `Repost` of a post.")
class Post(Node):
    author = batched(_author, graphql_type=User, description="The member who published it.")
    text: str = strawberry.field(
        description=f"At most {limit('max_text')} characters in NFC. Empty for a plain repost, and perhaps for "
        "a post with pictures."
    )
    mentions = batched(
        _mentions,
        graphql_type=list[User],
        description="Members whom the text names with @login, in order of appearance, repeated as often as in the "
        "text. Members whom the viewer may not see are left out.",
    )
    hashtags: list[str] = strawberry.field(
        description="Lower-cased, without the leading #, in order of appearance, repeated as often as in the text."
    )
    images: list[Image] = strawberry.field(
        description="Its pictures, at most four, in the order that its author gave them."
    )
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description=CREATED_AT)
    like_count: int = strawberry.field(description=LIKE_COUNT)
    repost_count: int = strawberry.field(description=REPOST_COUNT)
    quote_count: int = strawberry.field(description=QUOTE_COUNT)
    comment_count: int = strawberry.field(description=COMMENT_COUNT)
    reply_count: int = strawberry.field(description=REPLY_COUNT)
    is_hidden: bool = strawberry.field(
        description="Whether its author has hidden it. Until it is shown again, only the author and moderators see it."
    )
    viewer_has_liked = batched(
        _viewer_has_liked, graphql_type=bool, description="Whether the viewer likes it. False for an anonymous request."
    )
    viewer_has_reposted = batched(
        _viewer_has_reposted,
        graphql_type=bool,
        description="Whether the viewer has reposted it plainly. False for an anonymous request.",
    )
    viewer_has_favourited = batched(
        _viewer_has_favourited,
        graphql_type=bool,
        description="Whether it is among the viewer's favourites. False for an anonymous request.",
    )
    liked_by = strawberry.field(
        resolver=_liked_by,
        graphql_type=later("LikeConnection", __name__),
        description="Members who like it, newest like first.",
    )
    reposts = strawberry.field(
        resolver=_reposts,
        graphql_type=later("RepostConnection", __name__),
        description="Its plain reposts, newest first.",
    )
    quotes = strawberry.field(
        resolver=_quotes, graphql_type=later("RepostConnection", __name__), description="Its quotes, newest first."
    )
    comments = strawberry.field(
        resolver=_comments,
        graphql_type=later("CommentConnection", __name__),
        description="The comments on it, newest first.",
    )
    replies = strawberry.field(
        resolver=_replies, graphql_type=later("PostConnection", TIMELINES), description="Direct replies, oldest first."
    )


def _in_reply_to(root: records.Status, info: Info) -> Awaitable[Any]:
    return replies.in_reply_to(info.context, root)


def _conversation(root: records.Status, info: Info, first: First = 20, after: After = None) -> Awaitable[Any]:
    return replies.conversation(info.context, root, first, after)


def _group(roots: list[records.Status], info: Info) -> Awaitable[Any]:
    return groups.of_posts(info.context, roots)


@strawberry.type(description="A post in a member's own words.")
class Status(Post):
    in_reply_to = strawberry.field(
        resolver=_in_reply_to,
        graphql_type=Post | None,
        description="The post this one answers. Null when it answers none, or one that is gone or that the viewer may "
        "not see.",
    )
    conversation = strawberry.field(
        resolver=_conversation,
        graphql_type=later("PostConnection", TIMELINES),
        description="The whole conversation that this status belongs to, oldest first, from its root down.",
    )
    location: Location | None = strawberry.field(
        description="Where it was posted, as the author says. Null when the author did not say."
    )

    group = batched(
        _group,
        graphql_type=later("Group", "schema.types.groups") | None,
        description="The group it was posted in. Such a post is in that group's timeline and its author's profile, for "
        "those who may see what is in the group. Null for others.",
    )

    is_type_of = is_a(records.Status)


def _original(roots: list[records.Repost], info: Info) -> Awaitable[Any]:
    return posts.originals(info.context, roots)


@strawberry.type(
    description="A repost of a post. With text it is a quote: a post of its own, which stays when the original is "
    "deleted. With empty `text` it is a plain repost. Likes, favourites, comments, replies and reposts of a plain "
    "repost apply to its original. It shows the original's counts and lists, and disappears with the original."
)
class Repost(Post):
    like_count = batched(_like_count, graphql_type=int, description=LIKE_COUNT)
    repost_count = batched(_repost_count, graphql_type=int, description=REPOST_COUNT)
    quote_count = batched(_quote_count, graphql_type=int, description=QUOTE_COUNT)
    comment_count = batched(_comment_count, graphql_type=int, description=COMMENT_COUNT)
    reply_count = batched(_reply_count, graphql_type=int, description=REPLY_COUNT)
    original = batched(
        _original,
        graphql_type=Post | None,
        description="The reposted post. Null once it is deleted, and where the viewer may not see it.",
    )

    is_type_of = is_a(records.Repost)


@strawberry.type(description=edge("a repost"))
class RepostEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Repost = strawberry.field(description="The repost.")


@strawberry.type(description=connection("reposts"))
class RepostConnection:
    edges: list[RepostEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Repost], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


def _at(root: NodeEdge[Any]) -> datetime:
    return root.at


@strawberry.type(description=edge("a member who likes a post"))
class LikeEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: User = strawberry.field(description="The member who likes the post.")
    liked_at = strawberry.field(resolver=_at, description="When the like was given.")


@strawberry.type(description=connection("likes"))
class LikeConnection:
    edges: list[LikeEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[User], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)


def _comment_post(root: records.Comment, info: Info) -> Awaitable[Any]:
    return likes_and_comments.comment_post(info.context, root)


def _comment_answered(root: records.Comment, info: Info) -> Awaitable[Any]:
    return likes_and_comments.comment_answered(info.context, root)


@strawberry.type(
    description="A comment on a post. Everybody who may see the post sees it. A block in either direction hides it, "
    "and so does the suspension of its author."
)
class Comment(Node):
    author = batched(_author, graphql_type=User, description="The member who wrote it.")
    text: str = strawberry.field(description=f"1 to {limit('max_text')} characters in NFC.")
    created_at = strawberry.field(resolver=created_at, graphql_type=datetime, description=CREATED_AT)
    post = strawberry.field(
        resolver=_comment_post,
        graphql_type=Post | None,
        description="The post that it is on. Null where the viewer may not see that post.",
    )
    reply_to = strawberry.field(
        resolver=_comment_answered,
        graphql_type=later("Comment", __name__) | None,
        description="The comment on the same post that this one answers. Null when it answers none, or one that is "
        "gone or that the viewer may not see.",
    )

    is_type_of = is_a(records.Comment)


@strawberry.type(description=edge("a comment"))
class CommentEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Comment = strawberry.field(description="The comment.")


@strawberry.type(description=connection("comments"))
class CommentConnection:
    edges: list[CommentEdge] = strawberry.field(description=EDGES)
    nodes = strawberry.field(resolver=nodes_of, graphql_type=list[Comment], description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)
