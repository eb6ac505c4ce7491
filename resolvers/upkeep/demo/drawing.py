"""Pictures for the demo and for imports: landscapes and portraits, drawn by chance and the same for the same name."""

import asyncio
import io
import math
import random
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct
from PIL import Image, ImageDraw

from resolvers.imaging import forms
from resolvers.jobs import dispatch
from store.client.database import Database
from store.media.objects import PictureForm
from store.pictures import uploads
from store.pictures.uploads import Processed, UploadDraft
from store.records.pictures import UploadPurpose
from store.refusals import accepted
from store.settings import Settings

LANDSCAPE, PORTRAIT = (720, 480), (400, 400)  # pixels
HILLS = 3
DRAWN_KEPT = 50  # drawings, some 50 kB each
WAVE = 160  # pixels of a hill's wave, over 2π
CONTENT_TYPE = "image/jpeg"


class Drawing(Struct, frozen=True):
    """A drawing in all its stored forms."""

    forms: Mapping[PictureForm, bytes]
    width: int  # pixels of the large form
    height: int
    blurhash: str
    original_bytes: int


async def drawing(name: str, *, square: bool = False) -> Drawing:
    """Return the landscape of a name, or the portrait, drawn and encoded in a thread."""
    return await asyncio.to_thread(_drawing, name, square=square)


@lru_cache(DRAWN_KEPT)
def _drawing(name: str, *, square: bool) -> Drawing:
    original = io.BytesIO()
    (_portrait if square else _landscape)(random.Random(name)).save(original, "JPEG")  # noqa: S311  keeps no secret
    size = original.tell()
    original.seek(0)
    large, small = io.BytesIO(), io.BytesIO()
    made = forms.make(original, [large, small], square=square, most_pixels=Settings().max_image_pixels)
    found = {PictureForm.LARGE: large.getvalue(), PictureForm.SMALL: small.getvalue()}
    return Drawing(found, int(str(made["width"])), int(str(made["height"])), str(made["blurhash"]), size)


def _landscape(chance: random.Random) -> Image.Image:
    """Return a sky, a sun and some hills."""
    width, height = LANDSCAPE
    hue = chance.randrange(360)
    picture = Image.new("RGB", LANDSCAPE)
    draw = ImageDraw.Draw(picture)
    for y in range(height):
        draw.line((0, y, width, y), fill=f"hsl({hue}, 60%, {85 - 40 * y // height}%)")
    x, y, radius = chance.randrange(width), chance.randrange(height // 2), chance.randrange(30, 90)
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill="hsl(48, 95%, 75%)")
    for hill in range(HILLS):
        base, phase = height * (5 + hill) // 8, chance.uniform(0, math.tau)
        ridge = [(x, base - 60 * math.sin(x / WAVE + phase)) for x in range(0, width + 10, 10)]
        shade = f"hsl({(hue + 100) % 360}, 35%, {45 - 10 * hill}%)"
        draw.polygon([*ridge, (width, height), (0, height)], fill=shade)
    return picture


def _portrait(chance: random.Random) -> Image.Image:
    """Return a face of three shapes."""
    width, height = PORTRAIT
    hue = chance.randrange(360)
    picture = Image.new("RGB", PORTRAIT, f"hsl({hue}, 50%, 80%)")
    draw = ImageDraw.Draw(picture)
    dress, hair, skin = (f"hsl({chance.randrange(360)}, {part}" for part in ("55%, 50%)", "40%, 30%)", "45%, 70%)"))
    draw.ellipse((60, height - 130, width - 60, height + 170), fill=dress)
    draw.ellipse((105, 70, width - 105, 300), fill=hair)
    draw.ellipse((125, 105, width - 125, 310), fill=skin)
    for x in (165, 225):
        draw.ellipse((x, 190, x + 14, 204), fill="#222")
    draw.arc((165, 220, 235, 268), 20, 160, fill="#722", width=5)
    return picture


async def add(db: Database, owner: int, purpose: UploadPurpose, drawn: Drawing) -> int:
    """Give a member a drawing as a picture that can be attached; returns its id. Three round trips."""
    draft = UploadDraft(owner, purpose, CONTENT_TYPE, drawn.original_bytes)
    image = accepted(await uploads.create(db, draft, most=0))
    name = uploads.new_name(image)
    for form, data in drawn.forms.items():
        await db.media.put(name, form, io.BytesIO(data))
    job = accepted(await uploads.receive(db, image, name))
    size = sum(map(len, drawn.forms.values()))
    await uploads.finish(db, image, name, Processed(drawn.width, drawn.height, drawn.blurhash, size))
    if job:
        await dispatch.finish(db, job)  # which has nothing left to do
    return image
