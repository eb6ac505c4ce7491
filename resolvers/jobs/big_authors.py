"""Big authors: when readers begin to pull an author's posts, and when followers have them pushed again.

Nothing is lost or repeated in between, since for a while both happen: readers pull from before the first post that is
not pushed until after the newest of those that were not have been pushed.
"""

from __future__ import annotations

from resolvers.homes import merge
from resolvers.jobs.step import Budget, Outcome, text, to_followers
from store import big_authors, posts, timelines
from store.client.database import Database
from store.records import Entry, Job
from store.timelines import Delivery


async def grow(db: Database, job: Job, _: Budget) -> Outcome:
    """Have readers pull what an author publishes, then stop pushing it."""
    member = int(text(job, "member"))
    await big_authors.mark(db, member, job.id)
    if not await big_authors.settle(db, member, f"growing:{job.id}", big=True) and not await big_authors.is_big(
        db, member
    ):
        await big_authors.unmark(db, member, job.id)  # they have shrunk meanwhile, and that job may be done
    return Outcome.DONE


async def shrink(db: Database, job: Job, budget: Budget) -> Outcome:
    """Push an author's newest posts to all followers, then have readers pull them no more."""
    member, state = int(text(job, "member")), f"shrinking:{job.id}"

    async def push(batch: list[Entry]) -> None:
        brought = await merge.published(db, member, above=0, trimmed=True)
        for follower in batch:
            await merge.merge(db, follower.thing, member, follower.place, brought)
        # A delete is told to followers: one that came meanwhile may have told them before this.
        gone = await posts.gone(db, [entry.repost or entry.post for entry in brought.entries])
        for entry in brought.entries:
            if (entry.repost or entry.post) in gone:
                await _take_back(db, entry, [follower.thing for follower in batch])

    if await big_authors.stands(db, member, state):
        if not await to_followers(db, job, member, budget, push):
            return Outcome.MORE
        if await big_authors.stands(db, member, state):
            await big_authors.unmark(db, member, job.id)
            await big_authors.settle(db, member, state, big=False)
    return Outcome.DONE


async def _take_back(db: Database, entry: Delivery, followers: list[int]) -> None:
    undone = await merge.with_earlier(db, entry, ended=True) if entry.repost else entry
    await timelines.retract(db, undone, followers)
