"""Runs the jobs that commits leave: deliveries to timelines, and changes in other partitions.

Every step is idempotent. The request runs a job as far as its budget reaches. A worker continues from the last
checkpoint, and finishes jobs that a crash left.
"""

import structlog

from resolvers.jobs import (  # noqa: F401  their steps are registered
    accounts,
    big_authors,
    conversations,
    groups,
    imports,
    mentions,
    moderation,
    name_index,
    pictures,
    posts,
    relationships,
)
from resolvers.jobs.step import Budget, StepOutcome, conclude, run
from resolvers.loading.batcher import Batcher
from store import jobs
from store.client.database import CommandRefused, Database, Unavailable, repeatable
from store.client.metering import METER
from store.client.tracing import SpanKind, part
from store.moderation import log as moderation_log
from store.records.jobs import Job, UnreadBody

FAILED = "failed"  # the outcome of a job whose steps raised an error, in metrics

log = structlog.get_logger()


class JobUnread(Exception):
    """The job cannot be read by this version."""


async def finish(db: Database, job: Job | None, batcher: Batcher | None = None) -> None:
    """Run the job that a change has left, if any, within the request, up to `FANOUT_INLINE` followers. Raises no error.

    The change is committed, so a worker repeats a job that fails here. After a lost connection, the job goes on.

    With a batcher, the job is marked as finished together with the request's next commands. If that command is lost,
    a worker repeats the job.
    """
    if job is None:
        return
    try:
        with repeatable():
            outcome = await perform(db, job, Budget(db.settings.fanout_inline))
            if not batcher or outcome is not StepOutcome.DONE:
                await conclude(db, job, outcome)
        if batcher and outcome is StepOutcome.DONE:
            batcher.ask([jobs.finish(job.id)])
    except CommandRefused:
        pass  # the worker tries again after the lease
    except Unavailable:
        db.unfinished.add(job)
    except Exception:
        METER.jobs[job.kind, FAILED] += 1
        log.exception("job_left_to_worker", job=job.id, kind=job.kind)


async def perform(db: Database, job: Job, budget: Budget) -> StepOutcome:
    """Run a job's steps, after logging the act of a moderator that it carries; returns how far they came.

    Raises JobUnread.
    """
    await db.find_out()  # steps are grouped by node
    with part(SpanKind.JOB, job.kind) as span:
        if isinstance(job.body, UnreadBody):
            raise JobUnread(job.body.reason)
        if job.body.act:
            await moderation_log.append_carried(db, job.id, job.body.act)
        outcome = await run(db, job, budget)
        if span is not None:
            span.facts = {"job": job.id, "outcome": outcome.value}
    return outcome
