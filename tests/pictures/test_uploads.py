"""Uploads: announced, limited, received exactly as announced, and shown to their member alone."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.ids import first_of
from store.media.objects import PictureForm
from store.pictures import uploads
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.uploads import announce, drawn, objects, put, sent, upload_of, uploaded_picture
from tests.support.work import number, waiting, work_off

GONE, TOO_MANY = 410, 429


@pytest.fixture
def settings(settings: Settings, media_store: str) -> Settings:
    """Limits are on. Each test runs on a folder and on S3."""
    return shrunk(
        settings,
        rate_limit=10_000,
        new_member_hours=0,
        images_per_day=4,
        max_image_bytes=5_000,
        media_store=media_store,
    )


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    """Yield a body whose length no header tells."""
    for part in parts:
        yield part


async def age(db: Database, identity: str, by: timedelta) -> str:
    """Make an upload older, by giving it another id; returns that one."""
    old = number(identity)
    new = first_of(datetime.now(UTC) - by) | old & 0xFFF
    fields = await db.one("HGETALL", keys.image(old))
    owner = dict(zip(fields[::2], fields[1::2], strict=True))["owner"]
    places = keys.uploads(old >> 4 & 255), keys.images(int(owner))
    await db.ask(("RENAME", keys.image(old), keys.image(new)), *(("ZREM", key, old) for key in places))
    await db.ask(*(("ZADD", key, new, new) for key in places))
    return f"upload_{new:014x}"


async def test_a_picture(db: Database, services: Services, alice: Member, worker: Worker) -> None:
    """A picture that is announced and sent becomes READY, and two small WebP files of it are all that is stored."""
    data = drawn()
    upload = await announce(alice, data)
    assert (upload["state"], upload["error"], upload["purpose"]) == ("WAITING", None, "POST")
    assert await put(alice, upload["url"], data) == 204
    assert (await upload_of(alice, upload["id"]))["state"] == "PROCESSING"
    await worker.run_once()
    shown = await upload_of(alice, upload["id"])
    assert (shown["state"], shown["url"], shown["error"]) == ("READY", None, None)
    found = await uploads.read(db, number(upload["id"]))
    assert found
    assert found.image
    assert (found.image.width, found.image.height, len(found.image.blurhash)) == (64, 48, 28)
    assert await objects(db) == {f"{found.object}/large.webp", f"{found.object}/small.webp"}
    sizes = [await db.media.size(found.object, form) or 0 for form in (PictureForm.LARGE, PictureForm.SMALL)]
    assert found.bytes == sum(sizes)
    assert not await waiting(db)


async def test_refused_announcements(db: Database, alice: Member) -> None:
    """Another type, no bytes and too many bytes are refused, each with its field; nothing is created."""
    given = {"purpose": "POST", "contentType": "image/png", "size": 5_000}
    assert await alice.refused("createUpload", **given | {"contentType": "image/svg+xml"}) == (
        "INVALID",
        ["contentType"],
    )
    assert await alice.refused("createUpload", **given | {"size": 0}) == ("INVALID", ["size"])
    assert await alice.refused("createUpload", **given | {"size": -1}) == ("INVALID", ["size"])
    assert await alice.refused("createUpload", **given | {"size": 5_001}) == ("TOO_LONG", ["size"])
    assert await alice.refused("createUpload", **given | {"idempotencyKey": ""}) == ("INVALID", ["idempotencyKey"])
    both = await alice.do("createUpload", purpose="POST", contentType="text/html", size=0)
    assert [error["field"] for error in both["userErrors"]] == [["contentType"], ["size"]]
    assert await db.one("ZCARD", keys.images(number(alice.id))) == 0


async def test_limit_of_a_day(alice: Member, bob: Member) -> None:
    """A member announces so many pictures a day, failed or removed ones included; others are not affected."""
    for _ in range(4):
        await announce(alice, b"x")
    assert await alice.refused("createUpload", purpose="POST", contentType="image/png", size=1) == (
        "LIMIT_REACHED",
        None,
    )
    await announce(bob, b"x")


async def test_a_retry(alice: Member) -> None:
    """The same key and input give the same upload, and other input is a CONFLICT."""
    first = await announce(alice, b"x", idempotencyKey="k")
    assert await announce(alice, b"x", idempotencyKey="k") == first
    fields = {"purpose": "AVATAR", "contentType": "image/jpeg", "size": 1, "idempotencyKey": "k"}
    assert await alice.refused("createUpload", **fields) == ("CONFLICT", ["idempotencyKey"])


async def test_strangers(anonymous: Member, alice: Member, bob: Member) -> None:
    """Nobody but its member sees an upload, by `upload` or by `node`; anonymous clients cannot announce any."""
    upload = await announce(alice, b"x")
    for other in (bob, anonymous):
        assert await upload_of(other, upload["id"]) is None
        assert await other.ask("query($id: ID!) { node(id: $id) { id } }", id=upload["id"]) is None
    assert await alice.ask("query($id: ID!) { node(id: $id) { id } }", id=upload["id"]) == {"id": upload["id"]}
    assert await upload_of(alice, alice.id) is None
    assert await alice.fail('{ upload(id: "x") { id } }') == "BAD_USER_INPUT"
    mutation = 'mutation { createUpload(input: {purpose: POST, contentType: "image/png", size: 1}) { upload { id } } }'
    assert await anonymous.fail(mutation) == "UNAUTHENTICATED"


async def test_guessed_links(alice: Member, bob: Member) -> None:
    """A changed token, the token of another upload and an id that is no number all look like an unknown path."""
    data = drawn()
    ours, theirs = await announce(alice, data), await announce(bob, data)
    path, _, token = ours["url"].rpartition("/")
    other = theirs["url"].rpartition("/")[2]
    wrong = [f"{path}/{other}", f"{path}/{token[:-2]}xx", f"{path}/x", f"/uploads/x/{token}", f"/uploads/{'9' * 30}/x"]
    assert {await put(alice, url, data) for url in wrong} == {404}
    assert (await upload_of(alice, ours["id"]))["state"] == "WAITING"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"data": b""}, 400),
        ({"data": b"xx"}, 400),
        ({"data": b"x" * 20_000}, 413),
        ({"pieces": (b"x", b"y")}, 400),
        ({"pieces": (b"x" * 700, b"y" * 10_000)}, 413),
        ({"kind": "image/png"}, 415),
        ({"kind": None}, 415),
        ({"data": gzip.compress(b"x"), "Content-Encoding": "gzip"}, 415),
    ],
    ids=["none", "fewer", "more", "fewer in chunks", "more in chunks", "other type", "no type", "encoded"],
)
async def test_not_as_announced(db: Database, alice: Member, change: dict[str, Any], status: int) -> None:
    """Bytes that are not as announced are refused, nothing is stored, and the link still works."""
    data = drawn()
    upload = await announce(alice, data)
    body = {"data": pieces(*change["pieces"])} if "pieces" in change else {"data": data, **change}
    assert await put(alice, upload["url"], **body) == status
    assert (await upload_of(alice, upload["id"]))["state"] == "WAITING"
    assert await objects(db) == set()
    assert await put(alice, upload["url"], pieces(data[:9], data[9:])) == 204


async def test_an_expired_link(db: Database, services: Services, alice: Member) -> None:
    """After its time a link takes nothing, and says so."""
    data = drawn()
    identity = await age(db, (await announce(alice, data))["id"], timedelta(seconds=3_601))
    shown = await upload_of(alice, identity)
    assert await put(alice, shown["url"], data) == GONE
    assert (await upload_of(alice, identity))["state"] == "WAITING"


async def test_a_repeated_put(db: Database, alice: Member, worker: Worker) -> None:
    """A PUT that is repeated is answered as before and changes nothing, whatever its bytes."""
    data = drawn()
    upload = await announce(alice, data)
    for _ in range(2):
        assert await put(alice, upload["url"], data) == 204
    assert len(await waiting(db)) == len(await objects(db)) == 1
    await worker.run_once()
    assert await put(alice, upload["url"], b"other", "text/html") == 204
    assert (await upload_of(alice, upload["id"]))["state"] == "READY"
    assert len(await objects(db)) == 2


async def test_two_puts_at_once(db: Database, alice: Member) -> None:
    """Of two PUTs at the same time one counts, both are answered, and one original is stored; a third is refused."""
    data = drawn()
    upload = await announce(alice, data)
    statuses = await asyncio.gather(*(put(alice, upload["url"], pieces(data)) for _ in range(2)))
    assert set(statuses) == {204}
    assert len(await waiting(db)) == len(await objects(db)) == 1


async def test_cors(services: Services, alice: Member) -> None:
    """A browser learns that it may PUT to a link."""
    upload = await announce(alice, b"x")
    async with alice.client.options(upload["url"]) as response:
        assert (response.status, response.headers["Access-Control-Allow-Methods"]) == (204, "PUT")


async def test_the_sweep(db: Database, services: Services, alice: Member, worker: Worker) -> None:
    """Uploads that are attached to nothing are removed after a day, with their objects. Others stay."""
    young = await uploaded_picture(alice, worker)
    old = await age(db, await uploaded_picture(alice, worker), timedelta(hours=25))
    never_sent = await age(db, (await announce(alice, b"x"))["id"], timedelta(hours=25))
    attached = await age(db, await uploaded_picture(alice, worker), timedelta(hours=25))
    await db.one("HSET", keys.image(number(attached)), "subject", "status:1")
    assert len(await objects(db)) == 6
    assert await uploads.sweep(db) == 2
    await work_off(db, worker)
    assert [await upload_of(alice, one) is None for one in (young, old, never_sent, attached)] == [
        False,
        True,
        True,
        False,
    ]
    assert len(await objects(db)) == 4
    assert await uploads.sweep(db) == 0


async def test_removed_while_processing(db: Database, services: Services, alice: Member, worker: Worker) -> None:
    """An upload that is removed before its job runs leaves no object."""
    identity = await sent(alice, drawn())
    await db.ask(uploads.remove_command(db, number(identity), number(alice.id)))
    await work_off(db, worker)
    assert await objects(db) == set()


async def test_a_deleted_member(db: Database, alice: Member, worker: Worker) -> None:
    """A deleted account leaves no upload, in whatever state, no object and no link that takes anything."""
    data = drawn()
    upload = await announce(alice, data)
    await uploaded_picture(alice, worker)
    await sent(alice, data)
    await alice.do("deleteAccount", password=PASSWORD)
    await work_off(db, worker)
    assert await put(alice, upload["url"], data) == 404
    assert await objects(db) == set()
    assert await db.one("EXISTS", keys.images(number(alice.id))) == 0
    assert await db.one("EXISTS", keys.uploads(number(alice.id) >> 4 & 255)) == 0
