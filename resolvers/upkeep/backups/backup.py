"""The command `backup`: copies a running store into a file, as it is at one moment.

Every key is copied once, while changes are collected. Then keys that have changed are copied again, until few are left.
Then all nodes let writes wait for some milliseconds, in which the last changes are copied. So the copy is the state of
all partitions at one moment. Jobs that were unfinished at that moment are in it, and are finished after a restore.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from resolvers.operation.inputs import batches
from resolvers.upkeep.backups.file import LEAST_SECRET, BackupRecord, Writer
from resolvers.upkeep.commands import CommandAnswer, Show, UpkeepRefused, new_file
from store.client.database import Database, Unavailable
from store.layout import versions
from store.media.objects import PARTIAL, MediaMissing, MediaUnavailable, PictureForm
from store.upkeep import scanning
from store.upkeep.copying import kept, moving
from store.upkeep.copying.moving import MovedServer

BATCH = 500  # keys read per round trip
FEW = 200  # changed keys of a node that are left until writes wait
ROUNDS = 20  # of copying changed keys again; on a busy site, more rounds would leave no fewer
PAUSE_MS = 5_000  # how long writes wait at most, also if this process is killed meanwhile
FORMS = {form.value for form in PictureForm}


@dataclass(slots=True)
class BackedUpKeys:
    """What has been copied."""

    keys: int = 0
    again: int = 0  # keys that changed meanwhile
    paused: float = 0  # how long writes have waited, s
    objects: set[str] = field(default_factory=set)  # paths of pictures' objects


async def run(db: Database, show: Show, *, file: Path, key_file: Path | None, without_pictures: bool) -> CommandAnswer:
    """Write a backup to a new file. A backup that fails leaves no file."""
    secret, copied = read_secret(key_file), BackedUpKeys()
    try:
        with new_file(file) as written:
            writer = Writer(written, datetime.now(UTC).isoformat(), await versions.current(db), secret)
            await _copy(db, show, writer, copied, pictures=not without_pictures)
            writer.end()
    except (moving.MoveFailed, Unavailable, MediaUnavailable) as error:
        raise UpkeepRefused(f"the backup did not succeed: {error}") from error
    return _answer(file, copied, is_encrypted=secret is not None, pictures=not without_pictures)


def read_secret(key_file: Path | None) -> bytes | None:
    """Return the content of a key file; raises UpkeepRefused for a short one."""
    if key_file is None:
        return None
    try:
        secret = key_file.read_bytes().strip()
    except FileNotFoundError:
        raise UpkeepRefused(f"{key_file}: there is no such file") from None
    if len(secret) < LEAST_SECRET:
        raise UpkeepRefused(f"{key_file} needs {LEAST_SECRET} bytes or more, such as from `openssl rand -base64 32`")
    return secret


async def _copy(db: Database, show: Show, writer: Writer, copied: BackedUpKeys, *, pictures: bool) -> None:
    if pictures:
        await _copy_objects(db, writer, copied)
    async with _sources(db) as sources:
        with show("keys", await scanning.count(db)) as bar:
            for source in sources:
                async for names in source.all_keys():
                    await _copy_keys(source, writer, names)
                    copied.keys += len(names)
                    bar.update(len(names))
        for source in sources:
            for _ in range(ROUNDS):
                if await _catch_up(source, writer, copied) <= FEW:
                    break
        await _finish(sources, writer, copied)
    if pictures:  # those that arrived meanwhile
        await _copy_objects(db, writer, copied)


@contextlib.asynccontextmanager
async def _sources(db: Database) -> AsyncIterator[list[MovedServer]]:
    async with contextlib.AsyncExitStack() as stack:
        sources = []
        for node in db.nodes:
            sources.append(await MovedServer.open(node))
            stack.push_async_callback(sources[-1].close)
        yield sources


async def _copy_keys(source: MovedServer, writer: Writer, names: Collection[str]) -> None:
    for some in batches(kept.kept(names), BATCH):
        values, gone = await source.values(some)
        for value in values:
            writer.add(BackupRecord(value.key, value.dumped, value.expires))
        for name in gone:
            writer.add(BackupRecord(name, None))


async def _catch_up(source: MovedServer, writer: Writer, copied: BackedUpKeys) -> int:
    """Copy the keys that have changed; returns how many they were."""
    await source.synchronise()
    changed = source.take_changed()
    await _copy_keys(source, writer, changed)
    copied.again += len(changed)
    return len(changed)


async def _finish(sources: list[MovedServer], writer: Writer, copied: BackedUpKeys) -> None:
    """Copy the last changes of all nodes while writes wait."""
    began = time.monotonic()
    try:
        await asyncio.gather(*(source.pause_writes(PAUSE_MS) for source in sources))
        for source in sources:
            await _catch_up(source, writer, copied)
            await _copy_keys(source, writer, source.streams)
        copied.paused = time.monotonic() - began
    finally:
        await asyncio.gather(*(source.resume_writes() for source in sources))
    if copied.paused * 1000 >= PAUSE_MS:
        raise moving.MoveFailed(
            f"the last changes took more than {PAUSE_MS / 1000:g} s: try when the site is less busy"
        )


async def _copy_objects(db: Database, writer: Writer, copied: BackedUpKeys) -> None:
    async for listed in db.media.listing():
        for path in (one.path for one in listed if PARTIAL not in one.path and one.path not in copied.objects):
            name, _, form = path.partition("/")
            if form not in FORMS:
                continue
            with contextlib.suppress(MediaMissing):  # it was removed meanwhile
                async for piece in db.media.stream(name, PictureForm(form)):
                    writer.add(BackupRecord(path, bytes(piece), is_object=True))
                writer.add(BackupRecord(path, b"", is_object=True))
                copied.objects.add(path)


def _answer(file: Path, copied: BackedUpKeys, *, is_encrypted: bool, pictures: bool) -> CommandAnswer:
    size = file.stat().st_size
    lines = [
        f"{file} has {copied.keys:,} keys and {len(copied.objects):,} files of pictures: {size:,} bytes"
        + (", encrypted" if is_encrypted else ""),
        f"{copied.again:,} keys that changed meanwhile were copied again; writes waited {copied.paused * 1000:,.0f} ms",
        "Keep SECRET_KEY, or the embedded store's DATA_DIR/secret.key, too: it is not in the backup.",
    ]
    if not pictures:
        lines.append("Pictures are not in the backup: copy MEDIA_STORE after it.")
    data = {"keys": copied.keys, "again": copied.again, "objects": len(copied.objects), "bytes": size}
    return CommandAnswer(lines, {**data, "paused_seconds": copied.paused, "encrypted": is_encrypted})
