"""The job of an upload whose bytes have arrived: it makes the stored forms, and ends with READY or FAILED."""

import contextlib
import os
import tempfile
import time
from typing import IO

import structlog

from resolvers.imaging.processing import make
from resolvers.jobs.step import Budget, StepOutcome
from resolvers.process.errors import UserErrorCode
from store.client.database import Database
from store.client.metering import METER
from store.media.objects import MediaMissing, PictureForm
from store.pictures import processing_time, uploads
from store.pictures.uploads import Processed, Upload
from store.records.job_bodies import UploadProcessing
from store.records.jobs import Job
from store.records.pictures import UploadPurpose, UploadState

SQUARE = {UploadPurpose.AVATAR}
FORMS = (PictureForm.LARGE, PictureForm.SMALL)

log = structlog.get_logger()


async def process(db: Database, job: Job[UploadProcessing], _: Budget) -> StepOutcome:
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
    return StepOutcome.DONE


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
        await processing_time.spend(db, upload.owner, made.seconds)
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
