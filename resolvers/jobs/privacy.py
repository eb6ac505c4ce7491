"""The job after a member's account becomes private or public, or is suspended or restored."""

from __future__ import annotations

from resolvers.jobs import relationships
from resolvers.jobs.posts import restate
from resolvers.jobs.step import Budget, Outcome, conclude, text
from store import accounts, events, follows, jobs, timelines
from store.client.database import Database
from store.keys.fields import UserField
from store.records import Job

REQUESTS_BATCH = 100  # requests approved per step once a member is no longer private
POSTS_BATCH = 100  # entries of the profile processed per step


async def apply(db: Database, job: Job, budget: Budget) -> Outcome:
    """Approve waiting requests if a member is no longer private, and update the public lists of their posts.

    Each step reads the account state again. So of two changes in quick succession, the later one wins.
    """
    member = int(text(job, "member"))
    while waiting := await _waiting(db, member):
        approval = await follows.approve(db, member, waiting)
        if approval:
            await conclude(db, approval, await relationships.approve(db, approval, budget))
    if not job.cursor and text(job, "what") == UserField.SUSPENDED:
        await events.append(db, f"suspend:{job.id}", "suspend", member, member=member)
    below = int(job.cursor) if job.cursor else None
    while entries := await timelines.published(db, member, below=below, above=0, count=POSTS_BATCH):
        for entry in entries:
            if entry.original is None:
                await restate(db, job, entry.id)
        below = entries[-1].id
        budget.left -= len(entries)
        if not await jobs.checkpoint(db, job, str(below)):
            return Outcome.DONE  # another worker has finished it
        if budget.left <= 0:
            return Outcome.MORE
    return Outcome.DONE


async def _waiting(db: Database, member: int) -> list[int]:
    """Return some pending follow requests of a member who is no longer private, [] when the member is private."""
    found = await accounts.user(db, member)
    return (
        await follows.some(db, follows.requests_list(member), REQUESTS_BATCH) if found and not found.is_private else []
    )
