"""What a post sets in motion: its delivery, its end, and its hiding; one line per audience."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from resolvers import mentions, merges
from resolvers.rules import ranking
from resolvers.work import Budget, Outcome, conclude, text, to_followers
from store import (
    events,
    favourites,
    hashtags,
    interactions,
    jobs,
    notifications,
    posts,
    reach,
    replies,
    timelines,
)
from store.connection import Database
from store.ids import instant
from store.records import Job, Repost
from store.replies import Reply
from store.timelines import Delivery

CLEAR_CHUNK = 1_000  # reposts, likes, comments and favourites of a post taken at a time
BUILDING = timedelta(minutes=1)  # in which a home begun before its author was big may have taken in what came after
CASCADE, AGAIN = "cascade", "again"  # cursors of a delete after its first pass over the followers


async def post(db: Database, job: Job, budget: Budget) -> Outcome:
    """Bring a new post to everybody: tags, public, its original's list or conversation, live readers, followers."""
    author, original, plain = int(text(job, "author")), text(job, "original"), bool(job.body["plain"])
    if not job.cursor:
        if plain and not await posts.list_repost(db, int(original), job.id, author, plain=True):
            # The original was deleted while it was being passed on: the repost goes with it.
            undo = await posts.delete(db, job.id, author)
            if undo:
                await conclude(db, undo, await delete(db, undo, budget))
            return Outcome.DONE
        if not plain:
            score = ranking.score(instant(job.id)) if job.body.get("is_public", True) else None
            await _settle_listings(db, _listed(job, job.id), (True, score))
            if score is not None:
                await hashtags.count_uses(db, [(job.id, text(job, "hashtags").split())])
            await mentions.tell_of_post(db, job, job.id)
        kind = "repost" if plain else "post"
        await events.append(db, f"post:{job.id}", kind, author, **_about(job, job.id), **_told_to_all(job))
    if job.body.get("is_pulled"):
        return Outcome.DONE
    delivery = await _delivery(db, job, job.id)
    reached = await to_followers(
        db, job, author, budget, lambda batch: timelines.deliver(db, delivery, [entry.thing for entry in batch])
    )
    return Outcome.DONE if reached else Outcome.MORE


async def delete(db: Database, job: Job, budget: Budget) -> Outcome:
    """Take a deleted post from everybody, and its plain reposts, likes, comments and favourites with it."""
    thing, author = int(text(job, "post")), int(text(job, "author"))
    original, plain = text(job, "original"), bool(job.body["plain"])
    if job.cursor in {"", AGAIN} and not plain:
        await posts.remove_from_public(db, thing, text(job, "hashtags").split())
        await mentions.end_of_post(db, job, thing)
        await notifications.withdraw_about(db, author, thing)
    if not job.cursor:
        if original:
            whose = int(text(job, "original_author"))
            await posts.unlist_repost(db, int(original), thing, author, plain=plain, whose=whose)
        if reply := _reply(job, thing):
            await replies.remove(db, reply)
        kind = "unrepost" if plain else "delete"
        await events.append(db, f"delete:{thing}", kind, author, **_about(job, thing), **_told_to_all(job))
    if job.cursor != CASCADE and not await _retract(db, job, thing, budget):
        return Outcome.MORE
    if not await _cascade(db, thing, author, budget):
        await jobs.checkpoint(db, job, CASCADE)
        return Outcome.MORE
    await _clear(db, job, thing)
    if job.body["overtook"] and job.cursor != AGAIN:
        # A delivery was under way when the delete overtook it, and a batch of it may have come after the
        # retraction: a worker goes over the homes once more, after a lease in which that batch has ended.
        await jobs.checkpoint(db, job, AGAIN)
        return Outcome.LATER
    return Outcome.DONE


