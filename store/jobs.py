"""Durable jobs: the work that a commit leaves for other partitions, stored in a stream until it is done."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence

import structlog
from redis.exceptions import RedisError, ResponseError

from store import keys
from store.client.database import Command, Database, Unavailable, repeatable, script
from store.ids import PARTITIONS, instant, partition
from store.records.jobs import DeadJob, Job, read_any_job
from store.records.lists import read_pairs

GROUP, CONSUMER = "workers", "perch"
WAKE = keys.jobs_channel()
READ_COUNT = 1_000  # Jobs read at a time to be counted.
RETRY_SECONDS = (0.1, 1.0)  # First and longest pause between attempts to hand over unfinished jobs.

_CLAIM_COUNT = 4  # Jobs taken over per partition and sweep. The rest is left to other workers.

log = structlog.get_logger(__name__)


async def checkpoint(db: Database, job: Job, cursor: str) -> bool:
    """Store a job's progress and renew its lease; False when the job is finished, or removed by a delete."""
    p = partition(job.id)
    return bool(await db.call("checkpoint", partition=p, job=job.id, cursor=cursor))


async def renew(db: Database, job: Job) -> bool:
    """Renew the lease of a job before its steps run; False when the job is finished, or removed by a delete."""
    p = partition(job.id)
    return bool(await db.one("XCLAIM", keys.jobs(p), GROUP, CONSUMER, 0, f"{job.id}-0", "JUSTID"))


async def renew_all(db: Database, jobs: Sequence[Job]) -> None:
    """Renew the leases of jobs that wait in this process. One round trip."""
    entries: dict[int, list[str]] = defaultdict(list)
    for job in jobs:
        entries[partition(job.id)].append(f"{job.id}-0")
    await db.ask(*(("XCLAIM", keys.jobs(p), GROUP, CONSUMER, 0, *some, "JUSTID") for p, some in entries.items()))


def finish(job: int) -> Command:
    """Return the command that finishes a job, given its id."""
    p = partition(job)
    return script("finish_job", partition=p, job=job)


async def hand_over(db: Database, job: Job) -> None:
    """Release the lease of a job, so that any worker may take it at once."""
    await db.ask(*_hand_over(db, partition(job.id), [f"{job.id}-0"]))


def _hand_over(db: Database, p: int, entries: Sequence[str], *, excused: bool = False) -> list[Command]:
    idle = db.settings.job_lease_seconds * 1000 + 1
    attempts = ("RETRYCOUNT", 0) if excused else ()
    return [
        ("XCLAIM", keys.jobs(p), GROUP, CONSUMER, 0, *entries, "IDLE", idle, *attempts, "JUSTID"),
        ("SPUBLISH", db.channel(WAKE), p),
    ]


async def hand_over_unfinished(db: Database) -> None:
    """Release the jobs that this process left unfinished when it lost the connection, so that any worker may take them.

    That attempt was not the job's failure, so its count of attempts begins again.

    The id of a job whose commit got no reply is unknown. So all leased jobs of its partition are released: each step
    may run twice without harm. Race: the server may execute a lost command after this. That job waits until its lease
    expires. Raises Unavailable while the server does not answer; then the jobs stay in `db.unfinished`. Known jobs come
    first: on a cluster, the partitions may be on a node that is away for long.
    """
    left, partitions = db.unfinished.take()
    try:
        with repeatable():
            await db.ask(*(c for job in left for c in _hand_over(db, partition(job.id), [f"{job.id}-0"], excused=True)))
            left = []
            leased = await _leased(db, sorted(partitions))
            await db.ask(*(c for p, entries in leased.items() if entries for c in _hand_over(db, p, entries)))
    except BaseException:
        db.unfinished.put_back(left, partitions)
        raise


async def _leased(db: Database, partitions: Sequence[int]) -> dict[int, list[str]]:
    """Return the jobs of some partitions whose leases have not expired."""
    lease = db.settings.job_lease_seconds * 1000
    replies = await db.run([("XPENDING", keys.jobs(p), GROUP, "-", "+", READ_COUNT) for p in partitions])
    return {
        p: [entry for entry, _, idle, _ in reply if idle < lease]
        for p, reply in zip(partitions, replies, strict=True)
        if not isinstance(reply, ResponseError)
    }  # NOGROUP: no job has ever been committed there


async def keep_handing_over(db: Database) -> None:
    """Hand over unfinished jobs as soon as the server answers again. Runs until cancelled.

    A pause follows each time: on a cluster, the node that a job needs may be away while the job's own node answers.
    """
    shortest, longest = RETRY_SECONDS
    while True:
        await db.unfinished.filled.wait()
        pause = shortest
        while db.unfinished:
            try:
                await hand_over_unfinished(db)
                await asyncio.sleep(shortest)
            except Unavailable:
                await asyncio.sleep(pause)
                pause = min(pause * 2, longest)
            except RedisError:
                log.exception("work_not_handed_over")
                await asyncio.sleep(longest)


async def excuse(db: Database, job: Job) -> None:
    """Reset a job's count of attempts: the server refused its commands, so the failure is not the job's."""
    entry = f"{job.id}-0"
    await db.one("XCLAIM", keys.jobs(partition(job.id)), GROUP, CONSUMER, 0, entry, "RETRYCOUNT", 0, "JUSTID")


