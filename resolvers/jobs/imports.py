"""The jobs of imports: what other partitions get of the members, follows and posts that were written in batches."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from resolvers.jobs import name_index
from resolvers.jobs.step import Budget, step
from resolvers.rules import ranking
from store import account_names, follows, hashtags, posts, public_timelines
from store.client.database import Database
from store.ids import instant
from store.public_timelines import PublicPost
from store.records.job_bodies import Importing
from store.records.jobs import Job
from store.records.posts import read_hashtags


@step(Importing)
async def apply(db: Database, job: Job[Importing], _: Budget) -> None:
    """Run the job of what was imported together."""
    await apply_all(db, [job])


async def apply_all(db: Database, jobs: Sequence[Job[Importing]]) -> None:
    """Run the jobs of many imports at once. Like an import, they append no events and write no homes."""
    bodies = [job.body for job in jobs]
    if members := [member for body in bodies for member in body.members]:
        await account_names.keep_current(db, members)
        await name_index.index(db, members)
    if edges := [edge for body in bodies for edge in body.follows]:
        await _follow(db, edges)
    if made := [post for body in bodies for post in body.posts]:
        await _list(db, made)


async def _follow(db: Database, edges: Sequence[tuple[int, int, int]]) -> None:
    ended: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for follower, member, edge in await follows.apply_all(db, edges):
        ended[member].append((follower, edge))
    await asyncio.gather(*(follows.apply_to_followers(db, member, found) for member, found in ended.items()))


async def _list(db: Database, made: Sequence[tuple[int, str]]) -> None:
    gone = await posts.gone(db, [post for post, _ in made])
    tags = {post: read_hashtags(text) for post, text in made if post not in gone}
    await public_timelines.list_all(db, [PublicPost(p, own, ranking.score(instant(p))) for p, own in tags.items()])
    await hashtags.count_uses(db, tags.items())
