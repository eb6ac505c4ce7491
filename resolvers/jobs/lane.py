"""A lane for slow jobs beside the others of a worker. Each member has a queue, and the queues are served in turn."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeGuard

from store import jobs
from store.client.background import BACKGROUND
from store.client.database import Database, Unavailable
from store.client.tasks import stop
from store.pictures import uploads
from store.records.job_bodies import UploadProcessing
from store.records.jobs import Job

RENEWALS = 3  # of a lease, in the time that it takes to run out


def is_slow(job: Job) -> TypeGuard[Job[UploadProcessing]]:
    """Return whether a job takes seconds of processor time, in a child process."""
    return isinstance(job.body, UploadProcessing)


class Lane:
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
