"""Races for uploads: of announcements for the last place of a day, and of processing with removal and with itself."""

import asyncio
import io

import pytest

from resolvers import uploads as receiving
from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from store import keys
from store.client.database import Database
from store.pictures import uploads
from store.records.jobs import Job
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.uploads import announce, drawn, objects, sent, upload_of
from tests.support.work import Turns, number, waiting, work_off

ORDERS = 4  # orders tried


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Limits are on, and a member announces three pictures a day."""
    return shrunk(settings, rate_limit=10_000, new_member_hours=0, images_per_day=3)


async def test_the_last_of_a_day(db: Database, alice: Member) -> None:
    """Of announcements at the same time, as many succeed as the limit allows."""
    given = {"purpose": "POST", "contentType": "image/png", "size": 1}
    payloads = await asyncio.gather(*(alice.ask(MUTATION, input=given) for _ in range(6)))
    assert sum(not payload["userErrors"] for payload in payloads) == 3
    assert await db.one("ZCARD", keys.images(number(alice.id))) == 3


MUTATION = "mutation($input: CreateUploadInput!) { createUpload(input: $input) { userErrors { code } } }"


async def test_received_twice(db: Database, settings: Settings, alice: Member) -> None:
    """Of two processes that receive the same bytes, one commits them, and the other removes its own object."""
    for seed in range(ORDERS - 1):
        upload = await uploads.read(db, number((await announce(alice, b"x"))["id"]))
        assert upload
        turns = Turns(settings, seed)
        other = turns.elsewhere()
        await turns.together(*(_receive(one, upload) for one in (turns, other)))
        await other.close()
        assert len(await waiting(db)) == len(await objects(db)) == seed + 1


async def _receive(db: Database, upload: uploads.Upload) -> None:
    assert await receiving.receive(db, upload, io.BytesIO(b"x"))


@pytest.mark.parametrize("seed", range(ORDERS))
async def test_removed_while_processed(
    db: Database, settings: Settings, alice: Member, worker: Worker, seed: int
) -> None:
    """Whatever the order in which an upload is processed and removed, nothing of it stays."""
    identity = await sent(alice, drawn())
    (job,) = await waiting(db)
    turns = Turns(settings, seed)
    other = turns.elsewhere()
    removal = other.ask(uploads.remove_command(other, number(identity), number(alice.id)))
    await turns.together(process_one(turns, job), removal)
    await other.close()
    await work_off(db, worker)
    assert await upload_of(alice, identity) is None
    assert await objects(db) == set()


async def process_one(db: Database, job: Job) -> None:
    """Do the work of one job."""
    await dispatch.perform(db, job, Budget(1))


async def test_processed_twice(db: Database, settings: Settings, alice: Member, worker: Worker) -> None:
    """An upload that two workers process at the same time is READY, with its two objects."""
    identity = await sent(alice, drawn())
    (job,) = await waiting(db)
    turns = Turns(settings, 1)
    other = turns.elsewhere()
    await turns.together(process_one(turns, job), process_one(other, job))
    await other.close()
    await work_off(db, worker)
    assert (await upload_of(alice, identity))["state"] == "READY"
    assert len(await objects(db)) == 2
