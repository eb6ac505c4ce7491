"""The job after a member's account becomes private or public, or is suspended or restored.

The site's stream reports that in the same way as it reports hiding: posts are delivered as deleted, and as created when
they are shown again.
"""

from collections.abc import AsyncGenerator, Sequence

from resolvers.jobs import relationships
from resolvers.jobs.posts import restate
from resolvers.jobs.step import Budget, Part, StepOutcome, in_parts, run_part
from store import accounts, follows, kinds, posts, public_timelines, timelines
from store.client.database import Database
from store.events import log
from store.events.log import EventContent
from store.ids import CLOCK_SKEW, instant
from store.keys.fields import UserField
from store.records.job_bodies import PrivacyChange
from store.records.jobs import Job
from store.records.lists import Published
from store.records.posts import Post, Repost

REQUESTS_BATCH = 100  # requests approved per step once a member is no longer private
POSTS_BATCH = 100  # entries of the profile processed per step


async def apply(db: Database, job: Job[PrivacyChange], budget: Budget) -> StepOutcome:
    """Approve waiting requests if a member is no longer private, and update the public lists of their posts.

    Each step reads the account state again. So of two changes in quick succession, the later one wins.
    """
    member = job.body.member
    while waiting := await _waiting(db, member):
        await run_part(db, await follows.approve(db, member, waiting), relationships.approve, budget)
    if not job.cursor and job.body.what == UserField.SUSPENDED:
        await log.append(db, f"suspend:{job.id}", "suspend", member, member=member)
    return await in_parts(db, job, budget, _restate(db, job))


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
    return await follows.some(db, kinds.REQUESTS.key(member), REQUESTS_BATCH) if found and not found.is_private else []
