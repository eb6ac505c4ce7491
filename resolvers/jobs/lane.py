"""A lane for slow jobs beside the others of a worker: a few run at a time, and those that wait keep their leases."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

from store import jobs
from store.client.background import BACKGROUND
from store.client.database import Database, Unavailable
from store.client.tasks import stop
from store.records import Job

RENEWALS = 3  # of a lease, in the time that it takes to run out

log = structlog.get_logger()


class Lane:
    """Slow jobs that one worker has taken over. They hold no other work up."""

    def __init__(self, db: Database, attempt: Callable[[Job], Awaitable[None]], width: int) -> None:
        self._db = db
        self._attempt = attempt
        self._room = asyncio.Semaphore(width)
        self._tasks: dict[int, asyncio.Task[None]] = {}  # by job

    def add(self, job: Job) -> None:
        """Begin a job that was just taken over, unless it is here already."""
        if job.id not in self._tasks:
            self._tasks[job.id] = asyncio.create_task(self._run(job), name=f"job {job.id}")

    async def drain(self) -> None:
        """Wait until all jobs have ended."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def close(self) -> None:
        """Stop all jobs. Another worker takes them over after their leases."""
        await stop(*self._tasks.values())

    async def _run(self, job: Job) -> None:
        renewing = asyncio.create_task(self._renew(job))
        try:
            async with self._room:
                await BACKGROUND.give_way()
                await self._attempt(job)
        except Unavailable:
            self._db.unfinished.add(job)
        finally:
            await stop(renewing)
            del self._tasks[job.id]

    async def _renew(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self._db.settings.job_lease_seconds / RENEWALS)
            with contextlib.suppress(Unavailable):  # the job fails, too, if that lasts
                await jobs.renew(self._db, job)
