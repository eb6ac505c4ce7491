"""Uploads: announcing a picture, taking its bytes, and what the member learns of it."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import IO

from resolvers.operation.context import Context
from resolvers.operation.inputs import checked_key, input_digest, key_conflict
from resolvers.operation.payloads import UploadPayload
from resolvers.process.errors import (
    REFUSING_SECONDS,
    RateLimited,
    ServiceUnavailable,
    UserError,
    UserErrorCode,
    field_error,
    over_limit,
    refuse,
    refuse_all,
)
from resolvers.process.services import Services
from resolvers.reading import global_ids, pictures
from resolvers.reading.pictures import uploads
from store import jobs
from store.client.database import Database, Unavailable
from store.client.metering import METER
from store.limits import attempts, windows
from store.limits.windows import DAY_SECONDS, HOUR_SECONDS
from store.limits.writes import share_of
from store.media.objects import PictureForm
from store.pictures import uploads as stored
from store.pictures.uploads import Upload, UploadDraft
from store.records.jobs import Job
from store.records.pictures import Image, UploadPurpose, UploadState
from store.refusals import Refusal
from store.secret import Secret
from store.settings import Settings

PATH = "/uploads/"  # a link is this path, the number of an upload, a slash and its token
NO_ROOM = "there is no room for pictures now: try again later"
MIB = 1 << 20
UPLOADED = "uploaded"  # what is counted for an address: bytes
CONTENT_TYPES = ("image/jpeg", "image/png", "image/webp", "image/gif")


async def create_upload(
    context: Context, *, purpose: UploadPurpose, content_type: str, size: int, idempotency_key: str | None = None
) -> UploadPayload:
    """Announce a picture. All errors in the input are reported together."""
    owner = await context.member()
    settings = context.settings
    await _require_room(context.db)
    key = checked_key(idempotency_key)
    clean_type = content_type.strip().lower()
    refuse_all(_flaws(settings, clean_type, size))
    draft = UploadDraft(owner, purpose, clean_type, size, key, input_digest(purpose.value, clean_type, size))
    most, is_new = share_of(settings, owner, settings.images_per_day)
    match await stored.create(context.db, draft, most if settings.rate_limit else 0):
        case Refusal.CONFLICT:
            raise key_conflict()
        case Refusal.FULL:
            whose = " for a new member" if is_new else ""
            message = f"at most {most:,} pictures a day{whose}: try again in {windows.rest(DAY_SECONDS):,} s"
            raise over_limit("images_per_day", message)
        case made:
            context.forget()
            (upload,) = await uploads(context, [made])
            if upload is None:
                raise refuse(UserErrorCode.NOT_FOUND, "the upload has been removed since")
            return UploadPayload(upload=upload)


def _flaws(settings: Settings, content_type: str, size: int) -> list[UserError]:
    flaws: list[UserError] = []
    if content_type not in CONTENT_TYPES:
        message = f"contentType: must be one of {', '.join(CONTENT_TYPES)}"
        flaws.append(field_error(UserErrorCode.INVALID, message, "contentType"))
    if size < 1:
        flaws.append(field_error(UserErrorCode.INVALID, "size: must be at least 1 byte", "size"))
    elif size > settings.max_image_bytes:
        message = f"size: at most {settings.max_image_bytes:,} bytes, this is {size:,}"
        flaws.append(field_error(UserErrorCode.TOO_LONG, message, "size"))
    return flaws


async def upload(context: Context, global_id: str) -> Upload | None:
    """Return an upload of the viewer's; None if there is none with this id."""
    kind, number = global_ids.expect_argument(global_id, "id")
    (found,) = await uploads(context, [number])
    return found if kind == "upload" else None


def url(context: Context, upload: Upload) -> Secret | None:
    """Return the link that takes the bytes, None once they have arrived."""
    if upload.state is not UploadState.WAITING:
        return None
    token = context.services.tokens.upload_token(upload.id).reveal()
    return Secret(f"{context.settings.public_url.rstrip('/')}{PATH}{upload.id}/{token}")


