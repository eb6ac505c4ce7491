"""Big authors: promoting an author, so that readers pull their posts, and demoting one, so that fan-out pushes again.

No post is lost or repeated at the switch, because both happen for a while. Readers begin to pull before the first post
that is not pushed. They stop after the newest of those posts has been pushed.
"""

from resolvers.homes import merge
from resolvers.jobs.step import Budget, step, to_followers
from store import big_authors, posts
from store.client.database import Database
from store.homes import fanout
from store.homes.fanout import Delivery
from store.records.job_bodies import AuthorDemotion, AuthorPromotion
from store.records.jobs import Job
from store.records.lists import Entry


@step(AuthorPromotion)
async def grow(db: Database, job: Job[AuthorPromotion], _: Budget) -> None:
    """Promote an author: readers pull their posts, then fan-out stops pushing them."""
    member = job.body.member
    await big_authors.mark(db, member, job.id)
    if not await big_authors.finish(db, member, f"growing:{job.id}", big=True) and not await big_authors.is_big(
        db, member
    ):
        await big_authors.unmark(db, member, job.id)  # demoted meanwhile, and that job may be done already


@step(AuthorDemotion)
async def shrink(db: Database, job: Job[AuthorDemotion], budget: Budget) -> None:
    """Demote an author: push their newest posts to all followers, then readers stop pulling."""
    member, state = job.body.member, f"shrinking:{job.id}"

    async def push(batch: list[Entry]) -> None:
        deliveries = await merge.published(db, member, above=0, trimmed=True)
        for follower in batch:
            await merge.merge(db, follower.entity, member, follower.place, deliveries)
        # A delete made during this push may have retracted the post from homes before the push added it.
        gone = await posts.gone(db, [entry.repost or entry.post for entry in deliveries.entries])
        for entry in deliveries.entries:
            if (entry.repost or entry.post) in gone:
                await _take_back(db, entry, [follower.entity for follower in batch])

    if await big_authors.is_current(db, member, state):
        await to_followers(db, job, member, budget, push)
        if await big_authors.is_current(db, member, state):
            await big_authors.unmark(db, member, job.id)
            await big_authors.finish(db, member, state, big=False)


async def _take_back(db: Database, entry: Delivery, followers: list[int]) -> None:
    undone = await merge.with_earlier(db, entry, ended=True) if entry.repost else entry
    await fanout.retract(db, undone, followers)
