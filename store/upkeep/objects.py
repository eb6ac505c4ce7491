"""Stored objects: each picture that is ready has its forms, and each object belongs to a picture."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from store import keys
from store.client.database import Command, Database
from store.ids import LARGEST
from store.keys.fields import ImageField
from store.media.objects import PictureForm, StoredObject
from store.pictures.uploads import Upload, read_command, read_uploads, remove_command
from store.records.pictures import UploadState
from store.upkeep.findings import UNREADABLE, Finding
from store.upkeep.pictures import uploads

AT_ONCE = 16  # objects whose size is asked at a time
ORPHAN_AGE = timedelta(days=2)  # A younger object may belong to a record that is about to be written.
SHOWN = (PictureForm.LARGE, PictureForm.SMALL)

_PATH = re.compile(r"([0-9a-f]{14})[0-9a-f]{32}/[^/]+")


async def forms(db: Database, images: Sequence[int]) -> list[Finding]:
    """Each picture that is ready has its forms, of as many bytes as its record says. Raises MediaUnavailable.

    A picture that belongs to something cannot be mended: its file has to come from a backup.
    """
    room = asyncio.Semaphore(AT_ONCE)

    async def size(record: Upload, form: PictureForm) -> int | None:
        async with room:
            return await db.media.size(record.object, form)

    ready = [one for one in (await uploads(db, images)).values() if one.state is UploadState.READY]
    sizes = await asyncio.gather(*(size(record, form) for record in ready for form in SHOWN))
    found: list[Finding] = []
    for record, large, small in zip(ready, sizes[::2], sizes[1::2], strict=True):
        key, repair = keys.image(record.id), list[Command]()
        missing = [form.value for form, there in zip(SHOWN, (large, small), strict=True) if there is None]
        if missing:
            repair += [] if record.subject else [remove_command(db, record.id, record.owner)]
            found.append(Finding(key, f"has no {' and no '.join(missing)}", repair))
        elif record.bytes != (total := (large or 0) + (small or 0)):
            repair.append(("HSET", key, ImageField.BYTES, total))
            found.append(Finding(key, f"says {record.bytes:,} bytes, its objects have {total:,}", repair))
    return found


@dataclass(slots=True)
class Totals:
    """What a look through all objects has found."""

    count: int = 0
    bytes: int = 0
    young: int = 0  # objects that no record names yet
    orphans: list[str] = field(default_factory=list)  # paths of older objects that no record names
    orphan_bytes: int = 0

    def lines(self) -> list[str]:
        """Return what there is to be said."""
        said = [f"{self.count:,} objects of pictures have {self.bytes:,} bytes"] if self.count else []
        if self.young:
            said.append(
                f"{self.young:,} objects belong to nothing yet: uploads that are being sent, or left by a crash"
            )
        if self.orphans:
            said.append(f"{len(self.orphans):,} objects of {self.orphan_bytes:,} bytes belong to nothing for two days")
            said.append("`repair --yes` removes them")
        return said


async def listed(db: Database, now: datetime | None = None) -> Totals:
    """Look through all objects for those that belong to nothing. Raises MediaUnavailable."""
    totals, now = Totals(), now or datetime.now(UTC)
    async for chunk in db.media.listing():
        totals.count += len(chunk)
        totals.bytes += sum(one.size for one in chunk)
        for one in await _unowned(db, chunk):
            if now - one.modified < ORPHAN_AGE:
                totals.young += 1
            else:
                totals.orphans.append(one.path)
                totals.orphan_bytes += one.size
    return totals


async def _unowned(db: Database, listed: Sequence[StoredObject]) -> list[StoredObject]:
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