def expires_at(context: Context, upload: Upload) -> datetime:
    """Return when the link stops working; of one whose bytes have arrived, when it is removed unless attached."""
    if upload.state is UploadState.WAITING:
        return upload.created_at + timedelta(seconds=context.settings.upload_link_seconds)
    return upload.created_at + timedelta(hours=context.settings.unattached_hours)


def has_expired(upload: Upload, link_seconds: int) -> bool:
    """Return whether the link of an upload no longer works, so many seconds after it was announced."""
    return datetime.now(UTC) - upload.created_at > timedelta(seconds=link_seconds)


async def opened(services: Services, upload: int, token: Secret, *, address: str, request_id: str) -> Upload | None:
    """Return the upload that a link leads to, None for any other link; one round trip.

    Raises RateLimited: every request is counted for its address.
    """
    anonymous = Context(services, None, address=address, user_agent="", request_id=request_id)
    is_right = services.tokens.upload_token(upload) == token
    (fields,) = await anonymous.batcher.run([stored.read_command(upload)])
    (found,) = stored.read_uploads([upload], [fields])
    return found if is_right else None


async def _require_room(db: Database) -> None:
    if not await db.media.has_room():
        raise ServiceUnavailable(NO_ROOM, REFUSING_SECONDS)


@contextlib.asynccontextmanager
async def admitted(services: Services, upload: Upload, address: str) -> AsyncIterator[None]:
    """Count the bytes of an upload while they arrive, and if this ends without an error, until they are processed.

    Raises ServiceUnavailable where there is no room for them, and RateLimited where member or address send too many.
    """
    db, settings = services.db, services.settings
    await _require_room(db)
    waiting = await stored.waiting_bytes(db)
    if waiting and waiting + upload.size > settings.images_waiting_mib * MIB:
        METER.refusals["images_waiting_mib"] += 1
        raise ServiceUnavailable("too many pictures wait to be processed: try again later", REFUSING_SECONDS)
    if settings.rate_limit:
        await _count_for_address(db, address, upload.size)
    most = settings.images_waiting_mib_per_member if settings.rate_limit else 0
    if not await stored.begin(db, upload, most * MIB):
        METER.refusals["images_waiting_mib_per_member"] += 1
        message = f"at most {most:,} MiB of your pictures may wait to be processed: try again later"
        raise RateLimited(message, REFUSING_SECONDS)
    try:
        yield
    except BaseException:
        with contextlib.suppress(Unavailable):  # it expires
            await stored.give_up(db, upload)
        raise


async def _count_for_address(db: Database, address: str, size: int) -> None:
    most = db.settings.upload_mib_per_address
    (sent,) = await attempts.count(db, [(UPLOADED, address)], HOUR_SECONDS, size)
    if sent > most * MIB:
        METER.refusals["upload_mib_per_address"] += 1
        raise RateLimited(f"at most {most:,} MiB of pictures in an hour from one address", windows.rest(HOUR_SECONDS))


async def receive(db: Database, upload: Upload, file: IO[bytes]) -> bool:
    """Store the bytes of an upload, and commit that they have arrived; False when the upload is gone.

    Another request may have brought the bytes in the meantime. Then its bytes count.
    Raises MediaUnavailable, and Unavailable. Race: a crash, or a reply of Redis that is lost, may leave the object
    without a record. `repair` removes it after two days.
    """
    name = stored.new_name(upload.id)
    await db.media.put(name, PictureForm.ORIGINAL, file)
    job = await stored.receive(db, upload.id, name)
    if isinstance(job, Job):
        await jobs.hand_over(db, job)
    else:
        await db.media.delete([name], [PictureForm.ORIGINAL])
    return job is not Refusal.GONE


async def images(context: Context, found: Sequence[Upload]) -> list[Image | None]:
    """Return the picture that each of the viewer's uploads has become, as what it belongs to shows it."""
    seen = await pictures.attached(context, found)
    return [seen.get(upload.id) for upload in found]
