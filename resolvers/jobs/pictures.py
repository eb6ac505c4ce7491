"""The jobs of pictures: their stored forms, what was reserved for a message, and the objects of those that are gone."""

import contextlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from typing import IO

import structlog

from resolvers.imaging.processing import make
from resolvers.jobs.step import Budget, step
from resolvers.process.errors import UserErrorCode
from store.client.database import Database
from store.client.metering import METER
from store.media.objects import MediaMissing, PictureForm
from store.moderation import reports
from store.pictures import images, uploads
from store.pictures.uploads import Processed, Upload
from store.records.job_bodies import ObjectRemoval, PictureReservation, UploadProcessing
from store.records.jobs import Job
from store.records.pictures import UploadPurpose, UploadState

UNATTACHED_BATCH = 100  # pictures of a deleted account looked at per step
SQUARE = {UploadPurpose.AVATAR}
FORMS = (PictureForm.LARGE, PictureForm.SMALL)

log = structlog.get_logger()


@step(UploadProcessing)
async def process(db: Database, job: Job[UploadProcessing], _: Budget) -> None:
    """Make the forms of an upload. Repeating it writes the same objects again, or removes what is not needed.

    Names are never used twice. So what a repetition, or a worker that was slow, does after the upload is removed or
    has ended concerns only objects that nothing shows. Raises MediaUnavailable.
    """
    upload, name = await uploads.read(db, job.body.image), job.body.object
    if upload and upload.object == name and upload.state is UploadState.PROCESSING:
        await _process(db, upload)
        upload = await uploads.read(db, upload.id)
    is_ready = upload is not None and upload.object == name and upload.state is UploadState.READY
    await db.media.delete([name], [PictureForm.ORIGINAL] if is_ready else tuple(PictureForm))


async def _process(db: Database, upload: Upload) -> None:
    db.settings.data_dir.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as files:
        source, *targets = [files.enter_context(_file(db)) for _ in range(1 + len(FORMS))]
        try:
            async for piece in db.media.stream(upload.object, PictureForm.ORIGINAL):
                source.write(piece)
        except MediaMissing:
            # Another worker that has the same job may have been faster.
            if await uploads.fail(db, upload.id, upload.object, UserErrorCode.INVALID.value):
                log.error("upload_missing", upload=upload.id)  # noqa: TRY400
            return
        _rewind(source)
        began = time.monotonic()
        made = await make(db.settings, source, targets, square=upload.purpose in SQUARE)
        METER.images += 1
        METER.image_seconds += time.monotonic() - began
        await uploads.count_processing(db, upload.owner, made.seconds)
        METER.uploads[made.error or UploadState.READY.value] += 1
        if made.error:
            await uploads.fail(db, upload.id, upload.object, made.error)
            return
        size = 0
        for form, target in zip(FORMS, targets, strict=True):
            size += os.fstat(target.fileno()).st_size
            _rewind(target)
            await db.media.put(upload.object, form, target)
        made_of = Processed(width=made.width, height=made.height, blurhash=made.blurhash, bytes=size)
        await uploads.finish(db, upload.id, upload.object, made_of)


def _file(db: Database) -> IO[bytes]:
    return tempfile.TemporaryFile(dir=db.settings.data_dir)


def _rewind(file: IO[bytes]) -> None:
    file.flush()
    file.seek(0)


@step(ObjectRemoval)
async def remove_objects(db: Database, job: Job[ObjectRemoval], _: Budget) -> None:
    """Remove the stored objects of pictures that are gone."""
    await remove(db, job.body.objects)


async def remove(db: Database, objects: Sequence[str]) -> None:
    """Remove stored objects, those that are gone already excepted."""
    if objects:
        await db.media.delete(objects)


@step(PictureReservation)
async def end_reservation(db: Database, job: Job[PictureReservation], _: Budget) -> None:
    """Attach reserved pictures to the message that took them, or give them back.

    From then on, no message can take them. So a message that is under way is refused, and pictures never belong to two.
    """
    message = await images.settle(db, job.body.conversation, job.id)
    await remove(db, await images.end_reservation(db, job.body.owner, job.id, job.body.images, message))
    if message:
        await images.forget_taken(db, job.body.conversation, job.id)


async def end_messaged(db: Database, message: int, packed: str) -> None:
    """Remove the pictures of a deleted message, unless moderators need them until they have decided on a report."""
    if packed and not await reports.keep_evidence(db, message, packed):
        await drop_messaged(db, packed)


async def drop_messaged(db: Database, packed: str) -> None:
    """Remove the pictures of a message that is gone, which lie in its sender's partition."""
    if packed:
        await remove(db, await images.drop_messaged(db, packed))


async def drop_unattached(db: Database, member: int) -> AsyncIterator[int]:
    """Remove the pictures of a deleted account that belong to nothing; yields how many each batch had.

    Pictures of messages stay with them.
    """
    last = 0
    while True:
        last, objects = await images.drop_unattached(db, member, last, UNATTACHED_BATCH)
        await remove(db, objects)
        if not last:
            return
        yield UNATTACHED_BATCH
