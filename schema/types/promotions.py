"""Promotions: posts that sponsors pay to show."""

from collections.abc import Awaitable
from datetime import datetime
from typing import Annotated, Any

import strawberry

from resolvers.operation.context import Context
from resolvers.promotions import TITLE_MOST, URL_MOST
from resolvers.reading import hydrate, promoted_page
from schema.types.descriptions import limit
from schema.types.fields import field, is_a, resolved
from schema.types.nodes import Node
from schema.types.posts import Status
from schema.types.users import User
from store import promotions

TITLE = f"The title, 1 to {TITLE_MOST} characters in one line."
TEXT = f"The text, 1 to {limit('max_text')} characters."
URL = f"The http or https address that it leads to, at most {URL_MOST:,} characters."


@strawberry.type(description="A sponsor's own title, text and link, for a promotion of neither a status nor a member.")
class Advertisement:
    title: str = field(TITLE)
    text: str = field(TEXT)
    url: str = field(URL)

    is_type_of = is_a(promotions.Advertisement)


PromotionSubject = Annotated[
    Status | User | Advertisement, strawberry.union("PromotionSubject", description="The content of a promotion.")
]


def _sponsor(context: Context, promotion: promotions.Promotion) -> Awaitable[Any]:
    return hydrate.user(context, promotion.sponsor)


@strawberry.type(
    description="Something that a sponsor pays to show. It is every tenth entry on a page of the home, the public "
    "timeline or a hashtag's timeline in the order RECENT. A page with fewer than ten entries has none. A promotion "
    "counts within `first` and `last`."
)
class Promotion(Node):
    sponsor = resolved(_sponsor, User | None, "The member who pays. Null where the viewer may not see them.")
    subject = resolved(
        promoted_page.subject,
        PromotionSubject | None,
        "The promoted status, member or advertisement. Null where the viewer may not see it.",
    )

    is_type_of = is_a(promotions.Promotion)


@strawberry.input(description="A new advertisement.")
class AdvertisementInput:
    title: str = strawberry.field(description=TITLE)
    text: str = strawberry.field(description=TEXT)
    url: str = strawberry.field(description=URL)


@strawberry.input(one_of=True, description="The content of a promotion: exactly one of these.")
class PromotionSubjectInput:
    status_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET, description="The id of a status that the administrator may see."
    )
    user_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET, description="The id of a member whom the administrator may see."
    )
    advertisement: AdvertisementInput | None = strawberry.field(
        default=strawberry.UNSET, description="An advertisement of its own."
    )


@strawberry.input(description="A new promotion, which runs at once.")
class CreatePromotionInput:
    sponsor_id: strawberry.ID = strawberry.field(description="The id of the member who pays.")
    subject: PromotionSubjectInput = strawberry.field(description="The status, member or advertisement to show.")
    ends_at: datetime = strawberry.field(description="When it ends by itself, in the future.")


@strawberry.input(description="A promotion to end.")
class EndPromotionInput:
    promotion_id: strawberry.ID = strawberry.field(description="The id of the promotion.")
