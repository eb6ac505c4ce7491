"""The jobs of accounts: changed names, privacy and suspension, and the removal of what a deleted member has left."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from functools import partial

from resolvers.jobs import conversations, name_index, pictures
from resolvers.jobs.posts import restate
from resolvers.jobs.step import Budget, LeftToWorker, Part, StepOutcome, in_parts, run_part, step
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
    public_timelines,
    timelines,
)
from store.client.database import Database
from store.conversations import entries
from store.events import log
from store.events.log import EventContent
from store.groups import membership
from store.ids import CLOCK_SKEW, instant
from store.keys.fields import UserField
from store.mail import outbox
from store.records.job_bodies import AccountDeletion, Naming, PrivacyChange
from store.records.jobs import Job
from store.records.lists import Published
from store.records.posts import Post, Repost

REQUESTS_BATCH = 100  # Requests approved per step once a member is no longer private.
EDGES_BATCH = 100  # Follows ended per step. Each costs a look through a home.
POSTS_BATCH = 100  # Posts looked up at a time. Each is restated or deleted by itself.
INDEX_BATCH = 500  # Posts per step from which the member's likes, comments and favourites are removed.
STEP_COST = 10  # Budget spent per follow or post, in followers that could be reached in the same time.

AGAIN = "again"  # Cursor of the second pass of a deletion.


@step(Naming)
async def rename(db: Database, job: Job[Naming], _: Budget) -> None:
    """Apply changed names to their reservations and to the index, and remove the pictures that were replaced."""
    await account_names.apply_names(db, job)
    await name_index.index(db, [job.body.member])
    await pictures.remove(db, job.body.objects)


@step(PrivacyChange)
async def change_privacy(db: Database, job: Job[PrivacyChange], budget: Budget) -> None:
    """Approve waiting requests if a member is no longer private, and update the public lists of their posts.

    Each step reads the account state again. So of two changes in quick succession, the later one wins.
    The site's stream reports that in the same way as it reports hiding: posts are delivered as deleted, and as created
    when they are shown again.
    """
    member = job.body.member
    while waiting := await _waiting(db, member):
        await run_part(db, await follows.approve(db, member, waiting), budget)
    if not job.cursor and job.body.what == UserField.SUSPENDED:
        await log.append(db, f"suspend:{job.id}", "suspend", member, member=member)
    await in_parts(db, job, budget, _restate(db, job))


async def _restate(db: Database, job: Job[PrivacyChange]) -> AsyncGenerator[Part]:
    below = int(job.cursor) if job.cursor else None
    while entries := await timelines.published(db, job.body.member, below=below, above=0, count=POSTS_BATCH):
        for entry in entries:
            if entry.original is None:
                await restate(db, job, entry.id)
        if not job.body.is_apart:
            await _announce(db, job, job.body.member, entries)
        below = entries[-1].id
        yield str(below), len(entries)


async def _announce(db: Database, job: Job, member: int, entries: Sequence[Published]) -> None:
    """Log that posts are concealed from the public, or revealed to it, if the log may still have their beginning."""
    author, oldest = await accounts.user(db, member), await log.oldest(db)
    if author is None or oldest is None:
        return
    kind = "conceal" if author.is_private or author.is_suspended else "reveal"
    for entry in reversed(entries):
        if entry.group or instant(entry.id) < oldest - CLOCK_SKEW:
            continue
        post = await posts.post(db, entry.id)
        if post and not post.is_hidden and await public_timelines.is_announced(db, entry.id):
            await log.append(db, f"{kind}:{job.id}:{post.id}", kind, member, _content(post), **_about(post))


def _about(post: Post) -> dict[str, int]:
    """Return the event fields of a post."""
    about = {"post": post.id, "is_public": 1}
    if isinstance(post, Repost):
        about |= {"original": post.original_id, "original_author": post.original_author}
        about |= {} if post.is_plain else {"is_quote": 1}
    return about


def _content(post: Post) -> EventContent:
    place = post.location
    return EventContent(post.text, *(str(place.latitude), str(place.longitude)) if place else ())


async def _waiting(db: Database, member: int) -> list[int]:
    """Return some pending follow requests of a member who is no longer private, [] when the member is private."""
    found = await accounts.user(db, member)
    is_public = found and not found.is_private
    return await timelines.first(db, kinds.REQUESTS.key(member), REQUESTS_BATCH) if is_public else []


@step(AccountDeletion)
async def delete(db: Database, job: Job[AccountDeletion], budget: Budget) -> None:
    """Remove everything a deleted member has left, a part at a time. Each pass can be interrupted and repeated.

    Follows go before posts, so that a deleted post has no followers to notify. Nothing new can be added to the
    member's own partition, so its lists only shrink. Likes and comments are written in their post's partition, which
    cannot see that the member is gone: one under way may arrive late. So the indexes that lead to them are kept
    until the second pass. It begins when all requests that were under way have ended, and goes through the indexes
    again.
    """
    await in_parts(db, job, budget, _remove(db, job, budget))
    if job.cursor != AGAIN:
        raise LeftToWorker(StepOutcome.LATER)


async def _remove(db: Database, job: Job[AccountDeletion], budget: Budget) -> AsyncGenerator[Part]:
    member = job.body.member
    await account_names.give_up_all(db, job)
    await name_index.index(db, [member])
    for costs in (
        _follows(db, member, budget),
        _posts(db, member, budget),
        _groups(db, member, budget),
        pictures.drop_unattached(db, member),
        _conversations(db, member),
        _likes(db, member),
        _comments(db, member),
    ):
        async for cost in costs:
            yield job.cursor, cost
    while cost := await favourites.take_back(db, member, INDEX_BATCH):
        yield job.cursor, cost
    await big_authors.unmark(db, member, job.id)
    await pictures.remove(db, job.body.objects)
    if job.cursor == AGAIN:
        await accounts.forget(db, member)
        await entries.forget(db, member)
        await outbox.forget(db, member)
    else:
        await jobs.checkpoint(db, job, AGAIN)


async def _follows(db: Database, member: int, budget: Budget) -> AsyncIterator[int]:
    for listed, end, cost in (
        (kinds.FOLLOWING, follows.unfollow, STEP_COST),
        (kinds.FOLLOWERS, follows.remove_followers, STEP_COST),
        (kinds.REQUESTED, follows.unfollow, 1),
        (kinds.REQUESTS, follows.reject, 1),
    ):
        while others := await timelines.first(db, listed.key(member), EDGES_BATCH):
            await run_part(db, await end(db, member, others), budget)
            yield cost * len(others)
    show_again = partial(conversations.show_again, db, member)
    while not await blocks.forget(db, member, EDGES_BATCH, show_again):
        yield EDGES_BATCH


async def _posts(db: Database, member: int, budget: Budget) -> AsyncIterator[int]:
    below: int | None = None
    while found := await timelines.published(db, member, below=below, above=0, count=POSTS_BATCH):
        for entry in found:
            await run_part(db, await posts.delete(db, entry.id, member), budget)
            yield STEP_COST
        below = found[-1].id


async def _groups(db: Database, member: int, budget: Budget) -> AsyncIterator[int]:
    while invited := await timelines.first(db, kinds.INVITED.key(member), INDEX_BATCH):
        for group in invited:
            await run_part(db, await membership.leave(db, group, member, is_deleted=True), budget)
            yield 1
        await membership.forget_invitations(db, member, invited)
    while banned := await timelines.first(db, kinds.BANNED_FROM.key(member), INDEX_BATCH):
        await membership.forget_bans(db, member, banned)
        yield len(banned)
    last = 0
    while found := await timelines.after(db, kinds.MEMBERSHIPS.key(member), last, INDEX_BATCH):
        for entry in found:
            await run_part(db, await membership.leave(db, entry.entity, member, is_deleted=True), budget)
            yield 1
        last = found[-1].place


async def _conversations(db: Database, member: int) -> AsyncIterator[int]:
    async for count in conversations.leave_all(db, member):
        yield STEP_COST * count


async def _likes(db: Database, member: int) -> AsyncIterator[int]:
    last = 0
    while found := await timelines.after(db, kinds.LIKED.key(member), last, INDEX_BATCH):
        await likes_and_comments.take_back_likes(db, member, [entry.entity for entry in found])
        yield len(found)
        last = found[-1].place


async def _comments(db: Database, member: int) -> AsyncIterator[int]:
    last = 0
    while found := await timelines.after(db, kinds.DISCUSSED.key(member), last, INDEX_BATCH):
        await likes_and_comments.take_back_comments(db, member, [entry.entity for entry in found], INDEX_BATCH)
        yield len(found)
        last = found[-1].place
