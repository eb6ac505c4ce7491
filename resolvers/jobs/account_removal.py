"""The job of a deleted account: removes everything that the member has left."""

from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial

from resolvers.jobs import conversations, name_index, pictures
from store import (
    account_names,
    accounts,
    big_authors,
    blocks,
    favourites,
    follows,
    jobs,
    kinds,
    likes_and_comments,
    posts,
    timelines,
)
from store.client.database import Database
from store.conversations import entries
from store.groups import indexes, membership
from store.mail import outbox
from store.records.job_bodies import AccountDeletion
from store.records.jobs import Job

EDGES_BATCH = 100  # Follows ended per step. Each costs a look through a home.
POSTS_BATCH = 100  # Posts looked up at a time. Each is deleted by itself.
INDEX_BATCH = 500  # Posts per step from which the member's likes, comments and favourites are removed.
STEP_COST = 10  # Budget spent per follow or post, in followers that could be reached in the same time.

AGAIN = "again"  # Cursor of the second pass.

Step = tuple[Job | None, int]  # A committed job to be done before the next step, and the step's cost in followers.


async def steps(db: Database, job: Job[AccountDeletion]) -> AsyncGenerator[Step, None]:
    """Remove everything a deleted member has left, a step at a time. Each pass can be interrupted and repeated.

    Follows go before posts, so that a deleted post has no followers to notify. Nothing new can be added to the
    member's own partition, so its lists only shrink. Likes and comments are written in their post's partition, which
    cannot see that the member is gone: one under way may arrive late. So the indexes that lead to them are kept
    until the second pass. It begins when all requests that were under way have ended, and goes through the indexes
    again.
    """
    member = job.body.member
    await account_names.give_up_all(db, job)
    await name_index.index(db, [member])
    for part in (_follows, _posts, _groups):
        async for step in part(db, member):
            yield step
    async for cost in pictures.drop_unattached(db, member):
        yield None, cost
    async for cost in conversations.leave_all(db, member):
        yield None, STEP_COST * cost
    async for cost in _likes(db, member):
        yield None, cost
    async for cost in _comments(db, member):
        yield None, cost
    while cost := await favourites.take_back(db, member, INDEX_BATCH):
        yield None, cost
    await big_authors.unmark(db, member, job.id)
    await pictures.remove(db, job.body.objects)
    if job.cursor == AGAIN:
        await accounts.forget(db, member)
        await entries.forget(db, member)
        await outbox.forget(db, member)
    else:
        await jobs.checkpoint(db, job, AGAIN)


async def _follows(db: Database, member: int) -> AsyncIterator[Step]:
    while followed := await follows.some(db, kinds.FOLLOWING.key(member), EDGES_BATCH):
        yield await follows.unfollow(db, member, followed), STEP_COST * len(followed)
    while followers := await follows.some(db, kinds.FOLLOWERS.key(member), EDGES_BATCH):
        yield await follows.remove_followers(db, member, followers), STEP_COST * len(followers)
    while asked := await follows.some(db, kinds.REQUESTED.key(member), EDGES_BATCH):
        yield await follows.unfollow(db, member, asked), len(asked)
    while asking := await follows.some(db, kinds.REQUESTS.key(member), EDGES_BATCH):
        yield await follows.reject(db, member, asking), len(asking)
    show_again = partial(conversations.show_again, db, member)
    while not await blocks.forget(db, member, EDGES_BATCH, show_again):
        yield None, EDGES_BATCH


async def _posts(db: Database, member: int) -> AsyncIterator[Step]:
    below: int | None = None
    while found := await timelines.published(db, member, below=below, above=0, count=POSTS_BATCH):
        for entry in found:
            yield await posts.delete(db, entry.id, member), STEP_COST
        below = found[-1].id


async def _groups(db: Database, member: int) -> AsyncIterator[Step]:
    while invited := await indexes.invited_to(db, member, INDEX_BATCH):
        for group in invited:
            yield await _left(db, group, member), 1
        await indexes.forget_invitations(db, member, invited)
    while banned := await indexes.banned_from(db, member, INDEX_BATCH):
        await indexes.forget_bans(db, member, banned)
        yield None, len(banned)
    last = 0
    while found := await indexes.joined_or_asked(db, member, last, INDEX_BATCH):
        for entry in found:
            yield await _left(db, entry.entity, member), 1
        last = found[-1].place


async def _left(db: Database, group: int, member: int) -> Job | None:
    """Take a deleted member out of a group; returns the job of that, None when they are not in it or it is gone."""
    job = await membership.leave(db, group, member, is_deleted=True)
    return job if isinstance(job, Job) else None


async def _likes(db: Database, member: int) -> AsyncIterator[int]:
    last = 0
    while found := await likes_and_comments.liked(db, member, last, INDEX_BATCH):
        await likes_and_comments.take_back_likes(db, member, found)
        yield len(found)
        last = found[-1]


async def _comments(db: Database, member: int) -> AsyncIterator[int]:
    last = 0
    while found := await likes_and_comments.discussed(db, member, last, INDEX_BATCH):
        await likes_and_comments.take_back_comments(db, member, found, INDEX_BATCH)
        yield len(found)
        last = found[-1]