async def hide(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell everybody that a post was hidden or is shown again; homes keep it, and the read path decides."""
    about = _about(job, int(text(job, "post")))
    await _settle_listings(db, _listed(job, about["post"]))
    name, author = f"{job.kind}:{job.id}", int(text(job, "author"))
    await events.append(db, name, job.kind, author, **about, **_told_to_all(job))
    async for last in _tell_reposters(db, job, job.kind, about, int(job.cursor or 0)):
        await jobs.checkpoint(db, job, str(last))
    return Outcome.DONE


async def restate(db: Database, job: Job, thing: int) -> None:
    """List a post where all find it, or take it off there, after its author's standing has changed.

    Followers see what they saw; those who have the post from a repost alone are told.
    """
    found = await posts.post(db, thing)
    if found is None:
        return
    seen_by_all = await _settle_listings(db, Listed(thing, found.author, found.hashtags))
    about = {"post": thing, **({"original": found.original_id} if isinstance(found, Repost) else {})}
    async for _ in _tell_reposters(db, job, "unhide" if seen_by_all else "hide", about):
        pass


async def _tell_reposters(
    db: Database, job: Job, kind: str, about: dict[str, int], last: int = 0
) -> AsyncIterator[int]:
    """Tell those who have a post from somebody who passed it on; yields the last repost of each batch."""
    while reposts := await posts.reposts_between(db, about["post"], last, job.id, CLEAR_CHUNK):
        for source in reposts:
            await events.append(db, f"{job.kind}:{job.id}:{source.repost}", kind, source.author, **about)
        last = reposts[-1].repost
        yield last


@dataclass(frozen=True, slots=True)
class Listed:
    """A status or quote, and what says where all find it."""

    thing: int
    author: int
    hashtags: Sequence[str]
    quoted: tuple[int, int] | None = None  # original and its author
    reply: Reply | None = None


Seen = tuple[bool, float | None]  # whether others than its author see a post, and how important it is where all do


def _listed(job: Job, thing: int) -> Listed:
    quoted = (int(text(job, "original")), int(text(job, "original_author"))) if text(job, "original") else None
    return Listed(thing, int(text(job, "author")), text(job, "hashtags").split(), quoted, _reply(job, thing))


def _reply(job: Job, thing: int) -> Reply | None:
    """Return where a post is listed as a reply, None where it answers none."""
    if not job.body.get("reply_to"):
        return None
    author, parent, whose = (int(text(job, field)) for field in ("author", "reply_to", "reply_to_author"))
    return Reply(thing, author, parent, whose, int(text(job, "root")))


async def _settle_listings(db: Database, post: Listed, new: Seen | None = None) -> bool:
    """List a post where all find it, or take it off there, as it is now; returns whether all see it.

    `new` is how a post was seen when it was made. What is hidden or deleted stands nowhere; what only followers see is
    counted as a quote, and stands nowhere else.
    What changes between the look and the step is found by the next look, of this job or of the one that changed it.
    """
    shown, score = new or await _seen(db, post)
    while True:
        if score is None:
            await posts.remove_from_public(db, post.thing, post.hashtags)
        else:
            await posts.add_to_public(db, post.thing, post.hashtags, score)
        if post.quoted and not shown:
            original, whose = post.quoted
            await posts.unlist_repost(db, original, post.thing, post.author, plain=False, whose=whose)
        elif post.quoted and new:
            await posts.list_repost(db, post.quoted[0], post.thing, post.author, plain=False)
        elif post.quoted:
            await posts.relist_quote(db, post.quoted[0], post.thing, post.author)
        if post.reply:
            change = replies.remove if not shown else replies.add if new else replies.relist
            await change(db, post.reply)
        before = (shown, score is None)
        shown, score = await _seen(db, post)
        if before == (shown, score is None):
            return score is not None


async def _seen(db: Database, post: Listed) -> Seen:
    """Return how a post is seen now."""
    found, author = await posts.with_author(db, post.thing, post.author)
    if found is None or author is None or found.is_hidden:
        return False, None
    return True, None if author.is_private or author.is_suspended else ranking.score_of(found)


async def _retract(db: Database, job: Job, thing: int, budget: Budget) -> bool:
    author = int(text(job, "author"))
    pushed_until = await reach.pushed_until(db, author)
    if pushed_until is not None and instant(thing) > instant(pushed_until) + BUILDING:
        return True  # no home has ever had it
    delivery = await _delivery(db, job, thing, retracting=True)
    return await to_followers(
        db, job, author, budget, lambda batch: timelines.retract(db, delivery, [entry.thing for entry in batch])
    )


async def _cascade(db: Database, original: int, whose: int, budget: Budget) -> bool:
    """Delete the plain reposts of a deleted post."""
    while reposts := await posts.reposts_before(db, original, None, CLEAR_CHUNK):
        for source in reposts:
            if budget.left <= 0:
                return False
            budget.left -= 1
            job = await posts.delete(db, source.repost, source.author)
            if job is None:  # deleted already; its own job may not have come so far
                await posts.unlist_repost(db, original, source.repost, source.author, plain=True, whose=whose)
            else:
                await conclude(db, job, await delete(db, job, budget))
    return True


async def _clear(db: Database, job: Job, thing: int) -> None:
    """Remove the lists of a deleted post."""
    await _end_comments(db, thing)
    while not await interactions.clear(db, thing, CLEAR_CHUNK):
        await jobs.checkpoint(db, job, CASCADE)
        await _end_comments(db, thing)
    while not await favourites.clear(db, thing, CLEAR_CHUNK):
        await jobs.checkpoint(db, job, CASCADE)
    await posts.clear(db, thing)


async def _end_comments(db: Database, thing: int) -> None:
    await mentions.end_of_comments(db, await interactions.oldest_comments(db, thing, CLEAR_CHUNK))


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


def _told_to_all(job: Job) -> dict[str, int | str]:
    """Return what decides to whom of all the site an event of a post is told: also when the post is gone."""
    if not job.body.get("is_public", True):
        return {}
    return {"is_public": 1, **{field: str(job.body.get(field) or "") for field in ("text", "latitude", "longitude")}}


def _about(job: Job, thing: int) -> dict[str, int]:
    if not text(job, "original"):
        return {"post": thing}
    return {
        "post": thing,
        "original": int(text(job, "original")),
        "original_author": int(text(job, "original_author")),
        **({"of_quote": 1} if job.body.get("of_quote") else {}),
    }
