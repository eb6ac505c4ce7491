"""Originals: files of uploads that arrive or wait to be processed, and how many bytes of them there are.

Each is counted in its member's partition until it is processed. What a killed process leaves counts until it expires.
"""

import time

from store import keys
from store.client.database import Database
from store.ids import PARTITIONS, partition
from store.pictures.uploads import Upload


async def begin(db: Database, upload: Upload, most: int) -> bool:
    """Count an upload whose bytes begin to arrive; False if more than `most` bytes of its member would wait.

    0 is no limit. One upload may always wait. Repeating it counts the upload once.
    """
    counted = await db.call(
        "begin_upload",
        originals=keys.originals(partition(upload.id)),
        id=upload.id,
        member=upload.owner,
        size=upload.size,
        most=most,
        seconds=db.settings.upload_seconds,
    )
    return bool(counted)


async def end(db: Database, upload: Upload) -> None:
    """Count an upload no longer whose bytes have not arrived."""
    await db.one("HDEL", keys.originals(partition(upload.id)), upload.id)


async def waiting_bytes(db: Database) -> int:
    """Return how many bytes wait of all members. One round trip."""
    now = time.time() * 1000
    replies = await db.ask(*(("HVALS", keys.originals(p)) for p in range(PARTITIONS)))
    counted = (map(int, value.split()) for values in replies for value in values)
    return sum(size for _, size, expires in counted if expires > now)
