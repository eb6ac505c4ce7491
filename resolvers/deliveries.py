"""What a post sets in motion: its delivery, its end, and its hiding; one line per audience."""

from __future__ import annotations

from datetime import timedelta

from resolvers import merges
from resolvers.rules import ranking
from resolvers.work import Budget, Outcome, conclude, text, to_followers
from store import events, interactions, jobs, posts, reach, timelines
from store.connection import Database
from store.ids import instant
from store.records import Job
from store.timelines import Delivery

CLEAR_CHUNK = 1_000  # reposts, likes and comments of a post taken at a time
BUILDING = timedelta(minutes=1)  # in which a home begun before its author was big may have taken in what came after
CASCADE, AGAIN = "cascade", "again"  # cursors of a delete after its first pass over the followers


async def post(db: Database, job: Job, budget: Budget) -> Outcome:
    """Bring a new post to everybody: tags, public, the original's list, live readers, followers."""
    author, original, plain = int(text(job, "author")), text(job, "original"), bool(job.body["plain"])
    if not job.cursor:
        if plain and not await posts.list_repost(db, int(original), job.id, author, plain=True):
            # The original was deleted while it was being passed on: the repost goes with it.
            undo = await posts.delete(db, job.id, author)
            if undo:
                await conclude(db, undo, await delete(db, undo, budget))
            return Outcome.DONE
        if not plain:
            await _settle_listings(db, job, job.id)
        await events.append(db, f"post:{job.id}", "repost" if plain else "post", author, **_about(job, job.id))
    if job.body.get("is_pulled"):
        return Outcome.DONE
    delivery = await _delivery(db, job, job.id)
    reached = await to_followers(
        db, job, author, budget, lambda batch: timelines.deliver(db, delivery, [entry.thing for entry in batch])
    )
    return Outcome.DONE if reached else Outcome.MORE


async def delete(db: Database, job: Job, budget: Budget) -> Outcome:
    """Take a deleted post from everybody, and its plain reposts, likes and comments with it."""
    thing, author = int(text(job, "post")), int(text(job, "author"))
    original, plain = text(job, "original"), bool(job.body["plain"])
    if job.cursor in {"", AGAIN} and not plain:
        await posts.remove_from_public(db, thing, text(job, "hashtags").split())
    if not job.cursor:
        if original:
            await posts.unlist_repost(db, int(original), thing, author, plain=plain)
        kind = "unrepost" if plain else "delete"
        await events.append(db, f"delete:{thing}", kind, author, **_about(job, thing))
    if job.cursor != CASCADE and not await _retract(db, job, thing, budget):
        return Outcome.MORE
    if not await _cascade(db, thing, budget):
        await jobs.checkpoint(db, job, CASCADE)
        return Outcome.MORE
    while not await interactions.clear(db, thing, CLEAR_CHUNK):
        await jobs.checkpoint(db, job, CASCADE)
    await posts.clear(db, thing)
    if job.body["overtook"] and job.cursor != AGAIN:
        # A delivery was under way when the delete overtook it, and a batch of it may have come after the
        # retraction: a worker goes over the homes once more, after a lease in which that batch has ended.
        await jobs.checkpoint(db, job, AGAIN)
        return Outcome.LATER
    return Outcome.DONE


async def hide(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell everybody that a post was hidden or is shown again; homes keep it, and the read path decides."""
    thing, author = int(text(job, "post")), int(text(job, "author"))
    await _settle_listings(db, job, thing)
    await events.append(db, f"{job.kind}:{job.id}", job.kind, author, **_about(job, thing))
    last = int(job.cursor or 0)
    while reposts := await posts.reposts_between(db, thing, last, job.id, CLEAR_CHUNK):
        for source in reposts:  # their followers have it from them
            name = f"{job.kind}:{job.id}:{source.repost}"
            await events.append(db, name, job.kind, source.author, **_about(job, thing))
        last = reposts[-1].repost
        await jobs.checkpoint(db, job, str(last))
    return Outcome.DONE


async def _settle_listings(db: Database, job: Job, thing: int) -> None:
    """List a post where all find it, or take it off there, as it is now: hidden or deleted posts stand nowhere.

    What changes between the look and the step is found by the next look, of this job or of the one that changed it.
    """
    tags, original, author = text(job, "hashtags").split(), text(job, "original"), int(text(job, "author"))
    score = ranking.score(instant(thing)) if job.kind == "post" else await _score(db, thing)
    while True:
        if score is None:
            await posts.remove_from_public(db, thing, tags)
        else:
            await posts.add_to_public(db, thing, tags, score)
        if original and score is None:
            await posts.unlist_repost(db, int(original), thing, author, plain=False)
        elif original and job.kind == "post":
            await posts.list_repost(db, int(original), thing, author, plain=False)
        elif original:
            await posts.relist_quote(db, int(original), thing, author)
        before, score = score, await _score(db, thing)
        if (before is None) == (score is None):
            return


async def _score(db: Database, thing: int) -> float | None:
    """Return how important a post is, None where it is hidden or deleted."""
    found = await posts.post(db, thing)
    return None if found is None or found.is_hidden else ranking.score_of(found)


async def _retract(db: Database, job: Job, thing: int, budget: Budget) -> bool:
    author = int(text(job, "author"))
    pushed_until = await reach.pushed_until(db, author)
    if pushed_until is not None and instant(thing) > instant(pushed_until) + BUILDING:
        return True  # no home has ever had it
    delivery = await _delivery(db, job, thing, retracting=True)
    return await to_followers(
        db, job, author, budget, lambda batch: timelines.retract(db, delivery, [entry.thing for entry in batch])
    )


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
                await conclude(db, job, await delete(db, job, budget))
    return True


async def _delivery(db: Database, job: Job, thing: int, *, retracting: bool = False) -> Delivery:
    author = int(text(job, "author"))
    if not job.body["plain"]:
        return Delivery(author, thing, author)
    original, whose = int(text(job, "original")), int(text(job, "original_author"))
    if not retracting:
        return await merges.with_earlier(db, Delivery(author, original, whose, thing))
    if await posts.gone(db, [original]):
        # A repost that came late may have brought its deleted original back: then that is what has to go.
        return Delivery(author, original, whose)
    return await merges.with_earlier(db, Delivery(author, original, whose, thing), ended=True)


def _about(job: Job, thing: int) -> dict[str, int]:
    if not text(job, "original"):
        return {"post": thing}
    return {
        "post": thing,
        "original": int(text(job, "original")),
        "original_author": int(text(job, "original_author")),
        **({"of_quote": 1} if job.body.get("of_quote") else {}),
    }
