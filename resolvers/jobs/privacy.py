"""What a member's becoming private or suspended sets in motion, and the end of either."""

from __future__ import annotations

from resolvers.jobs import relationships
from resolvers.jobs.posts import restate
from resolvers.jobs.step import Budget, Outcome, conclude, text
from store import accounts, events, follows, jobs, keys, posts
from store.client.database import Database
from store.records import Job

REQUESTS_BATCH = 100  # requests approved at a time when a member is private no longer
POSTS_BATCH = 100  # entries of the profile looked at at a time


async def settle(db: Database, job: Job, budget: Budget) -> Outcome:
    """Let in who waits for a member no longer private, and list posts where all find them, or take them off there.

    How the member stands is read anew at each step: of two changes in quick succession the later one counts.
    """
    member = int(text(job, "member"))
    while waiting := await _waiting(db, member):
        approval = await follows.approve(db, member, waiting)
        if approval:
            await conclude(db, approval, await relationships.approve(db, approval, budget))
    if not job.cursor and text(job, "what") == "suspended":
        await events.append(db, f"suspend:{job.id}", "suspend", member, member=member)
    below = int(job.cursor) if job.cursor else None
    while entries := await posts.published(db, member, below=below, above=0, count=POSTS_BATCH):
        for entry in entries:
            if entry.original is None:
                await restate(db, job, entry.id)
        below = entries[-1].id
        budget.left -= len(entries)
        if not await jobs.checkpoint(db, job, str(below)):
            return Outcome.DONE  # somebody else has finished it
        if budget.left <= 0:
            return Outcome.MORE
    return Outcome.DONE


async def _waiting(db: Database, member: int) -> list[int]:
    """Return some of those who ask to follow a member and need not, since all may."""
    found = await accounts.user(db, member)
    return await follows.some(db, keys.requests(member), REQUESTS_BATCH) if found and not found.is_private else []
