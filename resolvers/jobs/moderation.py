"""The jobs of moderation: carrying out a decision and notifying its reporters, and logging acts in another slot."""

from __future__ import annotations

from resolvers.jobs import conversations, groups, pictures, posts, privacy
from resolvers.jobs.mentions import end_of_comment
from resolvers.jobs.step import Budget, Outcome, Steps, conclude, text
from store import accounts, jobs, likes_and_comments, promotions
from store import posts as stored_posts
from store.client.database import Database
from store.conversations import messages
from store.groups import changes
from store.keys.fields import UserField
from store.moderation import log, reports
from store.moderation.records import Acting, Outranked, ReportAction, Subject
from store.records.jobs import Job
from store.records.lists import read_pairs
from store.records.posts import Comment


async def resolve(db: Database, job: Job, budget: Budget) -> Outcome:
    """Carry out a decision on a case, then notify all reporters in batches. The case expires afterwards."""
    case, last = int(text(job, "case")), int(job.cursor or 0)
    if not job.cursor:
        await _carry_out(db, job, budget)
        for packed in str(job.body.get("pictures") or "").splitlines():
            await pictures.drop_messaged(db, packed)
    while found := await reports.reporters_after(db, case, last):
        await reports.notify_reporters(db, found)
        last = found[-1].place
        budget.left -= len(found)
        if not await jobs.checkpoint(db, job, str(last)):
            return Outcome.DONE  # another worker has finished it
        if budget.left <= 0:
            return Outcome.MORE
    await reports.expire(db, case)
    return Outcome.DONE


async def _carry_out(db: Database, job: Job, budget: Budget) -> None:
    action, subject = ReportAction(text(job, "action")), Subject.read(text(job, "subject"))
    if action is ReportAction.SUSPEND_AUTHOR:
        await _suspend(db, int(text(job, "author")), int(text(job, "rank")), budget)
    elif action is ReportAction.DELETE_CONTENT:
        part, steps = await _delete(db, subject)
        if part:
            await conclude(db, part, await steps(db, part, budget))


async def _suspend(db: Database, member: int, rank: int, budget: Budget) -> None:
    # Race: if the member was given a higher role after the decision, they are not suspended, although the log says so.
    try:
        part = await accounts.set_account_state(db, member, UserField.SUSPENDED, holds=True, acting=Acting(rank))
    except Outranked:
        return
    if part:
        await conclude(db, part, await privacy.apply(db, part, budget))


async def _delete(db: Database, subject: Subject) -> tuple[Job | None, Steps]:
    """Delete a subject; returns the job of that with its steps, None if it is gone."""
    if subject.kind == "comment":
        comment = Comment.read(subject.id, _fields(await db.one(*likes_and_comments.comment_command(subject.id))))
        part = (await likes_and_comments.delete_comment(db, comment.id, comment.post_id))[1] if comment else None
        return part, end_of_comment
    if subject.kind == "message":
        return await messages.delete(db, subject.id), conversations.deliver
    if subject.kind == "group":
        hiding = await changes.hide(db, subject.id, hidden=True)
        return hiding if isinstance(hiding, Job) else None, groups.settle
    post = await stored_posts.post(db, subject.id)
    return await stored_posts.delete(db, post.id, post.author) if post else None, posts.delete


def _fields(reply: object) -> dict[str, str]:
    return reply if isinstance(reply, dict) else read_pairs(reply)  # type: ignore[arg-type]


async def log_act(_: Database, _job: Job, _budget: Budget) -> Outcome:
    """Do nothing more: the act that a job carries is logged before its steps."""
    return Outcome.DONE


async def log_intended(db: Database, job: Job, _: Budget) -> Outcome:
    """Log the creation or end of a promotion if it has happened."""
    found = await promotions.promotion(db, int(str(job.body["promotion"])))
    act = job.body["intended"]
    if found and (not job.body.get("is_end") or not found.ends):
        await log.append_fields(db, act)  # type: ignore[arg-type]
    return Outcome.DONE
