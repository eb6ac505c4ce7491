"""What a follow brings into a home, and what its end takes out of it."""

from __future__ import annotations

from collections.abc import Collection

from store import posts, timelines
from store.connection import Database
from store.records import Published, Source
from store.timelines import Delivery

EARLIER_REPOSTS = 1_000  # reposts before this one that are told to followers whose homes were trimmed
MERGE_CHUNK = 1_000  # entries of a profile read at a time


async def merge(db: Database, follower: int, member: int, edge: int) -> None:
    """Bring what a newly followed member has published into the follower's home."""
    limit = db.settings.home_size + db.settings.home_slack
    found = await posts.published(db, member, below=None, above=0, count=limit)
    horizon = found[-1].id if len(found) == limit else 0
    entries = [_as_delivery(member, entry) for entry in found]
    if horizon or await timelines.floor(db, follower):
        entries = [await with_earlier(db, entry) for entry in entries]
        # What somebody's repost had brought now stands below the horizon if it is an older post of theirs, or one that
        # they passed on earlier.
        brought = list(await timelines.sources(db, follower))
        old = {post for post in await posts.published_among(db, member, brought) if post <= horizon}
        old |= await posts.reposted_until(db, member, brought, horizon)
        entries += [Delivery(member, post, member) for post in old]
    await timelines.merge(db, follower, member, edge, entries, horizon)


async def unmerge(db: Database, follower: int, member: int) -> None:
    """Take what only an unfollowed member brought out of the former follower's home."""
    floor = await timelines.floor(db, follower)
    below: int | None = None
    while floor is not None:
        found = await posts.published(db, member, below=below, above=floor, count=MERGE_CHUNK)
        await timelines.unmerge(db, follower, member, [_as_delivery(member, entry) for entry in found])
        if len(found) < MERGE_CHUNK:
            return
        below = found[-1].id


async def sweep(db: Database, follower: int, members: Collection[int]) -> None:
    """Take out of a home what is deleted, and undone reposts by members whose follow has just begun or ended.

    Deletes are told to followers: one that comes before the follow is told, between the reading and the writing of a
    merge, or after the follow has ended, misses this home. A repost that waits for its original's delete to come by
    may even bring the original back.
    """
    entries = [entry.thing for entry in await timelines.home(db, follower)]
    brought = [
        (post, source)
        for post, sources in (await timelines.sources(db, follower)).items()
        for source in sources
        if source.author in members
    ]
    gone = await posts.gone(db, [*entries, *(source.repost for _, source in brought)])
    for post in entries:
        if post in gone:
            await timelines.retract(db, Delivery(follower, post, follower), [follower])
    for post, source in brought:
        if source.repost in gone and (found := await posts.post(db, post)):
            undone = Delivery(source.author, post, found.author, source.repost)
            await timelines.retract(db, undone, [follower])


async def with_earlier(db: Database, delivery: Delivery) -> Delivery:
    """Return the delivery of a repost with those who made one before."""
    if delivery.repost is None:
        return delivery
    earlier = await posts.reposts_before(db, delivery.post, delivery.repost, EARLIER_REPOSTS)
    return Delivery(delivery.deliverer, delivery.post, delivery.author, delivery.repost, _written(earlier))


def _as_delivery(member: int, entry: Published) -> Delivery:
    if entry.original is None or entry.original_author is None:
        return Delivery(member, entry.id, member)
    return Delivery(member, entry.original, entry.original_author, entry.id)


def _written(sources: tuple[Source, ...]) -> str:
    return " ".join(f"{source.repost}:{source.author}" for source in sources)
