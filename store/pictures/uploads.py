"""Uploads: files on their way to be pictures, in the partition of the member who uploads them.

Originals are the files that arrive or wait to be processed. Each counts until it is processed. One that a killed
process has left counts until it expires.
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.ids import PARTITIONS, first_of, instant, partition
from store.keys.fields import ImageField
from store.limits import windows
from store.limits.windows import DAY_SECONDS, HOUR_SECONDS
from store.limits.writes import share_of
from store.records.job_bodies import UploadProcessing
from store.records.jobs import Job, read_job
from store.records.lists import read_pairs
from store.records.pictures import Image, UploadPurpose, UploadState
from store.refusals import Refusal, refused

NAME_BYTES = 16  # random ones in the name of an object
_EXPIRED_AT_ONCE = 100  # uploads removed from a partition in one step


@dataclass(frozen=True, slots=True)
class UploadDraft:
    """An upload to be created."""

    owner: int
    purpose: UploadPurpose
    content_type: str
    size: int  # bytes
    idempotency_key: str | None = None
    digest: str = ""


class Upload(Struct, frozen=True):
    """An upload, or the picture that it has become."""

    id: int
    owner: int
    purpose: UploadPurpose
    state: UploadState
    content_type: str
    size: int  # bytes, as announced
    object: str  # name of its stored objects; "" before the bytes arrive
    error: str = ""  # why it failed
    bytes: int = 0  # of all stored forms
    subject: str = ""  # what it is attached to; "" before
    image: Image | None = None  # once it is ready

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @classmethod
    def read(cls, upload: int, fields: Mapping[str, str]) -> "Upload | None":
        """Return an upload from its hash, None without one."""
        if ImageField.STATE not in fields:
            return None
        return cls(
            id=upload,
            owner=int(fields[ImageField.OWNER]),
            purpose=UploadPurpose(fields[ImageField.PURPOSE]),
            state=UploadState(fields[ImageField.STATE]),
            content_type=fields[ImageField.CONTENT_TYPE],
            size=int(fields[ImageField.SIZE]),
            object=fields.get(ImageField.OBJECT, ""),
            error=fields.get(ImageField.ERROR, ""),
            bytes=int(fields.get(ImageField.BYTES, 0)),
            subject=fields.get(ImageField.SUBJECT, ""),
            image=Image.of_upload(upload, fields),
        )


class Processed(Struct, frozen=True):
    """What processing has made of an upload."""

    width: int  # pixels of the large form
    height: int
    blurhash: str
    bytes: int  # of all stored forms


async def create(db: Database, draft: UploadDraft, most: int) -> int | Literal[Refusal.CONFLICT, Refusal.FULL]:
    """Create an upload; returns its id. `most` bounds the uploads of a day; 0 is no limit. Raises MemberGone."""
    owner = draft.owner
    key = draft.idempotency_key
    idempotency = {"idempotency": keys.idempotency(owner, "createUpload", key)} if key else {}
    reply = await db.call(
        "create_upload",
        owner,
        uploaded=keys.uploaded(owner, windows.current(DAY_SECONDS)),
        **idempotency,
        member=owner,
        purpose=draft.purpose.value,
        content_type=draft.content_type,
        size=draft.size,
        most=most,
        digest=draft.digest,
        ttl=keys.DAY,
    )
    return refused(reply) or int(reply[0])


def read_command(upload: int) -> Command:
    """Return the command that reads an upload, for `read_uploads`."""
    return ("HGETALL", keys.image(upload))


def read_uploads(ids: Sequence[int], replies: Sequence[Any]) -> list[Upload | None]:
    """Return uploads from the replies to `read_command`."""
    return [Upload.read(upload, read_pairs(reply)) for upload, reply in zip(ids, replies, strict=True)]


async def read(db: Database, upload: int) -> Upload | None:
    """Return an upload, None without one. One round trip."""
    return Upload.read(upload, read_pairs(await db.one(*read_command(upload))))


async def owners(db: Database, ids: Sequence[int]) -> list[int]:
    """Return the members whose uploads these are, 0 for one that is gone. One round trip."""
    found = await db.ask(*(("HGET", keys.image(upload), ImageField.OWNER) for upload in ids))
    return [int(owner or 0) for owner in found]


async def receive(db: Database, upload: int, name: str) -> Job | Literal[Refusal.GONE] | None:
    """Note that the bytes of an upload are stored under a name; returns the job, None if others have arrived before."""
    reply = await db.call(
        "receive_upload",
        upload,
        id=upload,
        object=name,
        channel=db.channel(keys.upload_channel(upload)),
        seconds=db.settings.unattached_hours * HOUR_SECONDS,
    )
    return refused(reply) or (read_job(UploadProcessing, *reply) if reply else None)


async def finish(db: Database, upload: int, name: str, made: Processed) -> bool:
    """Make an upload READY; False when its processing had ended before, or it was removed."""
    return await _finish(
        db,
        upload,
        name,
        {
            ImageField.STATE: UploadState.READY.value,
            ImageField.WIDTH: made.width,
            ImageField.HEIGHT: made.height,
            ImageField.BLURHASH: made.blurhash,
            ImageField.BYTES: made.bytes,
        },
    )


async def fail(db: Database, upload: int, name: str, error: str) -> bool:
    """Make an upload FAILED with an error; returns as `finish` does."""
    return await _finish(
        db, upload, name, {ImageField.STATE: UploadState.FAILED.value, ImageField.ERROR: error, ImageField.BYTES: 0}
    )


async def _finish(db: Database, upload: int, name: str, changes: Mapping[str, object]) -> bool:
    pairs = [part for pair in changes.items() for part in pair]
    outcome = await db.call(
        "finish_upload",
        upload,
        id=upload,
        object=name,
        channel=db.channel(keys.upload_channel(upload)),
        changes=pairs,
    )
    return bool(outcome)


async def begin(db: Database, upload: Upload, most: int) -> bool:
    """Count an upload whose bytes begin to arrive; False if more than `most` bytes of its member would wait.

    0 is no limit. One upload may always wait. Repeating it counts the upload once.
    """
    counted = await db.call(
        "begin_upload",
        upload.id,
        id=upload.id,
        member=upload.owner,
        size=upload.size,
        most=most,
        seconds=db.settings.upload_seconds,
    )
    return bool(counted)


async def give_up(db: Database, upload: Upload) -> None:
    """Count an upload no longer whose bytes have not arrived."""
    await db.one("HDEL", keys.originals(partition(upload.id)), upload.id)


async def waiting_bytes(db: Database) -> int:
    """Return how many bytes wait of all members. One round trip."""
    now = time.time() * 1000
    replies = await db.ask(*(("HVALS", keys.originals(p)) for p in range(PARTITIONS)))
    counted = (map(int, value.split()) for values in replies for value in values)
    return sum(size for _, size, expires in counted if expires > now)


async def may_process(db: Database, member: int) -> bool:
    """Return whether a member's pictures may take more processor time in this hour. One round trip."""
    settings = db.settings
    if not settings.rate_limit or not member:
        return True
    most, _ = share_of(settings, member, settings.image_seconds_per_hour)
    return int(await db.one("GET", _processing_time(member)) or 0) < most * 1000


