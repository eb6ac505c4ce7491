"""A step of a job: its outcome, its budget, and work in parts, such as on all followers."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum

from store import follows, jobs
from store.client.database import Database
from store.records.jobs import Job, OneBody
from store.records.lists import Entry


class StepOutcome(Enum):
    """How far a job has come."""

    DONE = "done"
    MORE = "more"  # the budget ran out: any worker may continue at once
    LATER = "later"  # the worker runs the job once more when its lease has expired


@dataclass(slots=True)
class Budget:
    """How many followers may still be reached before the rest is left to a worker."""

    left: float


Step = Callable[[Database, Job[OneBody], Budget], Awaitable[StepOutcome]]
Part = tuple[str, int]  # the job's cursor after a part of its work, and the cost of the part in followers
# Acts on at most so many followers after an edge; returns how many there were, and the last one's edge.
Reach = Callable[[int, int], Awaitable[tuple[int, int]]]


async def conclude(db: Database, job: Job, outcome: StepOutcome) -> None:
    """Mark a job as finished, or hand it over to the worker, as its outcome says."""
    if outcome is StepOutcome.DONE:
        await db.ask(jobs.finish(job.id))
    elif outcome is StepOutcome.MORE:
        await jobs.hand_over(db, job)


async def run_part(db: Database, job: Job[OneBody] | None, step: Step[OneBody], budget: Budget) -> None:
    """Run a job that a step of another job has committed, if it has."""
    if job:
        await conclude(db, job, await step(db, job, budget))


async def in_parts(db: Database, job: Job, budget: Budget, parts: AsyncGenerator[Part]) -> StepOutcome:
    """Run the parts of a job until the budget runs out, with a checkpoint after each part."""
    async with aclosing(parts):
        async for cursor, cost in parts:
            budget.left -= cost
            if not await jobs.checkpoint(db, job, cursor):
                return StepOutcome.DONE  # another worker has finished it
            if budget.left <= 0:
                return StepOutcome.MORE
    return StepOutcome.DONE


async def to_followers(
    db: Database, job: Job, author: int, budget: Budget, act: Callable[[list[Entry]], Awaitable[None]]
) -> bool:
    """Act on all followers in batches, as `in_batches` does; False when the budget ran out."""

    async def reach(after: int, count: int) -> tuple[int, int]:
        batch = await follows.followers_after(db, author, after, count)
        if batch:
            await act(batch)
        return len(batch), batch[-1].place if batch else after

    return await in_batches(db, job, budget, reach)


async def in_batches(db: Database, job: Job, budget: Budget, reach: Reach, size: int | None = None) -> bool:
    """Act on all followers in batches, oldest follow first; True at the end, False when the budget has run out.

    `size` is that of a batch, `FANOUT_BATCH` by default.
    """
    cursor = int(job.cursor) if job.cursor.isdigit() else 0
    size = size or db.settings.fanout_batch
    while True:
        count = int(min(size, max(budget.left, 1)))
        reached, cursor = await reach(cursor, count)
        budget.left -= reached
        if reached < count:
            return True
        if not await jobs.checkpoint(db, job, str(cursor)):
            return True  # a delete has overtaken the delivery, and retracts what was delivered
        if budget.left <= 0:
            return False
