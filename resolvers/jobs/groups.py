"""The jobs of groups: what follows a change of a group's members, and the removal of a deleted group."""

from __future__ import annotations

from resolvers.jobs.step import Budget, Outcome, text
from resolvers.operation.inputs import batches
from store import jobs
from store.client.database import Database
from store.groups import changes, membership
from store.records import Job

MEMBERS_BATCH = 500  # members whose indexes are settled per step


async def settle(db: Database, job: Job, _: Budget) -> Outcome:
    """Update the indexes of members whose place in a group has changed, their invitations, and the directory."""
    group = int(text(job, "group"))
    for members in batches(map(int, text(job, "members").split()), MEMBERS_BATCH):
        await membership.settle(db, group, members)
    await changes.list_in_directory(db, group)
    return Outcome.DONE


async def delete(db: Database, job: Job, budget: Budget) -> Outcome:
    """Remove everything that a deleted group has left, a batch at a time."""
    group = int(text(job, "group"))
    await changes.list_in_directory(db, group)
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
