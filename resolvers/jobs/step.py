"""What steps of jobs share: their registry, outcome and budget, and work in parts, such as on all followers."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum
from typing import Any

from store import jobs, kinds, timelines
from store.client.database import Database
from store.client.metering import METER
from store.homes.fanout import DeliveryReach
from store.records.jobs import AnyBody, Job, OneBody
from store.records.lists import Entry
from store.refusals import Refusal


class StepOutcome(Enum):
    """How far a job has come."""

    DONE = "done"
    MORE = "more"  # the budget ran out: any worker may continue at once
    LATER = "later"  # the worker runs the job once more when its lease has expired


class LeftToWorker(Exception):
    """Ends a step that leaves something to a worker."""

    def __init__(self, outcome: StepOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(slots=True)
class Budget:
    """How many followers may still be reached before the rest is left to a worker."""

    left: float


Step = Callable[[Database, Job[OneBody], Budget], Awaitable[None]]  # raises LeftToWorker, else the job is done
Part = tuple[str, int]  # the job's cursor after a part of its work, and the cost of the part in followers
Reach = Callable[[int, int], Awaitable[DeliveryReach]]  # acts on at most so many followers after an edge

STEPS: dict[type[AnyBody], Step[Any]] = {}  # by the bodies of their jobs; `dispatch` imports all modules that have some


def step(*bodies: type[OneBody]) -> Callable[[Step[OneBody]], Step[OneBody]]:
    """Register the decorated function as the steps of jobs with these bodies. The type checker compares its job."""

    def register(steps: Step[OneBody]) -> Step[OneBody]:
        STEPS.update(dict.fromkeys(bodies, steps))
        return steps

    return register


async def run(db: Database, job: Job, budget: Budget) -> StepOutcome:
    """Run a job's steps; returns how far they came."""
    outcome = StepOutcome.DONE
    try:
        await STEPS[type(job.body)](db, job, budget)
    except LeftToWorker as unfinished:
        outcome = unfinished.outcome
    METER.jobs[job.kind, outcome.value] += 1
    return outcome


async def conclude(db: Database, job: Job, outcome: StepOutcome) -> None:
    """Mark a job as finished, or hand it over to the worker, as its outcome says."""
    if outcome is StepOutcome.DONE:
        await db.ask(jobs.finish(job.id))
    elif outcome is StepOutcome.MORE:
        await jobs.hand_over(db, job)


async def run_part(db: Database, job: Job | Refusal | None, budget: Budget) -> None:
    """Run a job that a step of another job has committed, if it has. One that was refused has nothing to do."""
    if isinstance(job, Job):
        await conclude(db, job, await run(db, job, budget))


async def in_parts(db: Database, job: Job, budget: Budget, parts: AsyncGenerator[Part]) -> None:
    """Run the parts of a job, with a checkpoint after each. Raises LeftToWorker when the budget has run out."""
    async with aclosing(parts):
        async for cursor, cost in parts:
            budget.left -= cost
            if not await jobs.checkpoint(db, job, cursor):
                return  # another worker has finished it
            if budget.left <= 0:
                raise LeftToWorker(StepOutcome.MORE)


async def to_followers(
    db: Database, job: Job, author: int, budget: Budget, act: Callable[[list[Entry]], Awaitable[None]]
) -> None:
    """Act on all followers in batches, as `in_batches` does."""

    async def reach(after: int, count: int) -> DeliveryReach:
        batch = await timelines.after(db, kinds.FOLLOWERS.key(author), after, count)
        if batch:
            await act(batch)
        return DeliveryReach(len(batch), batch[-1].place if batch else after)

    await in_batches(db, job, budget, reach)


async def in_batches(db: Database, job: Job, budget: Budget, reach: Reach, size: int | None = None) -> None:
    """Act on all followers in batches, oldest follow first. Raises LeftToWorker when the budget has run out.

    `size` is that of a batch, `FANOUT_BATCH` by default.
    """
    cursor = int(job.cursor) if job.cursor.isdigit() else 0
    size = size or db.settings.fanout_batch
    while True:
        count = int(min(size, max(budget.left, 1)))
        reached, cursor, is_left = await reach(cursor, count)
        budget.left -= reached
        if reached < count:
            return
        if is_left is None:
            is_left = await jobs.checkpoint(db, job, str(cursor))
        if not is_left:
            return  # a delete has overtaken the delivery, and retracts what was delivered
        if budget.left <= 0:
            raise LeftToWorker(StepOutcome.MORE)
