"""The jobs of a post: delivery, deletion and hiding, with one line per audience."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from resolvers.homes import merge
from resolvers.jobs import pictures
from resolvers.jobs.mentions import end_of_comments, end_of_post, notify_of_post
from resolvers.jobs.step import Budget, LeftToWorker, StepOutcome, in_batches, run_part, step, to_followers
from resolvers.rules import ranking
from store import (
    accounts,
    big_authors,
    favourites,
    hashtags,
    jobs,
    likes_and_comments,
    notifications,
    posts,
    public_timelines,
)
from store.client.database import Command, Database
from store.events import log
from store.events.log import NOTHING, EventContent
from store.groups import timeline
from store.homes import fanout
from store.homes.fanout import Delivery, DeliveryReach
from store.ids import LARGEST, instant
from store.posts import Reply
from store.records.job_bodies import PostBody, PostDeletion, PostDelivery, PostHiding, PostUnhiding
from store.records.jobs import Job
from store.records.lists import read_pairs
from store.records.members import User
from store.records.posts import Repost, read_hashtags, read_post

CLEAR_CHUNK = 1_000  # Reposts, likes, comments and favourites of a post removed per step.
BUILDING = timedelta(minutes=1)  # A home begun before its author became big may hold posts up to this much newer.
CASCADE, AGAIN = "cascade", "again"  # Cursors of a delete after its first pass over the followers.


@dataclass(frozen=True, slots=True)
class _PublishedPost:
    """A status or quote, with the lists that it can be in."""

    id: int
    author: int
    hashtags: Sequence[str]
    quoted: tuple[int, int] | None = None  # Original and its author.
    reply: Reply | None = None
    is_in_group: bool = False  # Such a post is in no public list.


_Seen = tuple[bool, float | None]  # Whether anybody but its author sees a post, and the score of a public post.


@step(PostDelivery)
async def post(db: Database, job: Job[PostDelivery], budget: Budget) -> None:
    """Deliver a new post: mentions, hashtags, public, its original or its conversation, live readers, followers."""
    new = job.body
    if new.group:
        await _post_in_group(db, job, budget)
        return
    if not job.cursor:
        if new.plain and not await posts.list_repost(db, new.original, job.id, new.author, plain=True):
            # The original was deleted while it was being reposted, so the repost is deleted too.
            await _undo(db, job, budget)
            return
        if not new.plain:
            await notify_of_post(db, new, job.id)
    if new.is_pulled:
        if not job.cursor:
            await _announce(db, job)
        return
    delivery = await _delivery(db, new, job.id)

    async def deliver_batch(after: int, count: int) -> DeliveryReach:
        # The announcement is sent together with the first delivery step, whose progress is saved when both are done.
        batch = fanout.begin(db, delivery, after, count, job.id if after else None)
        (reply,) = await (db.ask(batch.command) if after else _announce(db, job, batch.command))
        return await fanout.finish(db, batch, reply)

    await in_batches(db, job, budget, deliver_batch, fanout.at_once(db, delivery))


async def _post_in_group(db: Database, job: Job[PostDelivery], budget: Budget) -> None:
    """List a new post in its group, and notify those who may see it. It goes nowhere else."""
    if not await timeline.add(db, job.body.group, job.id, job.body.author):
        await _undo(db, job, budget)
        return
    await notify_of_post(db, job.body, job.id)
    await _list(db, _listed(job.body, job.id), (True, None))


async def _undo(db: Database, job: Job[PostDelivery], budget: Budget) -> None:
    """Delete a new post that has no place any more."""
    await run_part(db, await posts.delete(db, job.id, job.body.author), budget)


async def _announce(db: Database, job: Job[PostDelivery], *beside: Command) -> list[Any]:
    """List a new post publicly and log its event; returns the replies to the commands sent `beside` those."""
    new = job.body
    commands = [_event_command(db, new, f"post:{job.id}", "repost" if new.plain else "post", job.id)]
    if new.plain:
        return (await db.ask(*commands, *beside))[len(commands) :]
    score = ranking.score(instant(job.id)) if new.is_public else None
    if score is not None:
        commands += hashtags.count_uses_commands([(job.id, read_hashtags(new.hashtags))])
    _, answers = await _list(db, _listed(new, job.id), (True, score), [*commands, *beside])
    return answers[len(commands) :]


@step(PostDeletion)
async def delete(db: Database, job: Job[PostDeletion], budget: Budget) -> None:
    """Remove a deleted post everywhere, with its plain reposts, likes, comments and favourites."""
    gone = job.body
    if job.cursor in {"", AGAIN} and not gone.plain:
        await db.ask(*_unlist(db, gone))
        await hashtags.forget_unused(db, gone.post, read_hashtags(gone.hashtags))
        await end_of_post(db, gone)
        await notifications.withdraw_about(db, gone.author, gone.post)
    if not job.cursor:
        if gone.original:
            await posts.unlist_repost(
                db, gone.original, gone.post, gone.author, plain=gone.plain, whose=gone.original_author
            )
        if reply := _reply_of(gone, gone.post):
            await db.ask(*posts.unlist_reply_commands(db, reply))
        if not gone.group:
            kind = "unrepost" if gone.plain else "delete"
            await db.ask(_event_command(db, gone, f"delete:{gone.post}", kind, gone.post))
    if job.cursor != CASCADE and not gone.group:
        await _retract(db, job, budget)
    await _cascade(db, job, budget)
    await _clear(db, job, gone.post)
    await pictures.remove(db, gone.objects)
    if gone.overtook and job.cursor != AGAIN:
        # The delete overtook a delivery, and one of its batches may have run after the retraction. So a worker goes
        # over the homes once more, after a lease in which that batch has ended.
        await jobs.checkpoint(db, job, AGAIN)
        raise LeftToWorker(StepOutcome.LATER)


def _unlist(db: Database, gone: PostDeletion) -> list[Command]:
    """Return the commands that remove a deleted post from its group, or from the timelines that everybody reads."""
    if gone.group:
        return [timeline.remove_command(db, gone.group, gone.post)]
    return public_timelines.remove_commands(gone.post, read_hashtags(gone.hashtags))


@step(PostHiding, PostUnhiding)
async def hide(db: Database, job: Job[PostHiding], _: Budget) -> None:
    """Announce that a post was hidden or is shown again. Homes keep it, and the read path decides."""
    changed = job.body
    await _list(db, _listed(changed, changed.post))
    if changed.group:
        await db.ask(timeline.change_command(db, changed.group, changed.post))
    else:
        await db.ask(_event_command(db, changed, f"{job.kind}:{job.id}", job.kind, changed.post))
    about = _about(changed, changed.post)
    async for last in log_for_reposters(db, job, job.kind, about, int(job.cursor or 0)):
        await jobs.checkpoint(db, job, str(last))


async def restate(db: Database, job: Job, post: int) -> None:
    """List a post publicly, or remove it from public lists, after its author's account state has changed.

    Followers see the same as before. Live homes that have the post only from a repost get an event.
    """
    found = await posts.post(db, post)
    if found is None:
        return
    if found.group:
        await db.ask(timeline.change_command(db, found.group, post))
    of = _PublishedPost(post, found.author, found.hashtags, is_in_group=bool(found.group))
    seen_by_all, _ = await _list(db, of)
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


async def _retract(db: Database, job: Job[PostDeletion], budget: Budget) -> None:
    gone = job.body
    pushed_until = await big_authors.pushed_until(db, gone.author)
    if pushed_until is not None and instant(gone.post) > instant(pushed_until) + BUILDING:
        return  # the post was never pushed to any home
    delivery = await _delivery(db, gone, gone.post, retracting=True)
    await to_followers(
        db, job, gone.author, budget, lambda batch: fanout.retract(db, delivery, [entry.entity for entry in batch])
    )


async def _cascade(db: Database, job: Job[PostDeletion], budget: Budget) -> None:
    """Delete the plain reposts of a deleted post."""
    original, whose = job.body.post, job.body.author
    while reposts := await posts.reposts_between(db, original, 0, LARGEST, CLEAR_CHUNK):
        for source in reposts:
            if budget.left <= 0:
                await jobs.checkpoint(db, job, CASCADE)
                raise LeftToWorker(StepOutcome.MORE)
            budget.left -= 1
            deletion = await posts.delete(db, source.repost, source.author)
            await run_part(db, deletion, budget)
            if deletion is None:  # deleted already, but its own job may not have reached this step
                await posts.unlist_repost(db, original, source.repost, source.author, plain=True, whose=whose)


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


async def _delivery(
    db: Database, body: PostDelivery | PostDeletion, post: int, *, retracting: bool = False
) -> Delivery:
    author, original = body.author, body.original
    if not body.plain:
        return Delivery(author, post, author)
    # Who follows the author of a post in a group does not have it at home: only its reposts add it there.
    whose = 0 if body.original_group else body.original_author
    if not retracting:
        return await merge.with_earlier(db, Delivery(author, original, whose, post))
    if await posts.gone(db, [original]):
        # A late repost may have added the deleted original to homes again: then the original itself is retracted.
        return Delivery(author, original, whose)
    return await merge.with_earlier(db, Delivery(author, original, whose, post), ended=True)


def _event_command(db: Database, body: PostBody, name: str, kind: str, post: int) -> Command:
    """Return the command that logs an event about the post of a job. Only a public one reaches the site's streams."""
    content = EventContent(body.text, body.latitude, body.longitude) if body.is_public else NOTHING
    about = {**_about(body, post), "is_public": int(body.is_public)}
    return log.append_command(db, name, kind, body.author, content, **about)


