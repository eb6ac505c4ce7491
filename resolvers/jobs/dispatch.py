"""Runs the jobs that commits leave: deliveries to timelines, and changes in other partitions.

Every step is idempotent. The request runs a job as far as its budget reaches. A worker continues from the last
checkpoint, and finishes jobs that a crash left.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

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
from resolvers.jobs.step import Budget, Part, Step, StepOutcome, conclude, in_parts
from resolvers.loading.batcher import Batcher
from store import account_names, jobs
from store.client.database import CommandRefused, Database, Unavailable, repeatable
from store.client.metering import METER
from store.client.tracing import SpanKind, part
from store.moderation import log as moderation_log
from store.records import job_bodies
from store.records.job_bodies import AccountDeletion, Body, Naming, UploadProcessing
from store.records.jobs import Job, OneBody, UnreadBody

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
        outcome = await STEPS[type(job.body)](db, job, budget)
        if span is not None:
            span.facts = {"job": job.id, "outcome": outcome.value}
    METER.jobs[job.kind, outcome.value] += 1
    return outcome


async def _names(db: Database, job: Job[Naming], _: Budget) -> StepOutcome:
    await account_names.apply_names(db, job)
    await name_index.index(db, [job.body.member])
    await pictures.remove(db, job.body.objects)
    return StepOutcome.DONE


async def _delete_account(db: Database, job: Job[AccountDeletion], budget: Budget) -> StepOutcome:
    async def parts() -> AsyncGenerator[Part]:
        async with aclosing(account_removal.steps(db, job)) as steps:
            async for committed, cost in steps:
                if committed:
                    await conclude(db, committed, await perform(db, committed, budget))
                yield job.cursor, cost

    outcome = await in_parts(db, job, budget, parts())
    is_first_pass = job.cursor != account_removal.AGAIN
    return StepOutcome.LATER if outcome is StepOutcome.DONE and is_first_pass else outcome


def _run(body: type[OneBody], step: Step[OneBody]) -> tuple[type[Body], Step[Any]]:
    """Return an entry of `STEPS`. The type checker compares the body with that of the step."""
    return body, step


STEPS = dict(
    (
        _run(Naming, _names),
        _run(job_bodies.NameIndexing, name_index.move),
        _run(AccountDeletion, _delete_account),
        _run(job_bodies.PrivacyChange, privacy.apply),
        _run(job_bodies.AuthorPromotion, big_authors.grow),
        _run(job_bodies.AuthorDemotion, big_authors.shrink),
        _run(job_bodies.PostDelivery, posts.post),
        _run(job_bodies.PostDeletion, posts.delete),
        _run(job_bodies.PostHiding, posts.hide),
        _run(job_bodies.PostUnhiding, posts.hide),
        _run(job_bodies.CommentMentions, notify_of_comment),
        _run(job_bodies.CommentDeletion, end_of_comment),
        _run(job_bodies.Following, relationships.follow),
        _run(job_bodies.Approval, relationships.approve),
        _run(job_bodies.Rejection, relationships.reject),
        _run(job_bodies.Unfollowing, relationships.unfollow),
        _run(job_bodies.FollowerRemoval, relationships.remove_followers),
        _run(job_bodies.Blocking, relationships.block),
        _run(job_bodies.Unblocking, relationships.unblock),
        _run(job_bodies.Muting, relationships.mute),
        _run(job_bodies.Unmuting, relationships.mute),
        _run(job_bodies.GroupSettling, groups.settle),
        _run(job_bodies.GroupDeletion, groups.delete),
        _run(job_bodies.ConversationChange, conversations.deliver),
        _run(job_bodies.Departure, conversations.leave),
        _run(job_bodies.Resolution, moderation.resolve),
        _run(job_bodies.ActLogging, moderation.log_act),
        _run(job_bodies.IntendedAct, moderation.log_intended),
        _run(job_bodies.PictureReservation, pictures.end_reservation),
        _run(job_bodies.ObjectRemoval, pictures.remove_objects),
        _run(UploadProcessing, uploads.process),
    )
)
