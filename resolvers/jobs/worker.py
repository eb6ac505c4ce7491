"""The worker: finishes the jobs that requests and crashes have left. Slow ones have a lane of their own."""

import asyncio
import contextlib
import math
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeGuard

import structlog

from resolvers.homes import build
from resolvers.jobs.dispatch import FAILED, perform
from resolvers.jobs.step import Budget, conclude
from resolvers.rules import ranking
from store import importance, jobs
from store.client.background import BACKGROUND, PAUSE_SECONDS
from store.client.database import CommandRefused, Database, Unavailable, repeatable
from store.client.metering import METER
from store.client.pubsub import PubSub
from store.client.tasks import stop
from store.client.tracing import LOGGED, Span, SpanKind, log_trace, read_parent, running
from store.ids import PARTITIONS
from store.media.objects import MediaUnavailable
from store.pictures import uploads
from store.records.job_bodies import UploadProcessing
from store.records.jobs import Job

SWEEP_SECONDS = 1.0  # between two sweeps for jobs of dead workers; each sweep covers a share of the partitions
RETRY_SECONDS = 0.1  # before the worker tries again after an outage; each time twice as long
WAITING = 0.5  # of a lease: for so long the jobs that were taken over together may give way to requests
IDLE_SECONDS = 3600.0  # between two searches for idle homes, and for uploads that nothing shows
RENEWALS = 3  # of a slow job's lease, in the time that it takes to run out

log = structlog.get_logger()


def _is_slow(job: Job) -> TypeGuard[Job[UploadProcessing]]:
    """Return whether a job takes seconds of processor time, in a child process."""
    return isinstance(job.body, UploadProcessing)


class _Lane:
    """Pictures that one worker has to process, a few at a time. They hold no other work up.

    Jobs that wait keep their leases. Those of a member whose processor time is used up wait until there is some again.
    """

    def __init__(self, db: Database, attempt: Callable[[Job], Awaitable[None]], width: int) -> None:
        self._db = db
        self._attempt = attempt
        self._width = width
        self._here: dict[int, Job] = {}  # jobs that wait or run, by id
        self._queues: dict[int, deque[Job]] = {}  # jobs that wait, by member; the member to be served next is the first
        self._resting: set[int] = set()  # members who had no processor time left when they were served
        self._running: set[asyncio.Task[None]] = set()
        self._renewing: asyncio.Task[None] | None = None

    async def add(self, taken: Sequence[Job[UploadProcessing]]) -> None:
        """Queue jobs that were just taken over, unless they are here already. One round trip.

        If the store does not answer, workers take them over again.
        """
        if not taken:
            return
        try:
            owners = await uploads.owners(self._db, [job.body.image for job in taken])
        except Unavailable:
            self._db.unfinished.add(*taken)
            return
        for job, owner in zip(taken, owners, strict=True):
            if job.id not in self._here:
                self._here[job.id] = job
                self._queues.setdefault(owner, deque()).append(job)
        self._serve()

    def _serve(self) -> None:
        """Begin as many jobs as may run at a time. Each takes its member's turn, who is then the last one."""
        if self._here and self._renewing is None:
            self._renewing = asyncio.create_task(self._renew(), name="leases of slow jobs")
        while len(self._running) < self._width:
            member = next((one for one in self._queues if one not in self._resting), None)
            if member is None:
                return
            queue = self._queues.pop(member)
            job = queue.popleft()
            if queue:
                self._queues[member] = queue
            task = asyncio.create_task(self._run(member, job), name=f"job {job.id}")
            self._running.add(task)
            task.add_done_callback(self._ended)

    async def _run(self, member: int, job: Job) -> None:
        is_served = True
        try:
            await BACKGROUND.give_way()
            is_served = await uploads.may_process(self._db, member)
            if is_served:
                await self._attempt(job)
            else:
                self._resting.add(member)
                self._queues.setdefault(member, deque()).appendleft(job)
        except Unavailable:
            self._db.unfinished.add(job)
        finally:
            if is_served:
                del self._here[job.id]

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._serve()
        if not self._here and self._renewing:
            self._renewing.cancel()
            self._renewing = None

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._db.settings.job_lease_seconds / RENEWALS)
            with contextlib.suppress(Unavailable):  # the jobs fail, too, if that lasts
                await jobs.renew_all(self._db, list(self._here.values()))
            self._serve_all()

    def _serve_all(self) -> None:
        """Serve members again who had no processor time left: another hour may have begun."""
        self._resting.clear()
        self._serve()

    async def drain(self) -> None:
        """Wait until no job runs. Jobs that are left here wait for processor time."""
        self._serve_all()
        while self._running:
            await asyncio.wait(self._running)

    async def close(self) -> None:
        """Stop all jobs. Another worker takes them over after their leases."""
        self._queues.clear()
        await stop(*self._running, self._renewing)


