"""Whose pictures are processed next: members take turns, and each has some processor time in an hour."""

from collections import Counter

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.limits import windows
from store.limits.windows import HOUR_SECONDS
from store.pictures import uploads
from store.settings import Settings
from tests.support.costly_pictures import scans
from tests.support.people import Member, shrunk
from tests.support.uploads import drawn, sent, upload_of
from tests.support.work import number, waiting, work_off

MANY = 4  # uploads of one member, as many as a worker takes over from one partition at a time


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Limits are on, and a member has 30 s of processor time in an hour, which is what one picture may take."""
    return shrunk(settings, rate_limit=10_000, new_member_hours=0, image_seconds_per_hour=30)


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The members whose pictures were processed, in that order."""
    found: list[int] = []
    spend = uploads.count_processing

    async def noting(db: Database, member: int, seconds: float) -> None:
        found.append(member)
        await spend(db, member, seconds)

    monkeypatch.setattr(uploads, "count_processing", noting)
    return found


async def test_members_take_turns(
    db: Database, services: Services, order: list[int], alice: Member, bob: Member, worker: Worker
) -> None:
    """A stranger's picture waits for one picture of a member who has sent many before, costly ones included."""
    for _ in range(MANY):
        await sent(alice, scans())
    last = await sent(bob, drawn())
    await work_off(db, worker)
    assert order.index(number(bob.id)) <= 1
    assert Counter(order) == {number(alice.id): MANY, number(bob.id): 1}
    assert (await upload_of(bob, last))["state"] == "READY"


async def test_used_up_time(
    db: Database, services: Services, order: list[int], alice: Member, bob: Member, worker: Worker
) -> None:
    """The pictures of a member whose processor time is used up wait until the hour ends. Those of others do not."""
    await uploads.count_processing(db, number(alice.id), 30)
    order.clear()
    waits = await sent(alice, drawn())
    await sent(bob, drawn())
    await worker.run_once()
    assert order == [number(bob.id)]
    assert (await upload_of(alice, waits))["state"] == "PROCESSING"
    await db.one("DEL", keys.processing_time(number(alice.id), windows.current(HOUR_SECONDS)))
    await worker.run_once()
    assert (await upload_of(alice, waits))["state"] == "READY"
    assert not await waiting(db)


async def test_time_is_counted(db: Database, services: Services, alice: Member, worker: Worker) -> None:
    """The processor time of a picture's child process is counted for its member, also if the picture is refused."""
    key = keys.processing_time(number(alice.id), windows.current(HOUR_SECONDS))
    taken = [0]
    for data in (drawn(), b"no picture"):
        await sent(alice, data)
        await worker.run_once()
        taken.append(int(await db.one("GET", key)))
    assert taken == sorted(set(taken))
    assert 0 < await db.one("TTL", key) <= HOUR_SECONDS


async def test_new_members_have_less_time(db: Database, settings: Settings, alice: Member) -> None:
    """A new member has the share of new members of the processor time; without limits, nobody's is counted."""
    await uploads.count_processing(db, number(alice.id), 6)
    assert await uploads.may_process(db, number(alice.id))
    for changes, is_left in ({"new_member_hours": 1}, False), ({"new_member_hours": 1, "rate_limit": 0}, True):
        other = Database(settings.redis_url, shrunk(settings, **changes))
        assert await uploads.may_process(other, number(alice.id)) is is_left
        await other.close()
