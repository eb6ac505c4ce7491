"""What verify says of records and objects that do not agree, in both directions, and what repair does."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from resolvers.jobs.worker import Worker
from resolvers.upkeep import commands, verify
from resolvers.upkeep.commands import CommandAnswer, UpkeepRefused
from store import keys
from store.client.database import Database
from store.layout import versions
from store.media.objects import PARTIAL, PictureForm
from store.pictures import uploads
from store.settings import Settings
from store.upkeep import objects as checks
from store.upkeep import objects as stored
from tests.support.people import Member, shrunk
from tests.support.uploads import announce, objects, sent, upload_of, uploaded_picture
from tests.support.work import number, work_off

ORPHAN = f"{5 << 12:014x}{'0' * 32}"


@pytest.fixture
def settings(settings: Settings, media_store: str) -> Settings:
    """Each test runs on a folder and on S3."""
    return shrunk(settings, media_store=media_store)


@pytest.fixture(autouse=True)
async def newest_layout(db: Database) -> None:
    """The empty store gets the newest layout, as when Perch starts: `verify` refuses an older one."""
    await versions.check(db)


class Hidden:
    """A progress bar that shows nothing."""

    def update(self, n: float | None = 1) -> None:
        """Advance."""


@contextmanager
def hidden(_name: str, _total: int) -> Iterator[Hidden]:
    """Show nothing."""
    yield Hidden()


async def verified(db: Database) -> CommandAnswer:
    """Return the answer of verify."""
    return await commands.check(db, hidden, homes=10, all_homes=False, seed=1)


async def repaired(db: Database, *, yes: bool = False) -> CommandAnswer:
    """Return the answer of repair."""
    return await commands.repair(db, hidden, homes=10, all_homes=False, seed=1, yes=yes)


async def name_of(db: Database, identity: str) -> str:
    """Return the name of an upload's objects."""
    found = await uploads.read(db, number(identity))
    assert found
    return found.object


async def test_agreement(db: Database, alice: Member, worker: Worker) -> None:
    """Pictures in every state are as they should be, and verify counts their objects and bytes."""
    await uploaded_picture(alice, worker)
    await announce(alice, b"x")
    await sent(alice, b"no picture")
    await work_off(db, worker)
    await sent(alice, b"waiting")
    answer = await verified(db)
    size = sum([one.size async for chunk in db.media.listing() for one in chunk])
    assert (answer.status, answer.data["objects"], answer.data["objectBytes"]) == (0, 3, size)
    assert f"3 objects of pictures have {size:,} bytes" in answer.lines


async def test_missing_objects(db: Database, alice: Member, worker: Worker) -> None:
    """A picture without its forms is found. Repair removes it if it belongs to nothing, and names it if it does."""
    loose, attached = await uploaded_picture(alice, worker), await uploaded_picture(alice, worker)
    await alice.post("", images=[{"uploadId": attached}])
    for identity in (loose, attached):
        await db.media.delete([await name_of(db, identity)], [PictureForm.SMALL])
    answer = await verified(db)
    missing = {one["key"]: one["message"] for one in answer.data["findings"] if "has no small.webp" in one["message"]}
    assert missing.keys() == {keys.image(number(loose)), keys.image(number(attached))}
    assert answer.status == 1
    found = (await repaired(db)).data["findings"]
    assert keys.image(number(attached)) in {one["key"] for one in found}
    assert await upload_of(alice, loose) is None
    await work_off(db, worker)
    assert len(await objects(db)) == 1


async def test_wrong_bytes(db: Database, alice: Member, worker: Worker) -> None:
    """A record with another size than its objects is mended."""
    identity = await uploaded_picture(alice, worker)
    await db.one("HSET", keys.image(number(identity)), "bytes", 7)
    assert "says 7 bytes" in (await verified(db)).data["findings"][0]["message"]
    assert (await repaired(db)).status == 0


async def test_orphans(
    db: Database, alice: Member, worker: Worker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that belongs to nothing is counted, after two days it is named, and removed only with `--yes`."""
    await uploaded_picture(alice, worker)
    own = await objects(db)
    await db.media.put(ORPHAN, PictureForm.LARGE, io.BytesIO(b"orphan"))
    await db.media.put("no-name-of-ours", PictureForm.LARGE, io.BytesIO(b"x"))
    await db.media.put(await _first(own), PictureForm.ORIGINAL, io.BytesIO(b"left"))
    strange = 3
    if not settings.media_store:
        (settings.data_dir / "media" / ORPHAN / f"small.webp{PARTIAL}1").write_text("half")
        strange += 1
    young = await checks.listed(db)
    assert (young.young, young.orphans) == (strange, [])
    assert (await repaired(db, yes=True)).status == 0
    assert len(await objects(db)) == 2 + strange
    old = await checks.listed(db, datetime.now(UTC) + timedelta(hours=49))
    assert (old.young, len(old.orphans)) == (0, strange)
    monkeypatch.setattr(stored, "ORPHAN_AGE", timedelta(0))
    found = await repaired(db)
    assert (found.status, len(found.data["orphanedObjects"]), found.data["mended"]) == (1, strange, 0)
    assert (await repaired(db, yes=True)).status == 0
    assert await objects(db) == own


async def _first(paths: set[str]) -> str:
    return min(paths).partition("/")[0]


async def test_without_the_object_store(
    db: Database, alice: Member, worker: Worker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the object store is away, verify says so in one line, and repair changes nothing."""
    await uploaded_picture(alice, worker)
    lost = Database(settings.redis_url, shrunk(settings, media_store="s3://perch"))
    with monkeypatch.context() as changed:
        changed.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        changed.setattr("store.media.objects.RETRIES", 0)
        with pytest.raises(UpkeepRefused, match="object store"):
            await repaired(lost, yes=True)
    await lost.close()
    assert (await verify.verify(db, homes=1, seed=1, progress=lambda _: None)).clean