class Worker:
    """Runs jobs that requests handed over at once, and a dead process's jobs after their lease."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._woken = asyncio.Event()
        self._wanted = set(range(PARTITIONS))  # partitions to check next
        self._swept = 0
        self._slow = _Lane(db, self._try, db.settings.images_at_once)

    async def run_once(self, partitions: Collection[int] = range(PARTITIONS)) -> int:
        """Take over and try the jobs that wait in these partitions, slow ones too; returns how many were tried.

        Raises as `begin` does.
        """
        taken = await self.begin(partitions)
        await self._slow.drain()
        return taken

    async def begin(self, partitions: Collection[int]) -> int:
        """Take over jobs, try them, and begin the slow ones; returns how many were taken over.

        Raises Unavailable. On a cluster, it tries the other jobs first: these may not need the node that is away.
        """
        taken = await jobs.take_over(self._db, partitions)
        lost: Unavailable | None = None
        pause = min(PAUSE_SECONDS, self._db.settings.job_lease_seconds * WAITING / max(1, len(taken)))
        slow = [job for job in taken if _is_slow(job)]
        await self._slow.add(slow)
        quick = [job for job in taken if not _is_slow(job)]
        for done, job in enumerate(quick):
            try:
                await BACKGROUND.give_way(pause)
                await self._try(job)
            except Unavailable as error:
                if not self._db.is_cluster:
                    self._db.unfinished.add(*quick[done:])
                    raise
                with contextlib.suppress(Unavailable):  # the node that is away may be the job's own
                    await jobs.excuse(self._db, job)
                self._db.unfinished.add(job)
                lost = error
        if lost:
            raise lost
        return len(taken)

    async def run(self, pubsub: PubSub) -> None:
        """Run until cancelled."""

        def wake(message: str) -> None:
            self._wanted |= {int(message)} if message else set(range(PARTITIONS))  # empty: messages may have been lost
            self._woken.set()

        pubsub.listen(jobs.WAKE, wake)
        looked = swept = 0.0
        pause = SWEEP_SECONDS
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), pause)
                self._woken.clear()
                try:
                    if time.monotonic() >= swept + SWEEP_SECONDS:
                        swept = time.monotonic()
                        self._sweep(hears=pubsub.connected.is_set())
                        await self._rescore()
                    await self._finish_wanted()
                    if time.monotonic() >= looked + IDLE_SECONDS:
                        looked = time.monotonic()
                        await BACKGROUND.give_way()
                        await build.let_go_idle(self._db)
                        while await uploads.sweep(self._db):
                            pass
                    pause = SWEEP_SECONDS
                except Unavailable:  # already logged
                    pause = RETRY_SECONDS if pause == SWEEP_SECONDS else min(2 * pause, SWEEP_SECONDS)
        finally:
            pubsub.ignore(jobs.WAKE, wake)
            await self._slow.close()

    def _sweep(self, *, hears: bool) -> None:
        """Add the next share of partitions to those wanted. Each partition has its turn within one lease.

        While no message of Pub/Sub arrives, all partitions are wanted: jobs may have been handed over.
        """
        seconds = self._db.settings.job_lease_seconds if hears else SWEEP_SECONDS
        share = math.ceil(PARTITIONS * SWEEP_SECONDS / seconds)
        self._wanted |= {p % PARTITIONS for p in range(self._swept, self._swept + min(share, PARTITIONS))}
        self._swept = (self._swept + share) % PARTITIONS

    async def _finish_wanted(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, set()
            nodes: dict[int, set[int]] = defaultdict(set)
            for p in wanted:
                nodes[self._db.node_index(p)].add(p)
            lost: Unavailable | None = None
            for part in nodes.values():  # a node that is away does not keep those of others waiting
                try:
                    await BACKGROUND.give_way()
                    while await self.begin(part):
                        await BACKGROUND.give_way()
                except Unavailable as error:
                    self._wanted |= part
                    lost = error
                except BaseException:
                    self._wanted |= wanted
                    raise
            if lost:
                raise lost

    async def _rescore(self) -> None:
        try:
            await BACKGROUND.give_way()
            while await rescore(self._db):
                await BACKGROUND.give_way()
        except Unavailable:
            pass  # scores wait until all nodes accept writes; the worker goes on with other work
        except Exception:
            log.exception("rescoring_failed")

    async def _try(self, job: Job) -> None:
        # Another worker may have done the job since it was taken over. Doing it twice only costs time.
        # A job that fails stays leased. It is tried again after the lease, and set aside after JOB_ATTEMPTS.
        try:
            with _continued(self._db, job), repeatable():
                if await jobs.renew(self._db, job):
                    await conclude(self._db, job, await perform(self._db, job, Budget(float("inf"))))
        except CommandRefused:
            await jobs.excuse(self._db, job)
        except MediaUnavailable as error:
            log.warning("media_unavailable", job=job.id, kind=job.kind, reason=str(error))
            await jobs.excuse(self._db, job)
        except Unavailable:
            raise
        except Exception:
            METER.jobs[job.kind, FAILED] += 1
            log.exception("job_failed", job=job.id, kind=job.kind)


@contextmanager
def _continued(db: Database, job: Job) -> Iterator[None]:
    """Watch an attempt at a job as a part of the operation that has committed it, if that operation was traced."""
    if db.take_span is None or (parent := read_parent(job.trace)) is None:
        yield
        return
    # The process that has begun the operation ends its span. Here only its parts are recorded.
    operation = Span(SpanKind.OPERATION, "", db.take_span, parent.trace, id=parent.span)
    token = log_trace(parent.trace)
    try:
        with running(operation):
            yield
    finally:
        LOGGED.reset(token)


async def rescore(db: Database) -> int:
    """Make stored scores equal to the counts of the posts that are due; returns how many were due.

    A post is due at most once a second. After a crash the lease of those taken runs out, and they are taken again.
    Counts are read after the lease is taken, so they are never older than the change that made the post due.
    """
    due = await importance.take_due(db)
    found = await importance.posts(db, [one.post for one in due])
    await importance.rank(db, [(post, ranking.score_of(post)) for post in found])
    await importance.finish(db, due)
    return len(due)
