"""The command `restore`: makes an empty store of a backup. Nobody else may use the store meanwhile."""

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from resolvers.upkeep.backups.backup import read_secret
from resolvers.upkeep.backups.file import BackupRecord, Reader, Unreadable
from resolvers.upkeep.commands import CommandAnswer, Show, UpkeepRefused
from store.client.database import Database
from store.layout import processes, versions
from store.media.objects import MediaUnavailable, PictureForm
from store.upkeep.copying import kept, moving
from store.upkeep.copying.moving import Value


async def run(db: Database, show: Show, *, file: Path, key_file: Path | None) -> CommandAnswer:
    """Restore a backup. The whole file is read before anything is written, so that a damaged one changes nothing."""
    secret = read_secret(key_file)
    try:
        await _check_target(db)
        frames = _check_file(file, secret)
        with show("frames", frames) as bar, file.open("rb") as opened, tempfile.TemporaryDirectory() as folder:
            restored = _Restored(db, Path(folder) / "object")
            for records in Reader(opened, secret).records():
                await restored.add(records)
                bar.update(1)
    except FileNotFoundError as error:
        raise UpkeepRefused(f"{error.filename}: there is no such file") from None
    except Unreadable as error:
        raise UpkeepRefused(f"{file} cannot be restored: {error}") from error
    except (moving.MoveFailed, MediaUnavailable) as error:
        raise UpkeepRefused(f"the restore did not succeed: {error}. Empty the store before the next attempt") from error
    lines = [
        f"{restored.keys:,} values and {restored.objects:,} files of pictures restored",
        "Now start Perch with the SECRET_KEY of that store. It finishes the jobs that were left. Then run verify.",
    ]
    return CommandAnswer(lines, {"values": restored.keys, "objects": restored.objects})


async def _check_target(db: Database) -> None:
    if name := await kept.first(db):
        raise UpkeepRefused(f"the store is not empty: it has the key {name!r}")
    if (others := await processes.running(db) - 1) > 0:
        raise UpkeepRefused(f"{others} other processes use the store: stop them first")


def _check_file(file: Path, secret: bytes | None) -> int:
    """Return the number of frames of a whole backup whose layout this Perch knows."""
    with file.open("rb") as opened:
        reader = Reader(opened, secret)
        if reader.head.layout > versions.NEWEST:
            raise Unreadable(
                f"it has layout {reader.head.layout}, and this Perch knows layouts up to {versions.NEWEST}"
            )
        return sum(1 for _ in reader.records())


class _Restored:
    """Writes records to a store, and counts them."""

    def __init__(self, db: Database, draft: Path) -> None:
        self._db = db
        self._draft = draft  # of the object whose pieces arrive
        self.keys = self.objects = 0

    async def add(self, records: Sequence[BackupRecord]) -> None:
        values = {record.name: record for record in records if not record.is_object}  # the last one of each name counts
        found = [Value(one.name, one.data, one.expires) for one in values.values() if one.data is not None]
        await moving.restore(self._db, found, [one.name for one in values.values() if one.data is None])
        self.keys += len(found)
        for piece in (record for record in records if record.is_object):
            await self._add_piece(piece)

    async def _add_piece(self, piece: BackupRecord) -> None:
        if piece.data:
            with self._draft.open("ab") as file:
                file.write(piece.data)
            return
        name, _, form = piece.name.partition("/")
        self._draft.touch()
        with self._draft.open("rb") as file:
            await self._db.media.put(name, PictureForm(form), file)
        with contextlib.suppress(FileNotFoundError):
            self._draft.unlink()
        self.objects += 1
