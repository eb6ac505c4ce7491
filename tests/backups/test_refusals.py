"""What `backup` and `restore` refuse. A refused backup leaves no file, and a refused restore changes nothing."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from resolvers.upkeep.backups import backup, restore
from resolvers.upkeep.commands import UpkeepRefused
from resolvers.upkeep.progress import bar
from store import keys
from store.client.database import Database
from store.keys.fields import LayoutField
from store.layout import processes, versions
from store.upkeep.copying import kept
from tests.support.people import Member
from tests.support.servers.moves import failing
from tests.support.servers.processes import connected, own_store

HIDDEN = partial(bar, hidden=True)
KEY = "a passphrase that only tests know"


@pytest.fixture
async def target(tmp_path: Path) -> AsyncIterator[Database]:
    (tmp_path / "target").mkdir()
    async with own_store(tmp_path / "target") as server, connected(server.settings["redis_url"]) as db:
        yield db


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(KEY)
    return path


async def save(db: Database, file: Path, key_file: Path | None = None) -> None:
    await backup.run(db, HIDDEN, file=file, key_file=key_file, without_pictures=True)


async def refused(db: Database, file: Path, key_file: Path | None = None) -> str:
    """Return the reason for which a restore is refused. The store must then be empty."""
    with pytest.raises(UpkeepRefused) as error:
        await restore.run(db, HIDDEN, file=file, key_file=key_file)
    assert await kept.first(db) is None
    return str(error.value)


async def test_encrypted(tmp_path: Path, db: Database, target: Database, key_file: Path, alice: Member) -> None:
    """An encrypted backup has no readable word, and is restored by its own key alone."""
    file, other = tmp_path / "backup", tmp_path / "other"
    other.write_text("another passphrase")
    await alice.post("A word that nobody else reads")
    await save(db, file, key_file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "give its key with --key-file" in await refused(target, file)
    assert "the key is another one" in await refused(target, file, other)
    await restore.run(target, HIDDEN, file=file, key_file=key_file)
    assert await kept.first(target)
    plain = tmp_path / "plain"
    await save(db, plain)
    assert b"user:{" not in file.read_bytes()


DAMAGES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "cut in a frame": ("it is not whole", lambda data: data[:-3]),
    "without its frames": ("it is not whole", lambda data: data[: data.index(b"\n") + 1]),
    "a changed byte": ("the key is another one, or the file is damaged", lambda data: data[:-3] + b"abc"),
    "a changed line": ("the key is another one, or the file is damaged", lambda data: data.replace(b"20", b"21", 1)),
    "something behind it": ("something follows its end", lambda data: data + b"x"),
    "a newer format": ("this Perch reads 'perch-backup-1'", lambda data: data.replace(b"backup-1", b"backup-2", 1)),
    "another file": ("it is no backup of Perch", lambda _: b"PK\x03\x04\n"),
}


async def test_damaged(tmp_path: Path, db: Database, target: Database, key_file: Path, alice: Member) -> None:
    """A file that is not whole, or was changed, is refused with the reason."""
    whole, damaged = tmp_path / "backup", tmp_path / "damaged"
    await save(db, whole, key_file)
    for message, damage in DAMAGES.values():
        damaged.write_bytes(damage(whole.read_bytes()))
        assert message in await refused(target, damaged, key_file)
    await save(db, tmp_path / "plain")
    damaged.write_bytes((tmp_path / "plain").read_bytes()[:-3] + b"abc")
    assert "it is damaged" in await refused(target, damaged)
    assert "leave --key-file out" in await refused(target, tmp_path / "plain", key_file)
    assert "there is no such file" in await refused(target, tmp_path / "nothing")


async def test_targets(tmp_path: Path, db: Database, target: Database, alice: Member) -> None:
    """A store that has keys, that another process uses, or that is to get a newer layout is refused."""
    file = tmp_path / "backup"
    await save(db, file)
    async with processes.announced(target), processes.announced(target):
        assert "1 other processes use the store" in await refused(target, file)
    newest = versions.NEWEST
    await db.one("HSET", keys.layout(), LayoutField.VERSION, newest + 1)
    await save(db, tmp_path / "newer")
    too_new = f"it has layout {newest + 1}, and this Perch knows layouts up to {newest}"
    assert too_new in await refused(target, tmp_path / "newer")
    await target.one("SET", "something", 1)
    with pytest.raises(UpkeepRefused, match="the store is not empty: it has the key 'something'"):
        await restore.run(target, HIDDEN, file=file, key_file=None)


async def test_failing_backups(tmp_path: Path, db: Database, alice: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup that fails leaves no file and lets writes continue; one onto an existing file leaves that as it is."""
    file = tmp_path / "backup"
    steps: dict[str, Any] = {"_catch_up": 1, "_copy_keys": 2}
    for name, before in steps.items():
        with monkeypatch.context() as patched:
            patched.setattr(backup, name, failing(getattr(backup, name), before))
            with pytest.raises(UpkeepRefused, match="the backup did not succeed: the network"):
                await save(db, file)
        assert not file.exists()
        await alice.post("Still here")
    file.write_text("mine")
    with pytest.raises(UpkeepRefused, match="exists already"):
        await save(db, file)
    assert file.read_text() == "mine"


def test_short_keys(key_file: Path) -> None:
    """A key file with fewer than 16 bytes is refused."""
    key_file.write_text("short")
    with pytest.raises(UpkeepRefused, match="needs 16 bytes or more"):
        backup.read_secret(key_file)
