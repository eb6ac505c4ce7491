"""Pictures that are ready to be attached, and the parts of their links."""

import io
from typing import Any

from store import keys
from store.client.database import Database
from store.ids import partition
from store.keys.fields import ImageField
from store.media.objects import PictureForm
from store.records.pictures import UploadState
from tests.support.people import Member
from tests.support.work import number

IMAGE = "id width height alt blurhash focus { x y } url small: url(size: SMALL)"
BLURHASH = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
WIDTH, HEIGHT = 800, 600


async def ready_picture(db: Database, member: Member, purpose: str = "POST") -> str:
    """Return the global id of an upload of a member's that has become a picture."""
    return f"upload_{await ready(db, number(member.id), purpose):014x}"


async def ready(db: Database, owner: int, purpose: str) -> int:
    """Return an upload of a member's that has become a picture."""
    image = await new_image(db, owner)
    await make_ready(db, image, owner, purpose)
    return image


async def new_image(db: Database, owner: int) -> int:
    """Return the number of a new upload."""
    p = partition(owner)
    return await db.mint(p)


async def make_ready(db: Database, image: int, owner: int, purpose: str) -> None:
    """Store an upload as one that has become a picture; done twice, it leaves the same."""
    fields: dict[str, Any] = {
        ImageField.OWNER: owner,
        ImageField.PURPOSE: purpose,
        ImageField.CONTENT_TYPE: "image/png",
        ImageField.SIZE: 1000,
        ImageField.STATE: UploadState.READY.value,
        ImageField.OBJECT: f"{image:014x}{image:032x}",
        ImageField.WIDTH: WIDTH,
        ImageField.HEIGHT: HEIGHT,
        ImageField.BLURHASH: BLURHASH,
        ImageField.BYTES: sum(len(content(image, form)) for form in (PictureForm.LARGE, PictureForm.SMALL)),
        ImageField.VERSION: 1,
    }
    for form in (PictureForm.LARGE, PictureForm.SMALL):
        await db.media.put(fields[ImageField.OBJECT], form, io.BytesIO(content(image, form)))
    await db.ask(
        ("HSET", keys.image(image), *(part for pair in fields.items() for part in pair)),
        ("ZADD", keys.images(owner), image, image),
        ("ZADD", keys.uploads(partition(owner)), image, image),
    )


def content(image: int, form: PictureForm) -> bytes:
    """Return the bytes that stand for a stored form of a picture."""
    return f"{form.value} of {image}".encode()


async def pictures(db: Database, member: Member, count: int, purpose: str = "POST") -> list[dict[str, Any]]:
    """Return the inputs of so many pictures that are ready."""
    return [{"uploadId": await ready_picture(db, member, purpose)} for _ in range(count)]


def image_id(upload: str) -> str:
    """Return the global id of the picture that an upload has become."""
    return upload.replace("upload_", "image_")


async def status_of(member: Member, url: str) -> int:
    """Return the status of the answer to a link."""
    async with member.client.get(url) as response:
        return response.status


async def objects(db: Database) -> set[str]:
    """Return the names of all stored objects."""
    return {one.path.partition("/")[0] async for chunk in db.media.listing() for one in chunk}
