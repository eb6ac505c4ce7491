"""The jobs of groups: what follows a change of a group's members, and the removal of a deleted group."""

from __future__ import annotations

from resolvers.jobs.posts import delete as delete_post
from resolvers.jobs.posts import log_for_reposters
from resolvers.jobs.step import Budget, Outcome, conclude, text
from resolvers.operation.inputs import batches
from store import jobs, posts
from store.client.database import Database
from store.events import log
from store.groups import changes, membership, timeline
from store.records.jobs import Job

POSTS_BATCH = 100  # posts of a deleted group deleted per step
MEMBERS_BATCH = 500  # members whose indexes are settled per step


async def settle(db: Database, job: Job, budget: Budget) -> Outcome:
    """Update the indexes of members whose place in a group has changed, their invitations, and the directory.

    A group that has become private, or is no longer so, changes what live homes show of its reposted posts. So do bans
    and their ends for the members concerned, whose live homes get a gap.
    """
    group = int(text(job, "group"))
    for members in batches(map(int, text(job, "members").split()), MEMBERS_BATCH):
        await membership.settle(db, group, members)
    await changes.list_in_directory(db, group)
    for member in str(
        job.body.get("barred", "")
    ).split():  # the live home begins anew: reposts of the group's posts change
        await log.append(db, f"group-ban:{job.id}:{member}", "group-ban", int(member))
    return await _announce(db, job, group, budget) if job.body.get("shown") else Outcome.DONE


async def _announce(db: Database, job: Job, group: int, budget: Budget) -> Outcome:
    """Log an event for the followers of all who have reposted posts of a group, which are shown or hidden now."""
    last = int(job.cursor or 0)
    while found := await timeline.after(db, group, last, POSTS_BATCH):
        for post in found:
            async for _ in log_for_reposters(db, job, text(job, "shown"), {"post": post}):
                pass
        last = found[-1]
        budget.left -= len(found)
        if not await jobs.checkpoint(db, job, str(last)):
            return Outcome.DONE  # another worker has finished it
        if budget.left <= 0:
            return Outcome.MORE
    return Outcome.DONE


async def delete(db: Database, job: Job, budget: Budget) -> Outcome:
    """Remove everything that a deleted group has left, a batch at a time."""
    group = int(text(job, "group"))
    await changes.list_in_directory(db, group)
    while found := await timeline.after(db, group, 0, POSTS_BATCH):
        for post in found:
            await _delete_post(db, group, post, budget)
        budget.left -= len(found)
        if not await jobs.checkpoint(db, job, job.cursor):
            return Outcome.DONE  # another worker has finished it
        if budget.left <= 0:
            return Outcome.MORE
    while members := await membership.some(db, group, MEMBERS_BATCH):
        await membership.settle(db, group, members)
        await membership.drop(db, group, members)
        budget.left -= len(members)
        if not await jobs.checkpoint(db, job, job.cursor):
            return Outcome.DONE  # another worker has finished it
        if budget.left <= 0:
            return Outcome.MORE
    await changes.forget(db, group)
    return Outcome.DONE


async def _delete_post(db: Database, group: int, post: int, budget: Budget) -> None:
    found = await posts.post(db, post)
    job = await posts.delete(db, post, found.author) if found else None
    if job:
        await conclude(db, job, await delete_post(db, job, budget))
    else:  # deleted already, but its own job may not have reached this step
        await db.ask(timeline.remove_command(db, group, post))
