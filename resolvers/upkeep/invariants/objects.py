"""Invariants of stored objects: each picture that is ready has its forms, and each object belongs to a picture."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.media.objects import PictureForm
from store.pictures.uploads import Upload, remove_command
from store.records.pictures import UploadState
from store.upkeep import objects as stored

AT_ONCE = 16  # objects whose size is asked at a time


async def forms(db: Database, images: Sequence[int]) -> list[Finding]:
    """Each picture that is ready has its forms, of as many bytes as its record says. Raises MediaUnavailable.

    A picture that belongs to something cannot be mended: its file has to come from a backup.
    """
    room = asyncio.Semaphore(AT_ONCE)

    async def size(record: Upload, form: PictureForm) -> int | None:
        async with room:
            return await db.media.size(record.object, form)

    ready = [one for one in await stored.records(db, images) if one.state is UploadState.READY]
    sizes = await asyncio.gather(*(size(record, form) for record in ready for form in stored.SHOWN))
    found: list[Finding] = []
    for record, large, small in zip(ready, sizes[::2], sizes[1::2], strict=True):
        missing = [form.value for form, there in zip(stored.SHOWN, (large, small), strict=True) if there is None]
        if missing:
            repair = [] if record.subject else [remove_command(db, record.id, record.owner)]
            found.append(Finding(stored.key(record.id), f"has no {' and no '.join(missing)}", repair))
        elif record.bytes != (total := (large or 0) + (small or 0)):
            message = f"says {record.bytes:,} bytes, its objects have {total:,}"
            found.append(Finding(stored.key(record.id), message, [stored.correct_bytes(record.id, total)]))
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
        for one in await stored.unowned(db, chunk):
            if now - one.modified < stored.ORPHAN_AGE:
                totals.young += 1
            else:
                totals.orphans.append(one.path)
                totals.orphan_bytes += one.size
    return totals
