"""Events of the whole site, as subscribers get them."""

from typing import Annotated

import strawberry

from resolvers.live import site
from resolvers.process.site_stream import StreamEventKind
from resolvers.rules import filters
from schema.types.descriptions import enum
from schema.types.fields import argument, field, is_a
from schema.types.posts import Post
from schema.types.streams import AFTER_EVENT, StreamEvent, StreamGap
from schema.types.users import User

enum(
    StreamEventKind,
    "The kind of an event of the site.",
    POST_CREATED="A public post was published, or is shown again.",
    POST_DELETED="A public post was deleted or hidden.",
    USER_FOLLOWED="A member began to follow another one. Neither is private.",
    USER_UNFOLLOWED="A member ended a follow. Neither is private.",
)


@strawberry.type(description="A public post was published, or is shown again.")
class PostCreated(StreamEvent):
    post: Post = field("The post.", shared=True)

    is_type_of = is_a(site.PostCreated)


@strawberry.type(
    description="A public post was deleted or hidden. It reaches exactly those whom its PostCreated reached, or would "
    "have reached."
)
class PostDeleted(StreamEvent):
    post_id: strawberry.ID = field("The id of the post.", shared=True)
    author_id: strawberry.ID = field("The id of the member who published it.", shared=True)

    is_type_of = is_a(site.PostDeleted)


@strawberry.type(description="A member began to follow another one. Neither is private.")
class UserFollowed(StreamEvent):
    follower: User = field("The member who follows.", shared=True)
    followed: User = field("The member who is followed.", shared=True)

    is_type_of = is_a(site.UserFollowed)


@strawberry.type(description="A member ended a follow. Neither is private.")
class UserUnfollowed(StreamEvent):
    follower: User = field("The member who followed.", shared=True)
    unfollowed: User = field("The member who was followed.", shared=True)

    is_type_of = is_a(site.UserUnfollowed)


SiteEvent = Annotated[
    PostCreated | PostDeleted | UserFollowed | UserUnfollowed | StreamGap,
    strawberry.union("SiteEvent", description="A public event of the site."),
]


@strawberry.input(description="An area on earth. It crosses the date line when west is greater than east.")
class BoundingBox:
    south: float = strawberry.field(description="The least latitude in degrees, -90 to 90, not above `north`.")
    west: float = strawberry.field(description="The western longitude in degrees, -180 to 180.")
    north: float = strawberry.field(description="The greatest latitude in degrees, -90 to 90.")
    east: float = strawberry.field(description="The eastern longitude in degrees, -180 to 180.")


@strawberry.input(
    description="An event matches when it matches any part that is given. At least one part is needed, and an empty "
    "list is refused."
)
class StreamFilter:
    follow: list[strawberry.ID] | None = strawberry.field(
        default=None, description=f"Events by any of these members, at most {filters.FOLLOW_MOST:,} ids."
    )
    track: list[str] | None = strawberry.field(
        default=None,
        description=f"At most {filters.TRACK_MOST} phrases of up to {filters.PHRASE_MOST} characters. A phrase matches "
        "when the text has each of its words as a word, #hashtag or @mention, in any order and case, punctuation "
        "aside. In scripts written without spaces each character is a word, and those of a phrase must be side by "
        "side.",
    )
    locations: list[BoundingBox] | None = strawberry.field(
        default=None, description=f"Posts located inside any of these boxes, at most {filters.BOXES_MOST}."
    )


STREAM = {
    "wanted": argument(
        StreamFilter | None, "Only events that match it. Without it, all events come.", default=None, name="filter"
    ),
    "kinds": argument(
        list[StreamEventKind] | None,
        "Only events of these kinds, at least one. Without it, events of all kinds come.",
        default=None,
    ),
    **AFTER_EVENT,
}
SAMPLE = {
    "percent": argument(int, "The share of all public posts, 1 to 100 percent. The default is 1.", default=1),
    **AFTER_EVENT,
}
