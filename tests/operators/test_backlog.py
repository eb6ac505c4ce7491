"""Waiting jobs and dead jobs: how they are reported, and the operator's choices."""

import re
from pathlib import Path
from unittest.mock import ANY

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep import backlog, verify
from resolvers.upkeep.backlog import Backlog
from store import accounts, jobs, keys, posts
from store.accounts import AccountDraft
from store.client.database import Database
from store.ids import partition
from store.keys.fields import StatusField, UserField
from store.posts import PostDraft
from store.records.job_bodies import PostDelivery
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.damage.site import GHOST
from tests.support.people import Member
from tests.support.probes.posts import public
from tests.support.scene import assert_agreed
from tests.support.servers.processes import opened, run
from tests.support.stored import exist
from tests.support.work import number, take, work_off


async def look(db: Database) -> Backlog:
    return await backlog.look(db, lambda _: None)


@pytest.fixture
async def dead(db: Database, alice: Member, bob: Member) -> int:
    """A post of alice's whose delivery, to bob, has failed too often."""
    await bob.follow(alice)
    _, post, job = accepted(await posts.create(db, PostDraft(number(alice.id), "hard to deliver")))
    assert job
    await jobs.checkpoint(db, job, "0")
    await jobs.bury(db, post)
    return post


async def test_nothing(db: Database) -> None:
    """Without waiting jobs there is only the summary."""
    found = await look(db)
    assert list(found.lines()) == ["0 jobs are unfinished, 0 have failed too often and are set aside"]


async def test_what_waits(db: Database, alice: Member, bob: Member, dead: int) -> None:
    """Unfinished jobs are counted by kind with the age of the oldest; dead jobs are listed separately, with details."""
    made = [accepted(await posts.create(db, PostDraft(number(m.id), "waits"))) for m in (alice, bob)]
    await posts.delete(db, made[0][1], number(alice.id))
    found = await look(db)
    assert found.kinds == {"post": 1, "delete": 1}
    assert [(job.id, job.kind) for job in found.dead] == [(dead, "post")]
    assert await jobs.backlog(db) == (2, 1)
    *kinds, listed, summary = found.lines()
    assert {line.split()[0] for line in kinds} == {"post", "delete"}
    assert f"{dead} post " in listed
    assert summary == "2 jobs are unfinished, 1 have failed too often and are set aside"


async def test_a_dead_job_is_left_alone(db: Database, worker: Worker, bob: Member, dead: int) -> None:
    """No worker receives a dead job, and a slow worker that still has it does not end it."""
    job = Job(dead, PostDelivery(author=number(bob.id)))
    await jobs.hand_over(db, job)
    assert await worker.run_once() == 0
    await dispatch.finish(db, job)
    assert [job.id for job in (await look(db)).dead] == [dead]


async def test_retry(db: Database, worker: Worker, alice: Member, bob: Member, dead: int) -> None:
    """A retried job is fresh work: done at once, under its own id, from its last checkpoint, and once only."""
    found = await look(db)
    assert await found.retry(db, dead + 1) == 0
    assert await found.retry(db, dead) == 1
    assert await found.retry(db, backlog.ALL) == 0
    assert await jobs.backlog(db) == (1, 0)
    (waiting,) = await jobs.take_over(db)
    assert (waiting.id, waiting.cursor) == (dead, "0")
    assert (await take(db, waiting)).id == dead
    await work_off(db, worker)
    assert await bob.home() == [f"status_{dead:014x}"]
    assert await jobs.backlog(db) == (0, 0)


async def test_a_retry_of_what_was_deleted(db: Database, worker: Worker, alice: Member, bob: Member, dead: int) -> None:
    """A delete ends the dead delivery of its post: there is nothing left to retry, and nothing returns."""
    found = await look(db)
    payload = await alice.do("deletePost", postId=f"status_{dead:014x}")
    assert not payload["userErrors"]
    assert await found.retry(db, backlog.ALL) == 0
    assert (await look(db)).dead == []
    await work_off(db, worker)
    assert await bob.home() == [] == await public(bob)
    await assert_agreed(db, [number(alice.id), number(bob.id)])


async def test_discard(db: Database, worker: Worker, bob: Member, dead: int) -> None:
    """A discarded dead job is gone with its checkpoint, and only a dead job can be discarded."""
    found = await look(db)
    assert await found.discard(db, dead) == 1
    assert await found.discard(db, dead) == 0
    assert await jobs.backlog(db) == (0, 0)
    assert not await exist(db, keys.progress(partition(dead)), keys.dead_jobs(partition(dead)))
    assert not await jobs.discard(db, dead)


async def test_recount(db: Database, alice: Member, bob: Member) -> None:
    """Every wrong counter is set to the size of its set; right ones, and those without a record, are left alone."""
    await bob.follow(alice)
    post = number(await alice.post("hello"))
    await bob.do("like", postId=f"status_{post:014x}")
    before = await db.ask(("HGETALL", keys.user(number(alice.id))), ("HGETALL", keys.status(post)))
    assert await verify.recount(db, lambda _: None) == {"members": 2, "posts": 1, "wrong": 0}
    await db.ask(
        ("HSET", keys.user(number(alice.id)), UserField.FOLLOWERS, 5, UserField.POSTS, 0),
        ("HSET", keys.status(post), StatusField.LIKES, 0),
        ("ZADD", keys.likes(GHOST), 1, 1),
    )
    assert await verify.recount(db, lambda _: None) == {"members": 2, "posts": 1, "wrong": 3}
    assert await db.ask(("HGETALL", keys.user(number(alice.id))), ("HGETALL", keys.status(post))) == before
    assert not await db.one("EXISTS", keys.status(GHOST))


async def test_commands(tmp_path: Path) -> None:
    """`recount` corrects counters; `jobs` prints waiting and dead jobs, retries the dead and discards them."""
    async with opened(tmp_path) as db:
        member = await db.mint()
        job = await accounts.create(db, member, AccountDraft("ann", "Ann", "ann@example.org", NO_PASSWORD))
        assert job
        await db.one("HSET", keys.user(member), UserField.POSTS, 7)
        status, out, _ = await run(tmp_path, "recount")
        assert (status, out) == (0, "1 members and 0 posts recounted: 1 counters set right")
        assert await db.one("HGET", keys.user(member), UserField.POSTS) == "0"
        await jobs.bury(db, job.id)
        status, out, _ = await run(tmp_path, "jobs")
        assert status == 0
        assert re.search(rf"^dead since \S+ \S+ UTC: {job.id} names {{.*\"login\": \"ann\".*}}$", out, re.MULTILINE)
        assert out.endswith("0 jobs are unfinished, 1 have failed too often and are set aside")
        assert await run(tmp_path, "jobs", "--retry", str(job.id + 1)) == (1, "0 dead jobs put back to work", ANY)
        assert await run(tmp_path, "jobs", "--retry", "all") == (0, "1 dead jobs put back to work", ANY)
        status, out, _ = await run(tmp_path, "jobs")
        assert re.search(r"^names +1  the oldest for 0:\d\d:\d\d$", out, re.MULTILINE)
        await jobs.bury(db, job.id)
        assert await run(tmp_path, "jobs", "--discard", str(job.id)) == (0, "1 dead jobs removed", ANY)
        assert await run(tmp_path, "jobs", "--discard", str(job.id)) == (1, "0 dead jobs removed", ANY)
        assert await jobs.backlog(db) == (0, 0)
