"""Runs the jobs that commits leave: deliveries to timelines, and changes in other partitions.

Every step is idempotent. The request runs a job as far as its budget reaches. A worker continues from the last
checkpoint, and finishes jobs that a crash left.
"""

from __future__ import annotations

import contextlib

import structlog

from resolvers.jobs import (
    account_removal,
    big_authors,
    conversations,
    groups,
    moderation,
    name_index,
    pictures,
    posts,
    privacy,
    relationships,
    uploads,
)
from resolvers.jobs.mentions import end_of_comment, notify_of_comment
from resolvers.jobs.step import Budget, Outcome, Steps, conclude, text
from resolvers.loading.batcher import Batcher
from store import account_names, jobs
from store.client.database import CommandRefused, Database, Unavailable
from store.client.metering import METER
from store.client.repeating import repeatable
from store.client.tracing import Kind, part
from store.moderation import log as moderation_log
from store.records.jobs import Job

FAILED = "failed"  # the outcome of a job whose steps raised an error, in metrics

log = structlog.get_logger()


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
            if not batcher or outcome is not Outcome.DONE:
                await conclude(db, job, outcome)
        if batcher and outcome is Outcome.DONE:
            batcher.ask([jobs.finish(job)])
    except CommandRefused:
        pass  # the worker tries again after the lease
    except Unavailable:
        db.unfinished.add(job)
    except Exception:
        METER.jobs[job.kind, FAILED] += 1
        log.exception("job_left_to_worker", job=job.id, kind=job.kind)


async def perform(db: Database, job: Job, budget: Budget) -> Outcome:
    """Run a job's steps, after logging the act of a moderator that it carries; returns how far they came."""
    await db.find_out()  # steps are grouped by node
    with part(Kind.JOB, job.kind) as span:
        if "act" in job.body:
            await moderation_log.append_carried(db, job)
        outcome = await STEPS[job.kind](db, job, budget)
        if span is not None:
            span.facts = {"job": job.id, "outcome": outcome.value}
    METER.jobs[job.kind, outcome.value] += 1
    return outcome


async def _names(db: Database, job: Job, _: Budget) -> Outcome:
    await account_names.apply_names(db, job)
    await name_index.index(db, [int(text(job, "member"))])
    await pictures.removed(db, job)
    return Outcome.DONE


async def _delete_account(db: Database, job: Job, budget: Budget) -> Outcome:
    async with contextlib.aclosing(account_removal.steps(db, job)) as steps:
        async for part, cost in steps:
            if part:
                await conclude(db, part, await perform(db, part, budget))
            budget.left -= cost
            if not await jobs.checkpoint(db, job, job.cursor):
                return Outcome.DONE  # another worker has finished it
            if budget.left <= 0:
                return Outcome.MORE
    return Outcome.DONE if job.cursor == account_removal.AGAIN else Outcome.LATER


STEPS: dict[str, Steps] = {
    "names": _names,
    "index": name_index.move,
    "post": posts.post,
    "delete": posts.delete,
    "hide": posts.hide,
    "unhide": posts.hide,
    "mentions": notify_of_comment,
    "unmention": end_of_comment,
    "follow": relationships.follow,
    "approve": relationships.approve,
    "reject": relationships.reject,
    "unfollow": relationships.unfollow,
    "remove_followers": relationships.remove_followers,
    "block": relationships.block,
    "unblock": relationships.unblock,
    "mute": relationships.mute,
    "unmute": relationships.mute,
    "privacy_change": privacy.apply,
    "grow": big_authors.grow,
    "shrink": big_authors.shrink,
    "group_members": groups.settle,
    "delete_group": groups.delete,
    "conversation": conversations.deliver,
    "leave": conversations.leave,
    "resolve": moderation.resolve,
    "act": moderation.log_act,
    "intended_act": moderation.log_intended,
    "reservation": pictures.end_reservation,
    "remove_objects": pictures.remove_objects,
    "process_image": uploads.process,
    "delete_account": _delete_account,
}
SLOW = {"process_image"}  # they take seconds of processor time, in a child process
