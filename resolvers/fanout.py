"""Delivers posts to timelines, and finishes whatever a commit began elsewhere.

Every step can be repeated. A job runs at once in the request as far as its budget reaches; a worker goes on from
the last checkpoint, and finishes what a crash left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import cast

import structlog

from resolvers import merges
from store import accounts, events, interactions, jobs, posts, relations, timelines
from store.connection import Database, Unavailable
from store.hearing import Hearing
from store.records import Job
from store.timelines import Delivery

CLEAR_CHUNK = 1_000  # reposts, likes and comments of a deleted post taken at a time
CASCADE, AGAIN = "cascade", "again"  # cursors of a delete after its first pass over the followers
SWEEP_SECONDS = 1.0  # between two looks for jobs whose worker has died

log = structlog.get_logger()


class Outcome(Enum):
    """How far a job has come."""

    DONE = "done"
    MORE = "more"  # the budget ran out: for any worker, now
    LATER = "later"  # to be looked at once more when its lease has run out


@dataclass(slots=True)
class Budget:
    """How many followers may still be reached before the rest is left to a worker."""

    left: float


async def finish(db: Database, job: Job) -> None:
    """Do a job just committed, in the request, as far as `FANOUT_INLINE` followers; never fails what is committed."""
    try:
        await _conclude(db, job, await perform(db, job, Budget(db.settings.fanout_inline)))
    except Unavailable as error:
        log.warning("job_left_to_worker", job=job.id, kind=job.kind, error=str(error))
    except Exception:
        log.exception("job_left_to_worker", job=job.id, kind=job.kind)


async def perform(db: Database, job: Job, budget: Budget) -> Outcome:
    """Do what a commit left to do."""
    return await STEPS[job.kind](db, job, budget)


async def _conclude(db: Database, job: Job, outcome: Outcome) -> None:
    if outcome is Outcome.DONE:
        await db.ask(jobs.finish(job))
    elif outcome is Outcome.MORE:
        await jobs.hand_over(db, job)


async def _names(db: Database, job: Job, _: Budget) -> Outcome:
    await accounts.settle_names(db, job)
    return Outcome.DONE


async def _post(db: Database, job: Job, budget: Budget) -> Outcome:
    author, original, plain = int(_text(job, "author")), _text(job, "original"), bool(job.body["plain"])
    if not job.cursor:
        if original and not await posts.list_repost(db, int(original), job.id, author, plain=plain) and plain:
            # The original was deleted while it was being passed on: the repost goes with it.
            undo = await posts.delete(db, job.id, author)
            if undo:
                await _conclude(db, undo, await _delete(db, undo, budget))
            return Outcome.DONE
        if not plain:
            await posts.add_to_public(db, job.id, _text(job, "hashtags").split())
        await events.append(db, f"post:{job.id}", "repost" if plain else "post", author, **_about(job, job.id))
    delivery = await _delivery(db, job, job.id)
    reached = await _to_followers(db, job, author, budget, lambda members: timelines.deliver(db, delivery, members))
    return Outcome.DONE if reached else Outcome.MORE


async def _delete(db: Database, job: Job, budget: Budget) -> Outcome:
    post, author = int(_text(job, "post")), int(_text(job, "author"))
    original, plain = _text(job, "original"), bool(job.body["plain"])
    if job.cursor in {"", AGAIN} and not plain:
        await posts.remove_from_public(db, post, _text(job, "hashtags").split())
    if not job.cursor:
        if original:
            await posts.unlist_repost(db, int(original), post, author, plain=plain)
        kind = "unrepost" if plain else "delete"
        await events.append(db, f"delete:{post}", kind, author, **_about(job, post))
    delivery = await _delivery(db, job, post, retracting=True)
    if job.cursor != CASCADE and not await _to_followers(
        db, job, author, budget, lambda members: timelines.retract(db, delivery, members)
    ):
        return Outcome.MORE
    if not await _cascade(db, post, budget):
        await jobs.checkpoint(db, job, CASCADE)
        return Outcome.MORE
    while not await interactions.clear(db, post, CLEAR_CHUNK):
        await jobs.checkpoint(db, job, CASCADE)
    await posts.clear(db, post)
    if job.body["overtook"] and job.cursor != AGAIN:
        # A delivery was under way when the delete overtook it, and a batch of it may have come after the
        # retraction: a worker goes over the homes once more, after a lease in which that batch has ended.
        await jobs.checkpoint(db, job, AGAIN)
        return Outcome.LATER
    return Outcome.DONE


async def _cascade(db: Database, original: int, budget: Budget) -> bool:
    """Delete the plain reposts of a deleted post."""
    while reposts := await posts.reposts_before(db, original, None, CLEAR_CHUNK):
        for source in reposts:
            if budget.left <= 0:
                return False
            budget.left -= 1
            job = await posts.delete(db, source.repost, source.author)
            if job is None:  # deleted already; its own job may not have come so far
                await posts.unlist_repost(db, original, source.repost, source.author, plain=True)
            else:
                await _conclude(db, job, await _delete(db, job, budget))
    return True


async def _follow(db: Database, job: Job, _: Budget) -> Outcome:
    follower, edges = int(_text(job, "follower")), relations.read_edges(job)
    await relations.tell_followed(db, follower, edges, ended=False)
    for member, edge in edges:
        await merges.merge(db, follower, member, edge)
    await merges.sweep(db, follower, {member for member, _ in edges})
    for member, edge in edges:
        await events.append(db, f"follow:{edge}", "follow", follower, member=member)
    return Outcome.DONE


async def _unfollow(db: Database, job: Job, _: Budget) -> Outcome:
    follower, edges = int(_text(job, "member")), relations.read_edges(job)
    await relations.tell_followed(db, follower, edges, ended=True)
    for member, _edge in edges:
        await merges.unmerge(db, follower, member)
    await merges.sweep(db, follower, {member for member, _ in edges})
    for member, edge in edges:
        await events.append(db, f"unfollow:{edge}", "unfollow", follower, member=member)
    return Outcome.DONE


async def _remove_followers(db: Database, job: Job, _: Budget) -> Outcome:
    member, edges = int(_text(job, "member")), relations.read_edges(job)
    await relations.tell_followers(db, member, edges)
    for follower, _edge in edges:
        await merges.unmerge(db, follower, member)
        await merges.sweep(db, follower, {member})
    for follower, edge in edges:
        await events.append(db, f"unfollow:{edge}", "unfollow", follower, member=member)
    return Outcome.DONE


Steps = Callable[[Database, Job, Budget], Awaitable[Outcome]]
STEPS: dict[str, Steps] = {
    "names": _names,
    "post": _post,
    "delete": _delete,
    "follow": _follow,
    "unfollow": _unfollow,
    "remove_followers": _remove_followers,
}


async def _to_followers(
    db: Database, job: Job, author: int, budget: Budget, act: Callable[[list[int]], Awaitable[None]]
) -> bool:
    """Reach all followers in batches, oldest follow first; True at the end, False when the budget has run out."""
    cursor = int(job.cursor) if job.cursor.isdigit() else 0
    while True:
        count = int(min(db.settings.fanout_batch, max(budget.left, 1)))
        batch = await relations.followers_after(db, author, cursor, count)
        if batch:
            await act([entry.thing for entry in batch])
            cursor = batch[-1].place
            budget.left -= len(batch)
        if len(batch) < count:
            return True
        if not await jobs.checkpoint(db, job, str(cursor)):
            return True  # a delete has overtaken the delivery, and takes back what was delivered
        if budget.left <= 0:
            return False


async def _delivery(db: Database, job: Job, post: int, *, retracting: bool = False) -> Delivery:
    author = int(_text(job, "author"))
    if not job.body["plain"]:
        return Delivery(author, post, author)
    original, whose = int(_text(job, "original")), int(_text(job, "original_author"))
    if not retracting:
        return await merges.with_earlier(db, Delivery(author, original, whose, post))
    # A repost that came late may have brought its deleted original back: then that is what has to go.
    return Delivery(author, original, whose, None if await posts.gone(db, [original]) else post)


def _about(job: Job, post: int) -> dict[str, int]:
    if not _text(job, "original"):
        return {"post": post}
    return {
        "post": post,
        "original": int(_text(job, "original")),
        "original_author": int(_text(job, "original_author")),
        **({"of_quote": 1} if job.body.get("of_quote") else {}),
    }


def _text(job: Job, field: str) -> str:
    return cast("str", job.body[field])


class Worker:
    """Does what requests have left: hand-overs at once, a dead process's jobs after their lease."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._woken = asyncio.Event()

    async def run_once(self) -> int:
        """Take over and finish the jobs that wait now; returns how many were tried."""
        taken = await jobs.take_over(self._db)
        for job in taken:
            await self._try(job)
        return len(taken)

    async def run(self, hearing: Hearing) -> None:
        """Work until cancelled."""

        def wake(_: str) -> None:
            self._woken.set()

        await hearing.listen(jobs.WAKE, wake)
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), SWEEP_SECONDS)
                self._woken.clear()
                try:
                    while await self.run_once():
                        pass
                except Unavailable as error:
                    log.warning("worker_waits", error=str(error))
        finally:
            await hearing.ignore(jobs.WAKE, wake)

    async def _try(self, job: Job) -> None:
        # One that fails stays leased: it comes again after the lease, and is set aside after JOB_ATTEMPTS.
        try:
            await _conclude(self._db, job, await perform(self._db, job, Budget(float("inf"))))
        except Unavailable:
            raise
        except Exception:
            log.exception("job_failed", job=job.id, kind=job.kind)
