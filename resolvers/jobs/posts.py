"""The jobs of a post: delivery, deletion and hiding, with one line per audience."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from resolvers.homes import merge
from resolvers.jobs import listings, pictures
from resolvers.jobs.mentions import end_of_comments, end_of_post, notify_of_post
from resolvers.jobs.step import Budget, Outcome, conclude, in_batches, text, to_followers
from resolvers.rules import ranking
from store import (
    big_authors,
    favourites,
    hashtags,
    jobs,
    likes_and_comments,
    notifications,
    posts,
    public_timelines,
    replies,
)
from store.client.database import Command, Database
from store.events import log
from store.events.log import NOTHING, Content
from store.groups import timeline
from store.homes import fanout
from store.homes.fanout import Delivery
from store.ids import LARGEST, instant
from store.records.jobs import Job
from store.records.posts import Repost, read_hashtags

CLEAR_CHUNK = 1_000  # Reposts, likes, comments and favourites of a post removed per step.
BUILDING = timedelta(minutes=1)  # A home begun before its author became big may hold posts up to this much newer.
CASCADE, AGAIN = "cascade", "again"  # Cursors of a delete after its first pass over the followers.


async def post(db: Database, job: Job, budget: Budget) -> Outcome:
    """Deliver a new post: mentions, hashtags, public, its original or its conversation, live readers, followers."""
    author, original, plain = int(text(job, "author")), text(job, "original"), bool(job.body["plain"])
    if job.body.get("group"):
        return await _post_in_group(db, job, budget)
    if not job.cursor:
        if plain and not await posts.list_repost(db, int(original), job.id, author, plain=True):
            # The original was deleted while it was being reposted, so the repost is deleted too.
            return await _undo(db, job, budget)
        if not plain:
            await notify_of_post(db, job, job.id)
    if job.body.get("is_pulled"):
        if not job.cursor:
            await _announce(db, job)
        return Outcome.DONE
    delivery = await _delivery(db, job, job.id)

    async def deliver_batch(after: int, count: int) -> tuple[int, int]:
        batch = fanout.begin(db, delivery, after, count)
        # The announcement is sent together with the first delivery step.
        (reply,) = await (db.ask(batch.command) if after else _announce(db, job, batch.command))
        return await fanout.finish(db, batch, reply)

    reached = await in_batches(db, job, budget, deliver_batch, fanout.at_once(db, delivery))
    return Outcome.DONE if reached else Outcome.MORE


async def _post_in_group(db: Database, job: Job, budget: Budget) -> Outcome:
    """List a new post in its group, and notify those who may see it. It goes nowhere else."""
    if not await timeline.add(db, int(text(job, "group")), job.id, int(text(job, "author"))):
        return await _undo(db, job, budget)
    await notify_of_post(db, job, job.id)
    await listings.update(db, listings.listed(job, job.id), (True, None))
    return Outcome.DONE


async def _undo(db: Database, job: Job, budget: Budget) -> Outcome:
    """Delete a new post that has no place any more."""
    undo = await posts.delete(db, job.id, int(text(job, "author")))
    if undo:
        await conclude(db, undo, await delete(db, undo, budget))
    return Outcome.DONE


async def _announce(db: Database, job: Job, *beside: Command) -> list[Any]:
    """List a new post publicly and log its event; returns the replies to the commands sent `beside` those."""
    kind = "repost" if job.body["plain"] else "post"
    commands = [_event_command(db, job, f"post:{job.id}", kind, job.id)]
    if job.body["plain"]:
        return (await db.ask(*commands, *beside))[len(commands) :]
    score = ranking.score(instant(job.id)) if job.body.get("is_public", True) else None
    if score is not None:
        commands += hashtags.count_uses_commands([(job.id, read_hashtags(text(job, "hashtags")))])
    _, answers = await listings.update(db, listings.listed(job, job.id), (True, score), [*commands, *beside])
    return answers[len(commands) :]


async def delete(db: Database, job: Job, budget: Budget) -> Outcome:
    """Remove a deleted post everywhere, with its plain reposts, likes, comments and favourites."""
    post, author = int(text(job, "post")), int(text(job, "author"))
    original, plain, group = text(job, "original"), bool(job.body["plain"]), str(job.body.get("group", ""))
    if job.cursor in {"", AGAIN} and not plain:
        await db.ask(*_unlist(db, job, post))
        await hashtags.forget_unused(db, post, read_hashtags(text(job, "hashtags")))
        await end_of_post(db, job, post)
        await notifications.withdraw_about(db, author, post)
    if not job.cursor:
        if original:
            whose = int(text(job, "original_author"))
            await posts.unlist_repost(db, int(original), post, author, plain=plain, whose=whose)
        if reply := listings.reply_of(job, post):
            await replies.remove(db, reply)
        kind = "unrepost" if plain else "delete"
        if not group:
            await db.ask(_event_command(db, job, f"delete:{post}", kind, post))
    if job.cursor != CASCADE and not group and not await _retract(db, job, post, budget):
        return Outcome.MORE
    if not await _cascade(db, post, author, budget):
        await jobs.checkpoint(db, job, CASCADE)
        return Outcome.MORE
    await _clear(db, job, post)
    await pictures.removed(db, job)
    if job.body["overtook"] and job.cursor != AGAIN:
        # The delete overtook a delivery, and one of its batches may have run after the retraction. So a worker goes
        # over the homes once more, after a lease in which that batch has ended.
        await jobs.checkpoint(db, job, AGAIN)
        return Outcome.LATER
    return Outcome.DONE


def _unlist(db: Database, job: Job, post: int) -> list[Command]:
    """Return the commands that remove a deleted post from its group, or from the timelines that everybody reads."""
    if group := job.body.get("group"):
        return [timeline.remove_command(db, int(str(group)), post)]
    return public_timelines.remove_commands(post, read_hashtags(text(job, "hashtags")))


async def hide(db: Database, job: Job, _: Budget) -> Outcome:
    """Announce that a post was hidden or is shown again. Homes keep it, and the read path decides."""
    about = _about(job, int(text(job, "post")))
    await listings.update(db, listings.listed(job, about["post"]))
    if group := str(job.body.get("group", "")):
        await db.ask(timeline.change_command(db, int(group), about["post"]))
    else:
        await db.ask(_event_command(db, job, f"{job.kind}:{job.id}", job.kind, about["post"]))
    async for last in log_for_reposters(db, job, job.kind, about, int(job.cursor or 0)):
        await jobs.checkpoint(db, job, str(last))
    return Outcome.DONE


async def restate(db: Database, job: Job, post: int) -> None:
    """List a post publicly, or remove it from public lists, after its author's account state has changed.

    Followers see the same as before. Live homes that have the post only from a repost get an event.
    """
    found = await posts.post(db, post)
    if found is None:
        return
    if found.group:
        await db.ask(timeline.change_command(db, found.group, post))
    of = listings.Listed(post, found.author, found.hashtags, is_in_group=bool(found.group))
    seen_by_all, _ = await listings.update(db, of)
    about = {"post": post, **({"original": found.original_id} if isinstance(found, Repost) else {})}
    async for _ in log_for_reposters(db, job, "unhide" if seen_by_all else "hide", about):
        pass


async def log_for_reposters(
    db: Database, job: Job, kind: str, about: dict[str, int], last: int = 0
) -> AsyncIterator[int]:
    """Log an event for each plain reposter's followers; yields the last repost of each batch."""
    while reposts := await posts.reposts_between(db, about["post"], last, job.id, CLEAR_CHUNK):
        for source in reposts:
            await log.append(db, f"{job.kind}:{job.id}:{source.repost}", kind, source.author, **about)
        last = reposts[-1].repost
        yield last


