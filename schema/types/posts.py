"""Statuses, reposts and comments, and the inputs of their mutations."""

from collections.abc import Awaitable, Sequence
from typing import Any

import strawberry

from resolvers import favourites, likes_and_comments, posts
from resolvers.operation.context import Context
from resolvers.reading import groups, hydrate
from resolvers.reading.named_members import MENTIONS_MOST
from resolvers.reading.pictures import IMAGES_MOST
from schema.types.descriptions import IDEMPOTENCY_KEY, POST_ID, limit
from schema.types.fields import attribute_of_each, batched, field, is_a, later, resolved
from schema.types.images import Image, ImageInput
from schema.types.nodes import Node, created
from schema.types.paging import PAGE, connection, since
from schema.types.users import User
from store.records import posts as records

LIKE_COUNT = "How many members like it, the same for every viewer."
QUOTE_COUNT = "How many quotes it has, the same for every viewer."
COMMENT_COUNT = "How many comments it has, the same for every viewer."
REPLY_COUNT = "How many direct replies it has, the same for every viewer."
REPOST_COUNT = "How many plain reposts it has, the same for every viewer. Quotes are counted apart."
TIMELINES = "schema.types.timelines"  # has the connections of posts, and imports this module


def _authors(context: Context, written: Sequence[records.Post | records.Comment]) -> Awaitable[Any]:
    return hydrate.users(context, [one.author for one in written])


@strawberry.interface(description="A post of a member: a `Status`, or a `Repost` of a post.")
class Post(Node):
    author = batched(_authors, User, "The member who published it.", cached=True, shared=True)
    text: str = field(
        f"At most {limit('max_text')} characters in NFC. Empty for a plain repost, and perhaps for "
        "a post with pictures.",
        cached=True,
        shared=True,
    )
    mentions = batched(
        posts.mentioned,
        list[User],
        "Members whom the text names with @login, in order of appearance, repeated as often as in the "
        "text. Members whom the viewer may not see are left out.",
        cached=True,
        shared=True,
    )
    hashtags: list[str] = field(
        "Lower-cased, without the leading #, in order of appearance, repeated as often as in the text.",
        cached=True,
        shared=True,
    )
    images: list[Image] = field("Its pictures, at most four, in the order that its author gave them.", cached=True)
    created_at = created()
    like_count: int = field(LIKE_COUNT, cached=True, shared=True)
    repost_count: int = field(REPOST_COUNT, cached=True, shared=True)
    quote_count: int = field(QUOTE_COUNT, cached=True, shared=True)
    comment_count: int = field(COMMENT_COUNT, cached=True, shared=True)
    reply_count: int = field(REPLY_COUNT, cached=True, shared=True)
    is_hidden: bool = field(
        "Whether its author has hidden it. Until it is shown again, only the author and moderators see it.",
        cached=True,
        shared=True,
    )
    viewer_has_liked = batched(
        posts.viewer_has_liked, bool, "Whether the viewer likes it. False for an anonymous request.", cached=True
    )
    viewer_has_reposted = batched(
        posts.viewer_has_reposted,
        bool,
        "Whether the viewer has reposted it plainly. False for an anonymous request.",
        cached=True,
    )
    viewer_has_favourited = batched(
        favourites.viewer_has_favourited,
        bool,
        "Whether it is among the viewer's favourites. False for an anonymous request.",
        cached=True,
    )
    liked_by = resolved(
        likes_and_comments.liked_by,
        later("LikeConnection", __name__),
        "Members who like it, newest like first.",
        takes=PAGE,
    )
    reposts = resolved(
        posts.reposts, later("RepostConnection", __name__), "Its plain reposts, newest first.", takes=PAGE
    )
    quotes = resolved(posts.quotes, later("RepostConnection", __name__), "Its quotes, newest first.", takes=PAGE)
    comments = resolved(
        likes_and_comments.comments,
        later("CommentConnection", __name__),
        "The comments on it, newest first.",
        takes=PAGE,
    )
    replies = resolved(posts.replies, later("PostConnection", TIMELINES), "Direct replies, oldest first.", takes=PAGE)


@strawberry.type(description="A place on earth.")
class Location:
    latitude: float = field("Degrees, -90 to 90, north positive.", cached=True, shared=True)
    longitude: float = field("Degrees, -180 to 180, east positive.", cached=True, shared=True)


@strawberry.type(description="A post in a member's own words.")
class Status(Post):
    in_reply_to = resolved(
        posts.in_reply_to,
        Post | None,
        "The post this one answers. Null when it answers none, or one that is gone or that the viewer may not see.",
        cached=True,
    )
    conversation = resolved(
        posts.conversation,
        later("PostConnection", TIMELINES),
        "The whole conversation that this status belongs to, oldest first, from its root down.",
        takes=PAGE,
    )
    location: Location | None = field(
        "Where it was posted, as the author says. Null when the author did not say.", cached=True, shared=True
    )

    group = batched(
        groups.of_posts,
        later("Group", "schema.types.groups") | None,
        "The group it was posted in. Such a post is in that group's timeline and its author's profile, for "
        "those who may see what is in the group. Null for others.",
        cached=True,
    )

    is_type_of = is_a(records.Status, is_kept=True)


