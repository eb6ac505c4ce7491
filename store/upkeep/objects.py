"""Records of pictures as their stored objects have to agree with them."""

import re
from collections.abc import Sequence
from datetime import timedelta

from store import kinds
from store.client.database import Command, Database
from store.ids import LARGEST
from store.keys.fields import ImageField
from store.media.objects import PictureForm, StoredObject
from store.pictures.uploads import Upload, read_command, read_uploads
from store.records.pictures import UploadState
from store.upkeep.malformed import UNREADABLE

ORPHAN_AGE = timedelta(days=2)  # A younger object may belong to a record that is about to be written.
SHOWN = (PictureForm.LARGE, PictureForm.SMALL)

_PATH = re.compile(r"([0-9a-f]{14})[0-9a-f]{32}/[^/]+")


async def records(db: Database, images: Sequence[int]) -> list[Upload]:
    """Return the records of some pictures, those that are gone left out. One round trip."""
    found = read_uploads(images, await db.ask(*map(read_command, images))) if images else []
    return [record for record in found if record]


def key(image: int) -> str:
    """Return the key of a picture's record."""
    return kinds.IMAGE.key(image)


def correct_bytes(image: int, size: int) -> Command:
    """Return the command that stores how many bytes the objects of a picture have."""
    return ("HSET", kinds.IMAGE.key(image), ImageField.BYTES, size)


async def unowned(db: Database, listed: Sequence[StoredObject]) -> list[StoredObject]:
    """Return those of some objects that no record names. An unreadable record may name any of them. One round trip."""
    images = [_image(one.path) for one in listed]
    owners: dict[int, Upload | None] = {}
    unreadable: set[int] = set()
    wanted = sorted({image for image in images if image})
    for image, reply in zip(wanted, await db.run(list(map(read_command, wanted))), strict=True):
        try:
            (owners[image],) = read_uploads([image], [reply])
        except UNREADABLE:
            unreadable.add(image)
    return [
        one
        for one, image in zip(listed, images, strict=True)
        if image not in unreadable and not _belongs(one, owners.get(image))
    ]


def _image(path: str) -> int:
    """Return the picture that an object's name begins with, 0 for any other name."""
    found = _PATH.fullmatch(path)
    image = int(found[1], 16) if found else 0
    return image if image <= LARGEST else 0


def _belongs(one: StoredObject, owner: Upload | None) -> bool:
    """Return whether a record needs an object. While it is processed, it may have any form already."""
    name, _, form = one.path.partition("/")
    if owner is None or owner.object != name:
        return False
    if owner.state is UploadState.PROCESSING:
        return form in {each.value for each in PictureForm}
    return owner.state is UploadState.READY and form in {each.value for each in SHOWN}