def _about(body: PostBody, post: int) -> dict[str, int]:
    if not body.original:
        return {"post": post}
    return {
        "post": post,
        "original": body.original,
        "original_author": body.original_author,
        "of_quote": int(body.of_quote),
        "is_quote": int(not body.plain),
    }


def _listed(body: PostBody, post: int) -> _PublishedPost:
    """Return the post of a job, with the lists that it can be in."""
    quoted = (body.original, body.original_author) if body.original else None
    hashtags = read_hashtags(body.hashtags)
    return _PublishedPost(post, body.author, hashtags, quoted, _reply_of(body, post), bool(body.group))


def _reply_of(body: PostBody, post: int) -> Reply | None:
    """Return a post as a reply, with its parent and root; None when it answers no post."""
    return Reply(post, body.author, body.reply_to, body.reply_to_author, body.root) if body.reply_to else None


async def _list(
    db: Database, post: _PublishedPost, new: _Seen | None = None, beside: Sequence[Command] = ()
) -> tuple[bool, list[Any]]:
    """List a post where it belongs now, or remove it from there.

    Returns whether the post is public, and the replies to the commands `beside`, which are sent once. `new` says how
    a post was seen when it was created. A hidden or deleted post is in no list. A post that only followers see is
    listed as a quote or reply, but in no public list.
    If the post changes between the look and the steps, the next look finds that. It is made by this job, or by the
    job of the change.
    """
    look = [posts.post_command(post.id), accounts.user_command(post.author)]
    seen = new or _seen(post, await db.ask(*look))
    first: list[Any] | None = None
    while True:
        steps = _listing(db, post, seen, is_new=new is not None)
        # The look is sent last and so runs after the steps, except once on a server that has just lost its scripts.
        answers = await db.ask(*steps, *(beside if first is None else ()), *look)
        first = answers[len(steps) : -len(look)] if first is None else first
        before, seen = seen, _seen(post, answers[-len(look) :])
        if (before[0], before[1] is None) == (seen[0], seen[1] is None):
            return seen[1] is not None, first


