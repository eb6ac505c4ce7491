"""The jobs of groups: what follows a change of a group's members, and the removal of a deleted group."""

from collections.abc import AsyncGenerator

from resolvers.jobs.posts import log_for_reposters
from resolvers.jobs.step import Budget, Part, in_parts, run_part, step
from resolvers.operation.inputs import batches
from store import kinds, posts, timelines
from store.client.database import Database
from store.events import log
from store.groups import changes, membership, timeline
from store.records.job_bodies import GroupDeletion, GroupSettling
from store.records.jobs import Job

POSTS_BATCH = 100  # posts of a deleted group deleted per step
MEMBERS_BATCH = 500  # members whose indexes are settled per step


@step(GroupSettling)
async def settle(db: Database, job: Job[GroupSettling], budget: Budget) -> None:
    """Update the indexes of members whose place in a group has changed, their invitations, and the directory.

    A group that has become private, or is no longer so, changes what live homes show of its reposted posts. So do bans
    and their ends for the members concerned, whose live homes get a gap.
    """
    group = job.body.group
    for members in batches(job.body.members, MEMBERS_BATCH):
        await membership.settle(db, group, members)
    await changes.list_in_directory(db, group)
    for member in job.body.barred:  # the live home begins anew: reposts of the group's posts change
        await log.append(db, f"group-ban:{job.id}:{member}", "group-ban", member)
    if job.body.shown:
        await in_parts(db, job, budget, _announce(db, job))


async def _announce(db: Database, job: Job[GroupSettling]) -> AsyncGenerator[Part]:
    """Log an event for the followers of all who have reposted posts of a group, which are shown or hidden now."""
    last = int(job.cursor or 0)
    while found := await timelines.after(db, kinds.GROUP_TIMELINE.key(job.body.group), last, POSTS_BATCH):
        for entry in found:
            async for _ in log_for_reposters(db, job, job.body.shown, {"post": entry.entity}):
                pass
        last = found[-1].place
        yield str(last), len(found)


@step(GroupDeletion)
async def delete(db: Database, job: Job[GroupDeletion], budget: Budget) -> None:
    """Remove everything that a deleted group has left, a batch at a time."""
    await in_parts(db, job, budget, _delete(db, job.body.group, job.cursor, budget))


async def _delete(db: Database, group: int, cursor: str, budget: Budget) -> AsyncGenerator[Part]:
    await changes.list_in_directory(db, group)
    while found := await timelines.first(db, kinds.GROUP_TIMELINE.key(group), POSTS_BATCH):
        for post in found:
            await _delete_post(db, group, post, budget)
        yield cursor, len(found)
    while members := await membership.some(db, group, MEMBERS_BATCH):
        await membership.settle(db, group, members)
        await membership.drop(db, group, members)
        yield cursor, len(members)
    await changes.forget(db, group)


async def _delete_post(db: Database, group: int, post: int, budget: Budget) -> None:
    found = await posts.post(db, post)
    job = await posts.delete(db, post, found.author) if found else None
    await run_part(db, job, budget)
    if not job:  # deleted already, but its own job may not have reached this step
        await db.ask(timeline.remove_command(db, group, post))
