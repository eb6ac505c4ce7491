"""The jobs of moderation: carrying out a decision and notifying its reporters, and logging acts in another slot."""

from collections.abc import AsyncGenerator

from resolvers.jobs import pictures
from resolvers.jobs.step import Budget, Part, in_parts, run_part, step
from store import accounts, kinds, likes_and_comments, posts, promotions, timelines
from store.client.database import Database
from store.conversations import messages
from store.groups import changes
from store.moderation import log, reports
from store.moderation.records import Acting, ReportAction, Subject
from store.records.job_bodies import ActLogging, IntendedAct, Resolution
from store.records.jobs import Job
from store.records.lists import read_pairs
from store.records.posts import Comment


@step(Resolution)
async def resolve(db: Database, job: Job[Resolution], budget: Budget) -> None:
    """Carry out a decision on a case, then notify all reporters in batches. The case expires afterwards."""
    if not job.cursor:
        await _carry_out(db, job.body, budget)
        for packed in job.body.pictures.splitlines():
            await pictures.drop_messaged(db, packed)
    await in_parts(db, job, budget, _notify(db, job.body.case, int(job.cursor or 0)))


async def _notify(db: Database, case: int, last: int) -> AsyncGenerator[Part]:
    while reporters := await timelines.after(db, kinds.CASE_REPORTS.key(case), last, reports.NOTIFIED_AT_ONCE):
        await reports.notify_reporters(db, reporters)
        last = reporters[-1].place
        yield str(last), len(reporters)
    await reports.expire(db, case)


async def _carry_out(db: Database, decision: Resolution, budget: Budget) -> None:
    action = ReportAction(decision.action)
    if action is ReportAction.SUSPEND_AUTHOR:
        # Race: a member who was given a higher role after the decision is not suspended, although the log says so.
        acting = Acting(decision.rank)
        await run_part(db, await accounts.suspend(db, decision.author, holds=True, acting=acting), budget)
    elif action is ReportAction.DELETE_CONTENT:
        await _delete(db, Subject.read(decision.subject), budget)


async def _delete(db: Database, subject: Subject, budget: Budget) -> None:
    """Delete a subject, unless it is gone."""
    match subject.kind:
        case "comment":
            fields = _fields(await db.one(*likes_and_comments.comment_command(subject.id)))
            if comment := Comment.read(subject.id, fields):
                await run_part(db, await likes_and_comments.delete_comment(db, comment.id, comment.post_id), budget)
        case "message":
            await run_part(db, await messages.delete(db, subject.id), budget)
        case "group":
            await run_part(db, await changes.hide(db, subject.id, hidden=True), budget)
        case _:
            if post := await posts.post(db, subject.id):
                await run_part(db, await posts.delete(db, post.id, post.author), budget)


def _fields(reply: object) -> dict[str, str]:
    return reply if isinstance(reply, dict) else read_pairs(reply)  # type: ignore[arg-type]


@step(ActLogging)
async def log_act(_: Database, _job: Job[ActLogging], _budget: Budget) -> None:
    """Do nothing more: the act that a job carries is logged before its steps."""


@step(IntendedAct)
async def log_intended(db: Database, job: Job[IntendedAct], _: Budget) -> None:
    """Log the creation or end of a promotion if it has happened."""
    promotion = await promotions.promotion(db, job.body.promotion)
    if promotion and (not job.body.is_end or not promotion.ends):
        await log.append_fields(db, job.body.intended)
