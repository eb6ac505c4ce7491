"""Inputs of the mutations of posts and comments."""

import strawberry

from resolvers.reading.mentions import MENTIONS_MOST
from resolvers.reading.pictures import IMAGES_MOST
from schema.types.descriptions import IDEMPOTENCY_KEY, POST_ID, limit
from schema.types.images import ImageInput
from schema.types.locations import LocationInput


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