def _listing(db: Database, post: _PublishedPost, seen: _Seen, *, is_new: bool) -> list[Command]:
    """Return the commands that list a post where it belongs, or remove it from there."""
    shown, score = seen
    steps: list[Command]
    if post.is_in_group:
        steps = []
    elif score is None:
        steps = public_timelines.remove_commands(post.id, post.hashtags)
    else:
        steps = public_timelines.add_commands(db, post.id, post.hashtags, score)
    if post.quoted:
        original, whose = post.quoted
        if not shown:
            steps.append(posts.unlist_repost_command(db, original, post.id, post.author, plain=False, whose=whose))
        elif is_new:
            steps.append(posts.list_repost_command(db, original, post.id, post.author, plain=False))
        else:
            steps += posts.relist_quote_commands(db, original, post.id, post.author)
    if post.reply:
        listing = posts.list_reply_commands if is_new else posts.relist_reply_commands
        steps += listing(db, post.reply) if shown else posts.unlist_reply_commands(db, post.reply)
    return steps


def _seen(post: _PublishedPost, replies: Sequence[Any]) -> _Seen:
    """Return who sees a post, from the replies about it and its author."""
    fields, user = map(read_pairs, replies)
    found, author = read_post(post.id, fields), User.read(post.author, user)
    if found is None or author is None or found.is_hidden:
        return False, None
    is_apart = author.is_private or author.is_suspended or post.is_in_group
    return True, None if is_apart else ranking.score_of(found)