@strawberry.type(
    description="A repost of a post. With text it is a quote: a post of its own, which stays when the original is "
    "deleted. With empty `text` it is a plain repost. Likes, favourites, comments, replies and reposts of a plain "
    "repost apply to its original. It shows the original's counts and lists, and disappears with the original."
)
class Repost(Post):
    like_count = batched(attribute_of_each(posts.targets, "like_count"), int, LIKE_COUNT, cached=True, shared=True)
    repost_count = batched(
        attribute_of_each(posts.targets, "repost_count"), int, REPOST_COUNT, cached=True, shared=True
    )
    quote_count = batched(attribute_of_each(posts.targets, "quote_count"), int, QUOTE_COUNT, cached=True, shared=True)
    comment_count = batched(
        attribute_of_each(posts.targets, "comment_count"), int, COMMENT_COUNT, cached=True, shared=True
    )
    reply_count = batched(attribute_of_each(posts.targets, "reply_count"), int, REPLY_COUNT, cached=True, shared=True)
    original = batched(
        posts.originals,
        Post | None,
        "The reposted post. Null once it is deleted, and where the viewer may not see it.",
        cached=True,
        shared=True,
    )

    is_type_of = is_a(records.Repost, is_kept=True)


RepostConnection = connection(Repost, "a repost", "reposts")


LikeConnection = connection(
    User,
    "a member who likes a post",
    "likes",
    name="Like",
    node_is="The member who likes the post.",
    liked_at=since("When the like was given."),
)


@strawberry.type(
    description="A comment on a post. Everybody who may see the post sees it. A block in either direction hides it, "
    "and so does the suspension of its author."
)
class Comment(Node):
    author = batched(_authors, User, "The member who wrote it.", cached=True)
    text: str = field(f"1 to {limit('max_text')} characters in NFC.", cached=True)
    created_at = created()
    post = resolved(
        likes_and_comments.comment_post,
        Post | None,
        "The post that it is on. Null where the viewer may not see that post.",
    )
    reply_to = resolved(
        likes_and_comments.comment_answered,
        later("Comment", __name__) | None,
        "The comment on the same post that this one answers. Null when it answers none, or one that is "
        "gone or that the viewer may not see.",
    )

    is_type_of = is_a(records.Comment, is_kept=True)


CommentConnection = connection(Comment, "a comment", "comments")


@strawberry.input(description="A place on earth.")
class LocationInput:
    latitude: float = strawberry.field(description="Degrees, -90 to 90, north positive.")
    longitude: float = strawberry.field(description="Degrees, -180 to 180, east positive.")


@strawberry.input(description="A new status.")
class PostInput:
    text: str = strawberry.field(
        description=f"1 to {limit('max_text')} characters after NFC normalisation and trimming. At most "
        f"{MENTIONS_MOST} different members are mentioned. It may be empty where there are images."
    )
    images: list[ImageInput] | None = strawberry.field(
        default=None, description=f"At most {IMAGES_MOST} uploads for posts that are READY."
    )
    in_reply_to_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id of the post that this one answers. A plain repost acts for its original."
    )
    group_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="The id of the group to post in, of which the viewer is a member. A post in a group is answered in "
        "that group.",
    )
    location: LocationInput | None = strawberry.field(default=None, description="Where it is posted.")
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)


@strawberry.input(description="A new repost.")
class RepostInput:
    post_id: strawberry.ID = strawberry.field(description=POST_ID)
    text: str | None = strawberry.field(
        default="",
        description=f"At most {limit('max_text')} characters after NFC normalisation and trimming. Empty, the default, "
        "makes a plain repost. Anything else makes a quote.",
    )
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)


@strawberry.input(description="A post.")
class PostIdInput:
    post_id: strawberry.ID = strawberry.field(
        description=f"{POST_ID} Deleting, hiding and pinning concern the repost itself."
    )


@strawberry.input(description="A new comment.")
class CommentInput:
    post_id: strawberry.ID = strawberry.field(description=POST_ID)
    text: str = strawberry.field(
        description=f"1 to {limit('max_text')} characters after NFC normalisation and trimming. At most "
        f"{MENTIONS_MOST} different members are mentioned."
    )
    reply_to_id: strawberry.ID | None = strawberry.field(
        default=None, description="The id of the comment on the same post that this one answers."
    )
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)


@strawberry.input(description="A comment to delete.")
class DeleteCommentInput:
    comment_id: strawberry.ID = strawberry.field(description="The id of the comment.")
