"""Merges a new follow into the follower's home, and removes what an ended follow had added."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from resolvers.rules.merging import EARLIER_REPOSTS
from store import big_authors, posts, timelines
from store.client.database import Database
from store.homes import fanout, stored
from store.homes.fanout import Delivery
from store.records.lists import Published, write_sources

MERGE_CHUNK = 1_000  # entries of a profile read per step


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Deliveries of the posts and reposts that a member has published above a horizon."""

    entries: list[Delivery]
    horizon: int


async def published(db: Database, member: int, *, above: int, trimmed: bool) -> Deliveries:
    """Return the newest entries of a member's profile, with earlier reposts if homes are trimmed."""
    limit = db.settings.home_size + db.settings.home_slack
    found = await timelines.published(db, member, below=None, above=above, count=limit)
    horizon = found[-1].id if len(found) == limit else 0
    entries = _as_deliveries(member, found)
    return Deliveries(await _with_earlier(db, entries) if trimmed or horizon else entries, horizon)


async def follow(db: Database, follower: int, member: int, edge: int) -> None:
    """Merge a newly followed member's posts into the follower's home. Readers pull a big author's posts instead."""
    if await big_authors.pushed_until(db, member) is None:
        floor = await stored.floor(db, follower)
        if floor is not None:
            deliveries = await published(db, member, above=floor, trimmed=floor > 0)
            await merge(db, follower, member, edge, deliveries)


async def merge(db: Database, follower: int, member: int, edge: int, deliveries: Deliveries) -> None:
    """Merge entries of a member's profile, already read, into a follower's home."""
    floor = max(deliveries.horizon, await stored.floor(db, follower) or 0)
    entries = deliveries.entries
    if floor:
        # The newly followed member may also have written or reposted, at or below the floor, what others reposted.
        entries = [*entries, *await _known_below(db, follower, member, floor)]
    await stored.merge(db, follower, member, edge, entries, deliveries.horizon)


async def unmerge(db: Database, follower: int, member: int) -> None:
    """Remove from a former follower's home what only the unfollowed member added.

    The unfollowed member's followers don't have this one any more. So a delivery that began since then doesn't reach
    this home, and all earlier posts are in the profile that is read here.
    """
    floor = await stored.floor(db, follower)
    if floor is None:
        await stored.unmerge(db, follower, member, [])  # A home may be begun by now, and a delivery may be under way.
    below: int | None = None
    while floor is not None:
        found = await timelines.published(db, member, below=below, above=floor, count=MERGE_CHUNK)
        entries = _as_deliveries(member, found)
        if floor:
            entries = await _with_earlier(db, entries, ended=True)
        await stored.unmerge(db, follower, member, entries)
        if len(found) < MERGE_CHUNK:
            break
        below = found[-1].id
    if floor:
        await stored.unmerge(db, follower, member, await _known_below(db, follower, member, floor))


async def _known_below(db: Database, follower: int, member: int, floor: int) -> list[Delivery]:
    """Return the posts of which a home has reposts, and which a member wrote or reposted up to the home's floor.

    Each has its first reposts.
    """
    known = [post for post in await stored.sources(db, follower) if post <= floor]
    theirs = await timelines.published_among(db, member, known) | await posts.reposted_until(db, member, known, floor)
    below = [Delivery(post.author, post.id, post.home_author) for post in await posts.existing(db, sorted(theirs))]
    return await _with_earlier(db, below, ended=True, all_of_them=True)


async def sweep(db: Database, follower: int, members: Collection[int]) -> None:
    """Remove deleted posts from a home, and undone reposts by members whose follow has just begun or ended.

    A delete retracts a post from the homes of the author's followers at that moment. It misses this home if it comes
    before the follow is applied or after the follow has ended. It also misses it between the read and the write of a
    merge. A repost that has not yet been deleted with its original may even add the original again.
    """
    entries = [entry.entity for entry in await stored.home(db, follower)]
    candidates = [
        (post, source)
        for post, sources in (await stored.sources(db, follower)).items()
        for source in sources
        if source.author in members
    ]
    known = {*entries, *(post for post, _ in candidates)}
    gone = await posts.gone(db, [*known, *(source.repost for _, source in candidates)])
    for post in known & gone:
        await fanout.retract(db, Delivery(follower, post, follower), [follower])
    for post, source in candidates:
        if source.repost in gone and (found := await posts.post(db, post)):
            undone = Delivery(source.author, post, found.home_author, source.repost)
            await fanout.retract(db, await with_earlier(db, undone, ended=True), [follower])


async def with_earlier(db: Database, delivery: Delivery, *, ended: bool = False) -> Delivery:
    """Return a repost's delivery with the reposts made before it; for an undone one, with the first reposts of all."""
    (found,) = await _with_earlier(db, [delivery], ended=ended)
    return found


async def _with_earlier(
    db: Database, entries: Sequence[Delivery], *, ended: bool = False, all_of_them: bool = False
) -> list[Delivery]:
    reposts = [entry for entry in entries if entry.repost or all_of_them]
    replies = await db.ask(
        *(posts.first_reposts(e.post, EARLIER_REPOSTS, below=None if ended else e.repost) for e in reposts)
    )
    found = [posts.read_reposts(reply) for reply in replies]
    unpushed = await big_authors.unpushed_since(db, {source.author for sources in found for source in sources})
    earlier = {
        entry: write_sources(s for s in sources if s.repost <= unpushed.get(s.author, s.repost))
        for entry, sources in zip(reposts, found, strict=True)
    }
    return [replace(entry, earlier=earlier.get(entry, "")) for entry in entries]


def _as_deliveries(member: int, entries: Sequence[Published]) -> list[Delivery]:
    """Return the deliveries of a profile's entries, without posts in groups, which go to no home."""
    return [_as_delivery(member, entry) for entry in entries if not entry.group]


def _as_delivery(member: int, entry: Published) -> Delivery:
    if entry.original is None or entry.original_author is None:
        return Delivery(member, entry.id, member)
    return Delivery(member, entry.original, entry.original_author, entry.id)
