"""Pictures, and inputs that name them."""

import strawberry

from resolvers import images
from resolvers.rules import links
from schema.types.descriptions import enum, limit
from schema.types.fields import argument, computed, field, is_a, resolved
from schema.types.nodes import Node
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
    x: float = field("-1 to 1 from left to right.", cached=True)
    y: float = field("-1 to 1 from bottom to top.", cached=True)


@strawberry.input(description="A point of a picture; 0, 0 is the middle.")
class FocalPointInput:
    x: float = strawberry.field(description="-1 to 1 from left to right.")
    y: float = strawberry.field(description="-1 to 1 from bottom to top.")


def _focus(root: records.Image) -> FocalPoint | None:
    return None if root.focus_x is None or root.focus_y is None else FocalPoint(x=root.focus_x, y=root.focus_y)


SIZE = {"size": argument(links.ImageSize, "The form that the link leads to.", default=links.ImageSize.LARGE)}


@strawberry.type(description="A picture, ready to be shown. Members who may not see what it belongs to get no `Image`.")
class Image(Node):
    width: int = field("The width of the large form, in pixels.", cached=True)
    height: int = field("The height of the large form, in pixels.", cached=True)
    alt: str = field(
        "What the picture shows, for those who cannot see it. Empty where the member said nothing.", cached=True
    )
    blurhash: str = field("A small blurred form to show while the picture loads, see https://blurha.sh.", cached=True)
    focus = computed(
        _focus,
        FocalPoint | None,
        "The point that should stay visible when the picture is cropped. Null for the middle.",
        cached=True,
    )
    url = resolved(
        images.url,
        str,
        "A link that works for 12 to 24 hours and stays the same for 12, so that it can be cached. It ends "
        "at once when what the picture belongs to is deleted or hidden. A path on this server where neither "
        "`MEDIA_URL` nor `PUBLIC_URL` is set.",
        takes=SIZE,
        cached=True,
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
