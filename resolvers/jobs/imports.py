"""The jobs of imports: what other partitions get of the members, follows and posts that were written in batches."""

import asyncio
from collections.abc import Sequence

from resolvers.jobs import name_index
from resolvers.jobs.step import Budget, step
from resolvers.rules import ranking
from store import account_names, follows, hashtags, jobs, posts, public_timelines
from store.client.database import Database
from store.ids import instant
from store.public_timelines import PublicPost
from store.records.job_bodies import Importing
from store.records.jobs import Job
from store.records.posts import read_hashtags


@step(Importing)
async def apply(db: Database, job: Job[Importing], _: Budget) -> None:
    """Run the job of what was imported together."""
    await _apply(db, [job.body])


async def finish_all(db: Database, made: Sequence[Job[Importing]]) -> None:
    """Run many jobs at once, and mark them as finished."""
    await _apply(db, [job.body for job in made])
    await db.ask(*(jobs.finish(job.id) for job in made))


async def _apply(db: Database, bodies: Sequence[Importing]) -> None:
    """Do what jobs are for. Like an import, they append no events and write no homes."""
    if members := [member for body in bodies for member in body.members]:
        await account_names.keep_imported(db, members)
        await name_index.index(db, members)
    if edges := [edges for body in bodies for edges in body.follows]:
        await _follow(db, edges)
    if moved := [member for body in bodies for member in body.moved]:
        await name_index.index(db, moved)
    if made := [post for body in bodies for post in body.posts]:
        await _list(db, made)


async def _follow(db: Database, edges: Sequence[Sequence[int]]) -> None:
    applied = await follows.apply_all(db, edges)
    await asyncio.gather(*(follows.apply_to_followers(db, member, found) for member, found in applied.ended.items()))
    if applied.jobs:
        await finish_all(db, applied.jobs)


async def _list(db: Database, made: Sequence[tuple[int, str]]) -> None:
    gone = await posts.gone(db, [post for post, _ in made])
    tags = {post: read_hashtags(text) for post, text in made if post not in gone}
    await public_timelines.list_all(db, [PublicPost(p, own, ranking.score(instant(p))) for p, own in tags.items()])
    await hashtags.count_uses(db, tags.items())
