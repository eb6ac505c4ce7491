"""The object store: a folder and a real S3, down, slow, full and back again."""

import io
from collections.abc import Iterator

import pytest
from aiohttp import ClientSession

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import jobs
from store.client.database import Database
from store.media.objects import Media, MediaMissing, PictureForm
from store.pictures import uploads
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.servers.s3 import S3Server
from tests.support.uploads import announce, drawn, objects, put, sent, upload_of, uploaded_picture
from tests.support.work import number, waiting, work_off

NAME = "0" * 46
MANY_PIECES = (5 << 20) + 1_000  # bytes: more than any store takes at once


@pytest.fixture
def settings(settings: Settings, media_store: str) -> Settings:
    """Each test runs on a folder and on S3."""
    return shrunk(settings, media_store=media_store, job_attempts=2)


@pytest.fixture
def broken(impatient: None, settings: Settings, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """An object store that is away until the list is emptied: a file lies in the folder's place, or S3 is killed."""
    away = ["away"]
    if settings.media_store:
        server: S3Server = request.getfixturevalue("s3")
        server.kill()
        mend = server.start
    else:
        folder = settings.data_dir / "media"
        folder.write_text("in the way")
        mend = folder.unlink
    yield away
    if away:
        mend()


async def content(store: Media, form: PictureForm, *part: int) -> bytes:
    """Return the bytes of an object, or a part of them."""
    return b"".join([piece async for piece in store.stream(NAME, form, *part)])


async def test_objects(db: Database) -> None:
    """An object is read whole and in parts, listed with its size, replaced and removed; a missing one is no error."""
    store, data = db.media, bytes(range(256)) * 2_000
    await store.put(NAME, PictureForm.LARGE, io.BytesIO(b"first"))
    await store.put(NAME, PictureForm.LARGE, io.BytesIO(data))
    assert await store.size(NAME, PictureForm.LARGE) == len(data)
    assert await store.size(NAME, PictureForm.SMALL) is None
    assert await content(store, PictureForm.LARGE) == data
    assert await content(store, PictureForm.LARGE, 300_000) == data[300_000:]
    assert await content(store, PictureForm.LARGE, 10, 300_000) == data[10:300_000]
    assert await content(store, PictureForm.LARGE, 0, 1) == data[:1]
    with pytest.raises(MediaMissing):
        await content(store, PictureForm.SMALL)
    listed = [one async for chunk in store.listing() for one in chunk]
    assert [(one.path, one.size) for one in listed] == [(f"{NAME}/large.webp", len(data))]
    for _ in range(2):
        await store.delete([NAME, "1" * 46])
    assert await objects(db) == set()


async def test_large_objects(db: Database) -> None:
    """An object of many pieces is stored whole."""
    data = bytes(MANY_PIECES)
    await db.media.put(NAME, PictureForm.ORIGINAL, io.BytesIO(data))
    assert await db.media.size(NAME, PictureForm.ORIGINAL) == len(data)


async def test_away_while_uploading(db: Database, alice: Member, settings: Settings, broken: list[str]) -> None:
    """While the object store is away, a PUT is answered with 503 and changes nothing. The same link works later."""
    data = drawn()
    upload = await announce(alice, data)
    assert await put(alice, upload["url"], data) == 503
    assert (await upload_of(alice, upload["id"]))["state"] == "WAITING"
    assert not await waiting(db)


async def test_away_while_processing(
    db: Database, services: Services, alice: Member, worker: Worker, impatient: None, request: pytest.FixtureRequest
) -> None:
    """A picture is processed as soon as the object store is back, however often its job was tried before."""
    identity = await sent(alice, drawn())
    (folder := services.settings.data_dir / "media").mkdir(exist_ok=True)
    is_s3 = bool(services.settings.media_store)
    aside = folder.with_name("aside")
    if is_s3:
        server: S3Server = request.getfixturevalue("s3")
        server.kill()
    else:
        folder.rename(aside)
        folder.write_text("in the way")
    for _ in range(services.settings.job_attempts + 2):
        with pytest.raises(AssertionError):  # the job is never done
            await work_once(db, worker)
    assert (await upload_of(alice, identity))["state"] == "PROCESSING"
    if is_s3:
        server.start()
    else:
        folder.unlink()
        aside.rename(folder)
    await work_off(db, worker)
    assert (await upload_of(alice, identity))["state"] == "READY"


async def work_once(db: Database, worker: Worker) -> None:
    """Have the worker try everything once, as if all leases had expired; raises AssertionError if jobs are left."""
    for job in await waiting(db):
        await jobs.hand_over(db, job)
    await worker.run_once()
    assert not await waiting(db)


async def test_a_link(db: Database, settings: Settings, alice: Member, anonymous: Member, worker: Worker) -> None:
    """A link sends the picture from a folder, and leads to a bucket, which sends it as WebP."""
    identity = await uploaded_picture(alice, worker)
    payload = await alice.do("post", "status { id images { url } }", text="", images=[{"uploadId": identity}])
    (image,) = payload["status"]["images"]
    async with anonymous.client.get(image["url"], allow_redirects=False) as response:
        assert response.status == (302 if settings.media_store else 200)
        link = response.headers.get("Location", image["url"])
    where = link if settings.media_store else anonymous.client.make_url(link)
    async with ClientSession() as outside, outside.get(where) as response:
        assert (response.status, response.headers["Content-Type"]) == (200, "image/webp")
        assert (await response.read())[:4] == b"RIFF"
    await alice.do("deletePost", postId=payload["status"]["id"])
    async with anonymous.client.get(image["url"], allow_redirects=False) as response:
        assert response.status == 404


async def test_a_lost_original(db: Database, alice: Member, worker: Worker) -> None:
    """An upload whose original is gone fails, and its job ends."""
    identity = await sent(alice, drawn())
    found = await uploads.read(db, number(identity))
    assert found
    await db.media.delete([found.object])
    await work_off(db, worker)
    shown = await upload_of(alice, identity)
    assert (shown["state"], shown["error"]) == ("FAILED", "INVALID")


async def test_a_failed_picture(db: Database, alice: Member, worker: Worker) -> None:
    """A file that is no picture fails with a reason, and nothing of it stays."""
    identity = await sent(alice, b"no picture at all")
    await work_off(db, worker)
    shown = await upload_of(alice, identity)
    assert (shown["state"], shown["error"], shown["url"]) == ("FAILED", "INVALID", None)
    assert await objects(db) == set()