async def count_processing(db: Database, member: int, seconds: float) -> None:
    """Count processor time that a picture of a member has taken, s. One round trip."""
    key = _processing_time(member)
    await db.ask(("INCRBY", key, round(seconds * 1000)), ("EXPIRE", key, HOUR_SECONDS, "NX"))


def _processing_time(member: int) -> str:
    return keys.processing_time(member, windows.current(HOUR_SECONDS))


def channel(upload: int) -> str:
    """Return the Pub/Sub channel on which it is published that an upload's state has changed."""
    return keys.upload_channel(upload)


async def sweep(db: Database) -> int:
    """Remove uploads that have been attached to nothing for `UNATTACHED_HOURS`; returns how many.

    Two round trips, and a third where there are any; at most `_EXPIRED_AT_ONCE` of each partition.
    """
    newest = first_of(datetime.now(UTC) - timedelta(hours=db.settings.unattached_hours))
    within = ("-inf", f"({newest}", "BYSCORE", "LIMIT", 0, _EXPIRED_AT_ONCE)
    replies = await db.ask(*(("ZRANGE", keys.uploads(p), *within) for p in range(PARTITIONS)))
    ids = [int(upload) for part in replies for upload in part]
    whose = await owners(db, ids) if ids else []
    steps = [remove_command(db, upload, owner) for upload, owner in zip(ids, whose, strict=True)]
    return sum(await db.ask(*steps)) if steps else 0


def remove_command(db: Database, upload: int, owner: int) -> Command:
    """Return the command that removes an upload, unless it is attached. Its objects are removed by a job."""
    return script(
        "remove_upload",
        upload,
        images=keys.images(owner) if owner else keys.images(upload),  # without a record, nothing is removed from it
        id=upload,
        channel=db.channel(keys.upload_channel(upload)),
    )


def new_name(upload: int) -> str:
    """Return a name for the objects of an upload: it says whose they are, and nobody can guess it."""
    return f"{upload:014x}{secrets.token_hex(NAME_BYTES)}"