async def _retract(db: Database, job: Job, post: int, budget: Budget) -> bool:
    author = int(text(job, "author"))
    pushed_until = await big_authors.pushed_until(db, author)
    if pushed_until is not None and instant(post) > instant(pushed_until) + BUILDING:
        return True  # the post was never pushed to any home
    delivery = await _delivery(db, job, post, retracting=True)
    return await to_followers(
        db, job, author, budget, lambda batch: fanout.retract(db, delivery, [entry.entity for entry in batch])
    )


async def _cascade(db: Database, original: int, whose: int, budget: Budget) -> bool:
    """Delete the plain reposts of a deleted post."""
    while reposts := await posts.reposts_between(db, original, 0, LARGEST, CLEAR_CHUNK):
        for source in reposts:
            if budget.left <= 0:
                return False
            budget.left -= 1
            job = await posts.delete(db, source.repost, source.author)
            if job is None:  # deleted already, but its own job may not have reached this step
                await posts.unlist_repost(db, original, source.repost, source.author, plain=True, whose=whose)
            else:
                await conclude(db, job, await delete(db, job, budget))
    return True


async def _clear(db: Database, job: Job, post: int) -> None:
    """Remove the lists of a deleted post."""
    await _end_comments(db, post)
    while not await likes_and_comments.clear(db, post, CLEAR_CHUNK):
        await jobs.checkpoint(db, job, CASCADE)
        await _end_comments(db, post)
    while not await favourites.clear(db, post, CLEAR_CHUNK):
        await jobs.checkpoint(db, job, CASCADE)
    await posts.clear(db, post)


async def _end_comments(db: Database, post: int) -> None:
    await end_of_comments(db, await likes_and_comments.oldest_comments(db, post, CLEAR_CHUNK))


async def _delivery(db: Database, job: Job, post: int, *, retracting: bool = False) -> Delivery:
    author = int(text(job, "author"))
    if not job.body["plain"]:
        return Delivery(author, post, author)
    # Who follows the author of a post in a group does not have it at home: only its reposts add it there.
    original, whose = (
        int(text(job, "original")),
        0 if job.body.get("original_group") else int(text(job, "original_author")),
    )
    if not retracting:
        return await merge.with_earlier(db, Delivery(author, original, whose, post))
    if await posts.gone(db, [original]):
        # A late repost may have added the deleted original to homes again: then the original itself is retracted.
        return Delivery(author, original, whose)
    return await merge.with_earlier(db, Delivery(author, original, whose, post), ended=True)


def _event_command(db: Database, job: Job, name: str, kind: str, post: int) -> Command:
    """Return the command that logs an event about the post of a job. Only a public one reaches the site's streams."""
    is_public, content = bool(job.body.get("is_public", True)), NOTHING
    if is_public:
        content = Content(*(str(job.body.get(field) or "") for field in ("text", "latitude", "longitude")))
    about = {**_about(job, post), "is_public": int(is_public)}
    return log.append_command(db, name, kind, int(text(job, "author")), content, **about)


def _about(job: Job, post: int) -> dict[str, int]:
    if not text(job, "original"):
        return {"post": post}
    return {
        "post": post,
        "original": int(text(job, "original")),
        "original_author": int(text(job, "original_author")),
        "of_quote": int(bool(job.body.get("of_quote"))),
        "is_quote": int(not job.body["plain"]),
    }
