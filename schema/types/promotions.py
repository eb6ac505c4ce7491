"""Promotions: what sponsors pay to show."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import datetime
from typing import Annotated, Any

import strawberry

from resolvers.reading import hydrate, promoted_page
from schema.types.nodes import Info, Node, UserError, is_a
from schema.types.posts import Status
from schema.types.users import User
from store import promotions


@strawberry.type
class Advertisement:
    title: str
    text: str
    url: str

    is_type_of = is_a(promotions.Advertisement)


PromotionSubject = Annotated[Status | User | Advertisement, strawberry.union("PromotionSubject")]


def _sponsor(root: promotions.Promotion, info: Info) -> Awaitable[Any]:
    return hydrate.user(info.context, root.sponsor)


def _subject(root: promotions.Promotion, info: Info) -> Awaitable[Any]:
    return promoted_page.subject(info.context, root)


@strawberry.type(
    description="Something a sponsor pays to show, placed when a timeline is read: the tenth, twentieth, … entry of a "
    "page of the home, the public or a hashtag's timeline in the order RECENT, for as many as run. A page with fewer "
    "than ten entries has none. Its edge repeats the cursor of the entry before it; it counts within `first` and "
    "`last`."
)
class Promotion(Node):
    sponsor = strawberry.field(resolver=_sponsor, graphql_type=User | None, description="Null once they are gone.")
    subject = strawberry.field(
        resolver=_subject, graphql_type=PromotionSubject | None, description="Null where the viewer cannot see it."
    )

    is_type_of = is_a(promotions.Promotion)


@strawberry.input
class AdvertisementInput:
    title: str = strawberry.field(description="1 to 100 characters.")
    text: str = strawberry.field(description="1 to 500 characters.")
    url: str = strawberry.field(description="An http or https address of up to 2000 characters.")


@strawberry.input(one_of=True)
class PromotionSubjectInput:
    status_id: strawberry.ID | None = strawberry.UNSET
    user_id: strawberry.ID | None = strawberry.UNSET
    advertisement: AdvertisementInput | None = strawberry.UNSET


@strawberry.input
class CreatePromotionInput:
    sponsor_id: strawberry.ID
    subject: PromotionSubjectInput
    ends_at: datetime


@strawberry.input
class EndPromotionInput:
    promotion_id: strawberry.ID


@strawberry.type
class PromotionPayload:
    promotion: Promotion | None = None
    user_errors: list[UserError] = strawberry.field(default_factory=list)
