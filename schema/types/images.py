"""Pictures, and inputs that name them."""

from __future__ import annotations

from typing import Annotated

import strawberry

from resolvers import images
from resolvers.rules import links
from schema.types.descriptions import enum, limit
from schema.types.nodes import Info, Node, is_a
from store.records import pictures as records

ALT = f"What the picture shows, for those who cannot see it, at most {limit('max_alt')} characters."

ImageSize = enum(
    links.ImageSize,
    "A stored form of a picture. No form is larger than what was uploaded.",
    SMALL="At most 640 pixels wide and high. For an avatar, a square of 96 pixels.",
    LARGE="At most 2,048 pixels wide and high. For an avatar, a square of 400 pixels.",
)


@strawberry.type(description="A point of a picture; 0, 0 is the middle.")
class FocalPoint:
    x: float = strawberry.field(description="-1 to 1 from left to right.")
    y: float = strawberry.field(description="-1 to 1 from bottom to top.")


@strawberry.input(description="A point of a picture; 0, 0 is the middle.")
class FocalPointInput:
    x: float = strawberry.field(description="-1 to 1 from left to right.")
    y: float = strawberry.field(description="-1 to 1 from bottom to top.")


def _focus(root: records.Image) -> FocalPoint | None:
    return None if root.focus_x is None or root.focus_y is None else FocalPoint(x=root.focus_x, y=root.focus_y)


Size = Annotated[links.ImageSize, strawberry.argument(description="The form that the link leads to.")]


def _url(root: records.Image, info: Info, size: Size = links.ImageSize.LARGE) -> str:
    return images.url(info.context, root, size)


@strawberry.type(description="A picture, ready to be shown. Members who may not see what it belongs to get no `Image`.")
class Image(Node):
    width: int = strawberry.field(description="The width of the large form, in pixels.")
    height: int = strawberry.field(description="The height of the large form, in pixels.")
    alt: str = strawberry.field(
        description="What the picture shows, for those who cannot see it. Empty where the member said nothing."
    )
    blurhash: str = strawberry.field(
        description="A small blurred form to show while the picture loads, see https://blurha.sh."
    )
    focus = strawberry.field(
        resolver=_focus,
        graphql_type=FocalPoint | None,
        description="The point that should stay visible when the picture is cropped. Null for the middle.",
    )
    url = strawberry.field(
        resolver=_url,
        graphql_type=str,
        description="A link that works for 12 to 24 hours and stays the same for 12, so that it can be cached. It ends "
        "at once when what the picture belongs to is deleted or hidden. A path on this server where neither "
        "`MEDIA_URL` nor `PUBLIC_URL` is set.",
    )

    is_type_of = is_a(records.Image)


@strawberry.input(description="An upload to attach, and what it shows.")
class ImageInput:
    upload_id: strawberry.ID = strawberry.field(
        description="The id of an upload of the viewer's own that is READY and belongs to nothing yet."
    )
    alt: str | None = strawberry.field(default="", description=ALT)
    focus: FocalPointInput | None = strawberry.field(
        default=None, description="The point that should stay visible when the picture is cropped."
    )


@strawberry.input(description="What to change of a picture. A field that is left out or null stays as it is.")
class UpdateImageInput:
    image_id: strawberry.ID = strawberry.field(description="The id of a picture of the viewer's own.")
    alt: str | None = strawberry.field(default=None, description=f"{ALT} An empty text removes it.")
    focus: FocalPointInput | None = strawberry.field(
        default=None,
        description="The point that should stay visible when the picture is cropped. 0, 0 is the middle again.",
    )
