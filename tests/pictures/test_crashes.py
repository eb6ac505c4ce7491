"""The process dies at any step of an upload's life. No record stays without objects, and no object without a record."""

import contextlib
import io
import random
from collections.abc import Sequence
from typing import IO, Any

import pytest

from resolvers import uploads as receiving
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.upkeep import verify
from store.client.database import Command, Database
from store.media.objects import Media, PictureForm
from store.pictures import uploads
from store.settings import Settings
from store.upkeep import objects as stored
from tests.support.people import Member, shrunk
from tests.support.uploads import announce, drawn, objects, put, upload_of
from tests.support.work import EFFORT, Crash, number, work_off

STEPS = 20  # calls of the store and the object store in the life of an upload, with some to spare
LIVES = min(4 * EFFORT, 100)  # of uploads, each ended by a crash at a step drawn by seed


class Fate:
    """Counts calls of one process, and ends it at one of them: before the call is made, or after it."""

    def __init__(self, step: int, *, after: bool) -> None:
        self._step = step
        self._after = after
        self.has_struck = False

    def before(self) -> None:
        """Die here, if this is the call or the process has died before."""
        if self.has_struck or (self._step == 0 and not self._after):
            self.has_struck = True
            raise Crash

    def after(self) -> None:
        """Die here, if the call was made and its answer is never seen."""
        if self._step == 0:
            self.has_struck = True
            raise Crash
        self._step -= 1


class MortalMedia(Media):
    """The object store of a process that dies."""

    def __init__(self, settings: Settings, fate: Fate) -> None:
        super().__init__(settings)
        self._fate = fate

    async def put(self, name: str, form: PictureForm, file: IO[bytes]) -> None:
        """Store an object, or die."""
        self._fate.before()
        await super().put(name, form, file)
        self._fate.after()

    async def remove(self, path: str) -> None:
        """Remove an object, or die."""
        self._fate.before()
        await super().remove(path)
        self._fate.after()


class Mortal(Database):
    """The database client of a process that dies."""

    def __init__(self, settings: Settings, fate: Fate) -> None:
        super().__init__(settings.redis_url, settings)
        self._fate = fate
        self.media = MortalMedia(settings, fate)

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands, or die."""
        self._fate.before()
        replies = await super().run(commands)
        self._fate.after()
        return replies


@pytest.fixture(params=["folder", "s3"])
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Each test runs on a folder and on S3."""
    if request.param == "folder":
        return settings
    return shrunk(settings, media_store=request.getfixturevalue("s3").store())


async def live_until(mortal: Mortal, upload: str, data: bytes) -> bool:
    """Receive the bytes of an upload and do all work in a process that may die; returns whether they were taken."""
    try:
        found = await uploads.read(mortal, number(upload))
        assert found
        return await receiving.receive(mortal, found, io.BytesIO(data))
    except Crash:
        return False
    finally:
        with contextlib.suppress(Crash):
            await work_off(mortal, Worker(mortal))


async def is_sound(db: Database) -> bool:
    """Repair everything, objects that belong to nothing included, and return whether nothing is found then."""
    for _ in range(3):
        report = await verify.verify(db, homes=1, seed=1, progress=lambda _: None)
        await verify.repair(db, report.findings)
        await verify.remove_orphans(db, report)
    return (await verify.verify(db, homes=1, seed=1, progress=lambda _: None)).clean


async def test_killed_while_uploading(
    services: Services, settings: Settings, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After any crash, the same PUT and another worker lead to a picture that is READY, with its two objects alone."""
    monkeypatch.setattr(stored, "ORPHAN_AGE", -stored.ORPHAN_AGE)  # whatever is there is old
    db, lot, deaths = services.db, random.Random(21), 0  # noqa: S311  no secret
    for life in range(LIVES):
        data = drawn(size=(40 + life % 7, 30))
        upload = await announce(alice, data)
        fate = Fate(lot.randrange(STEPS), after=bool(life % 2))
        mortal = Mortal(settings, fate)
        was_taken = await live_until(mortal, upload["id"], data)
        await mortal.close()
        deaths += fate.has_struck
        if not was_taken:
            assert await put(alice, upload["url"] or "", data) == 204
        await work_off(db, Worker(db))
        assert (await upload_of(alice, upload["id"]))["state"] == "READY"
        assert not (await alice.do("post", text="", images=[{"uploadId": upload["id"]}]))["userErrors"]
        assert await is_sound(db)
        assert len(await objects(db)) == 2 * (life + 1)
    assert deaths >= LIVES // 2


async def test_killed_while_removing(
    services: Services, settings: Settings, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash while an upload is removed, another worker removes all of its objects."""
    monkeypatch.setattr(stored, "ORPHAN_AGE", -stored.ORPHAN_AGE)
    db, lot = services.db, random.Random(22)  # noqa: S311  no secret
    for life in range(max(2, LIVES // 4)):
        data = drawn()
        upload = await announce(alice, data)
        assert await put(alice, upload["url"], data) == 204
        if life % 2:
            await work_off(db, Worker(db))
        mortal = Mortal(settings, Fate(lot.randrange(STEPS // 2), after=bool(life % 2)))
        with contextlib.suppress(Crash):
            await mortal.ask(uploads.remove_command(mortal, number(upload["id"]), number(alice.id)))
            await work_off(mortal, Worker(mortal))
        await mortal.close()
        await db.ask(uploads.remove_command(db, number(upload["id"]), number(alice.id)))
        await work_off(db, Worker(db))
        assert await objects(db) == set()
        assert await is_sound(db)
