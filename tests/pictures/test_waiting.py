"""Bytes of uploads are bounded before they are processed: by member, by address, in all, and by disk space."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.ids import partition
from store.limits import windows
from store.media.objects import Media
from store.pictures import uploads
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.uploads import announce, drawn, put, sent, upload_of
from tests.support.work import number, work_off

LARGE = b"x" * 600_000  # two of them are more than a mebibyte; they are no pictures
TAKEN, TOO_MANY, UNAVAILABLE = 204, 429, 503


def limited(**limits: Any) -> pytest.MarkDecorator:
    """Mark a test that lowers other limits."""
    return pytest.mark.parametrize("limits", [limits], indirect=True, ids=str)


@pytest.fixture
def limits(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The limits that a test lowers."""
    return getattr(request, "param", {})


@pytest.fixture
def settings(settings: Settings, limits: dict[str, Any]) -> Settings:
    """Limits are on: a mebibyte of each member may wait."""
    usual = {"rate_limit": 10_000, "images_waiting_mib_per_member": 1, "new_member_hours": 0}
    return shrunk(settings, **usual | limits)


async def send(member: Member, data: bytes = LARGE) -> int:
    """Announce an upload, and return the status of the answer to its bytes."""
    return await put(member, (await announce(member, data))["url"], data)


async def counted(db: Database, member: Member) -> int:
    """Return how many uploads are counted in the partition of a member."""
    return int(await db.one("HLEN", keys.originals(partition(number(member.id)))))


async def test_bytes_of_a_member(db: Database, services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """More bytes of a member than may wait are refused until some are processed; those of others are taken."""
    assert await send(alice) == TAKEN
    upload = await announce(alice, LARGE)
    assert await put(alice, upload["url"], LARGE) == TOO_MANY
    assert (await upload_of(alice, upload["id"]))["state"] == "WAITING"
    assert await send(bob) == TAKEN
    await work_off(db, worker)
    assert await uploads.waiting_bytes(db) == 0
    assert await put(alice, upload["url"], LARGE) == TAKEN


async def test_members_at_once(db: Database, services: Services, alice: Member) -> None:
    """Of uploads of a member that arrive at the same moment, only as many are taken as may wait."""
    statuses = await asyncio.gather(*(send(alice) for _ in range(4)))
    assert sorted(statuses) == [TAKEN] + [TOO_MANY] * 3
    assert await uploads.waiting_bytes(db) == len(LARGE)


async def test_one_large_file(db: Database, services: Services, alice: Member) -> None:
    """A file that is larger than what may wait of a member is taken if nothing else waits."""
    upload = await announce(alice, LARGE * 2)
    for _ in range(2):
        assert await put(alice, upload["url"], _twice(LARGE)) == TAKEN
    assert await uploads.waiting_bytes(db) == 2 * len(LARGE)


async def _twice(data: bytes) -> AsyncIterator[bytes]:
    yield data
    yield data


async def test_bytes_that_never_arrive(db: Database, services: Services, alice: Member) -> None:
    """An upload whose bytes are refused, or whose process was killed, keeps no place."""
    upload = await announce(alice, LARGE)
    assert await put(alice, upload["url"], LARGE[:-1]) == 400
    assert await counted(db, alice) == 0
    stale = {keys.originals(partition(number(alice.id))): f"{number(alice.id)} {len(LARGE)} 1"}
    for key, value in stale.items():
        await db.one("HSET", key, "1", value)
    assert await uploads.waiting_bytes(db) == 0
    assert await put(alice, upload["url"], LARGE) == TAKEN
    assert await counted(db, alice) == 1


async def test_removed_uploads(db: Database, services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """An upload that is removed keeps no place, whether it is removed by itself or with its member."""
    identity = await sent(alice, drawn())
    await db.ask(uploads.remove_command(db, number(identity), number(alice.id)))
    assert await counted(db, alice) == 0
    await sent(bob, drawn())
    await bob.do("deleteAccount", password=PASSWORD)
    await work_off(db, worker)
    assert await counted(db, bob) == 0


async def test_failed_pictures(db: Database, services: Services, alice: Member, worker: Worker) -> None:
    """Neither READY nor FAILED pictures keep a place."""
    await sent(alice, drawn())
    await sent(alice, b"no picture")
    assert await counted(db, alice) == 2
    await work_off(db, worker)
    assert await counted(db, alice) == 0


@limited(images_waiting_mib=1)
async def test_bytes_in_all(db: Database, services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """More bytes than may wait in all are refused, whoever sends them, until some are processed."""
    assert await send(alice) == TAKEN
    upload = await announce(bob, LARGE)
    assert await put(bob, upload["url"], LARGE) == UNAVAILABLE
    await work_off(db, worker)
    assert await put(bob, upload["url"], LARGE) == TAKEN


@limited(upload_mib_per_address=1, trusted_proxies=("127.0.0.0/8",))
async def test_bytes_of_an_address(
    db: Database, services: Services, alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address that has sent enough is refused until the hour ends, whoever's uploads it sends. Others are not."""
    assert await send(alice) == TAKEN
    upload = await announce(bob, LARGE)
    headers = {"Content-Type": "image/jpeg"}
    async with bob.client.put(upload["url"], data=LARGE, headers=headers) as response:
        assert (response.status, int(response.headers["Retry-After"]) > 0) == (TOO_MANY, True)
    other = await announce(bob, b"x")
    assert await put(bob, other["url"], b"x", **{"X-Forwarded-For": "192.0.2.1"}) == TAKEN
    now = windows.current(1)
    monkeypatch.setattr(windows, "current", lambda seconds: now // seconds + 1)
    assert await put(bob, upload["url"], LARGE) == TAKEN


@limited(new_member_hours=1, new_member_percent=20, images_per_day=10)
async def test_pictures_of_a_new_member(services: Services, alice: Member) -> None:
    """A new member announces the share of new members of the pictures of a day."""
    for _ in range(2):
        await announce(alice, b"x")
    payload = await alice.do("createUpload", purpose="POST", contentType="image/png", size=1)
    (error,) = payload["userErrors"]
    assert error["code"] == "LIMIT_REACHED"
    assert error["message"].startswith("at most 2 pictures a day for a new member: try again in ")


@limited(min_free_disk=1 << 30)
async def test_no_room(db: Database, services: Services, alice: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without disk space, uploads are neither announced nor taken, and posts are written."""
    mutation = 'mutation { createUpload(input: {purpose: POST, contentType: "image/png", size: 1}) { upload { id } } }'
    assert await alice.fail(mutation) == "SERVICE_UNAVAILABLE"
    assert await alice.post("words take little room")
    with monkeypatch.context() as patch:
        patch.setattr(Media, "has_room", _has_room)
        upload = await announce(alice, b"x")
    assert await put(alice, upload["url"], b"x") == UNAVAILABLE
    assert (await upload_of(alice, upload["id"]))["state"] == "WAITING"


async def _has_room(_: Media) -> bool:
    return True