async def take_over(db: Database, partitions: Iterable[int] = range(PARTITIONS)) -> list[Job]:
    """Return jobs whose lease has expired, now leased to the caller; oldest first.

    A job that has failed too often is set aside as dead instead. Jobs that were leased when the connection was lost are
    handed over.
    """
    lease = db.settings.job_lease_seconds * 1000
    claims = [("XAUTOCLAIM", keys.jobs(p), GROUP, CONSUMER, lease, "0-0", "COUNT", _CLAIM_COUNT) for p in partitions]
    jobs: list[Job] = []
    try:
        with repeatable():
            for reply in await db.run(claims):
                if isinstance(reply, ResponseError) and str(reply).startswith("NOGROUP"):
                    continue  # no job has ever been committed in this partition
                if isinstance(reply, Exception):
                    raise reply
                jobs += [_read(entry, pairs) for entry, pairs in reply[1]]
            return await _without_dead(db, sorted(jobs, key=lambda job: job.id))
    except Unavailable:
        db.unfinished.add(*jobs)
        raise


async def backlog(db: Database) -> tuple[int, int]:
    """Return the number of unfinished jobs that are not dead, and the number of dead ones.

    A key of another type has no jobs. `verify` reports it.
    """
    looks = [("XLEN", keys.jobs(p)) for p in range(PARTITIONS)] + [
        ("ZCARD", keys.dead_jobs(p)) for p in range(PARTITIONS)
    ]
    lengths = [0 if isinstance(reply, ResponseError) else reply for reply in await db.run(looks)]
    dead = sum(lengths[PARTITIONS:])
    return sum(lengths[:PARTITIONS]) - dead, dead


async def oldest(db: Database) -> int:
    """Return the id of the oldest unfinished job that is not dead, 0 without one. Its id says when it was committed.

    Two round trips. They read of each partition as many jobs as may be dead, and one more.
    """
    replies = await db.ask(*(("ZRANGE", keys.dead_jobs(p), 0, -1) for p in range(PARTITIONS)))
    entries = await db.ask(
        *(("XRANGE", keys.jobs(p), "-", "+", "COUNT", len(dead) + 1) for p, dead in enumerate(replies))
    )
    alive = (
        int(entry.partition("-")[0])
        for dead, found in zip(replies, entries, strict=True)
        for entry, _ in found
        if entry.partition("-")[0] not in dead
    )
    return min(alive, key=instant, default=0)


async def waiting(db: Database, p: int) -> AsyncIterator[list[Job]]:
    """Yield the unfinished jobs of a partition in batches, oldest first, without the dead ones."""
    dead = set(await db.one("ZRANGE", keys.dead_jobs(p), 0, -1))
    last = "-"
    while found := await db.one("XRANGE", keys.jobs(p), last, "+", "COUNT", READ_COUNT):
        yield [job for job in (_read(entry, pairs) for entry, pairs in found) if str(job.id) not in dead]
        last = f"({found[-1][0]}"


async def dead(db: Database, p: int) -> list[DeadJob]:
    """Return the dead jobs of a partition, longest dead first."""
    found = await db.one("ZRANGE", keys.dead_jobs(p), 0, -1, "WITHSCORES")
    entries = await db.ask(*(("XRANGE", keys.jobs(p), f"{job}-0", f"{job}-0") for job in found[::2]))
    return [
        DeadJob.read(int(job), read_pairs(entry[0][1]), int(since))
        for job, entry, since in zip(found[::2], entries, found[1::2], strict=True)
        if entry  # otherwise a delete has removed it in between
    ]


async def retry(db: Database, job: int) -> bool:
    """Make a dead job available to workers again; False when it is not dead."""
    p = partition(job)
    idle = db.settings.job_lease_seconds * 1000 + 1
    done = await db.call("retry_job", partition=p, job=job, idle=idle)
    if done:
        await db.one("SPUBLISH", db.channel(WAKE), p)
    return bool(done)


async def discard(db: Database, job: int) -> bool:
    """Remove a dead job for good; False when it is not dead."""
    p = partition(job)
    done = await db.call("discard_job", partition=p, job=job)
    return bool(done)


async def bury(db: Database, job: int) -> None:
    """Set a job aside as dead: no worker receives it until it is retried."""
    p = partition(job)
    await db.call("bury_job", partition=p, job=job)


async def _without_dead(db: Database, jobs: list[Job]) -> list[Job]:
    commands: list[Command] = []
    for job in jobs:
        p, entry = partition(job.id), f"{job.id}-0"
        commands.append(("XPENDING", keys.jobs(p), GROUP, entry, entry, 1))
        commands.append(("HGET", keys.progress(p), job.id))
    replies = await db.ask(*commands)
    alive: list[Job] = []
    for job, pending, cursor in zip(jobs, replies[::2], replies[1::2], strict=True):
        deliveries = pending[0][3] if pending else 1
        if deliveries > db.settings.job_attempts:
            await bury(db, job.id)
        else:
            alive.append(Job(job.id, job.body, cursor or "", job.trace))
    return alive


def _read(entry: str, pairs: Sequence[str]) -> Job:
    fields = read_pairs(pairs)
    return read_any_job(fields["kind"], entry.partition("-")[0], fields["body"], fields.get("trace", ""))
