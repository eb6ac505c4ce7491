"""Who follows whom: a versioned edge, kept on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from store import keys
from store.connection import Command, Database, script
from store.ids import partition
from store.records import Entry, Job, read_entries, read_job

Edges = list[tuple[int, int]]  # other member, edge


async def follow(db: Database, follower: int, members: Sequence[int]) -> tuple[Job | None, list[str]]:
    """Commit follows on the follower's side; returns the job and per member `new`, `already` or `limit`."""
    ((job, body, *results),) = await db.ask(follow_command(db, follower, members))
    return read_job(job, "follow", body) if job else None, [str(result) for result in results]


def follow_command(db: Database, follower: int, members: Sequence[int]) -> Command:
    """Return the command that commits follows; its reply is the job's id and body, then a result per member."""
    p = partition(follower)
    own = [keys.minted(p), keys.jobs(p), keys.user(follower), keys.following(follower)]
    return script("follow", own, [p, follower, db.settings.max_following, *members])


async def unfollow(db: Database, follower: int, members: Sequence[int]) -> Job | None:
    """End follows on the follower's side; returns the job, None when nothing changed."""
    p = partition(follower)
    own = [keys.minted(p), keys.jobs(p), keys.user(follower), keys.following(follower)]
    reply = await db.call("unfollow", own, p, follower, "following", "unfollow", "", 0, 0, *members)
    return read_job(reply[0], "unfollow", reply[1]) if reply else None


async def remove_followers(db: Database, member: int, followers: Sequence[int]) -> Job | None:
    """End others' follows of a member on the member's side; returns the job, None when nothing changed."""
    p = partition(member)
    own = [keys.minted(p), keys.jobs(p), keys.user(member), keys.followers(member)]
    tombstones = keys.unfollowed_prefix(member)
    args = (p, member, "followers", "remove_followers", tombstones, keys.DAY, db.settings.big_author)
    reply = await db.call("unfollow", own, *args, *followers)
    return read_job(reply[0], "remove_followers", reply[1]) if reply else None


async def tell_followed(db: Database, follower: int, edges: Edges, *, ended: bool) -> Edges:
    """Apply follows, or their ends, on the followed members' side; returns the edges to members who are gone."""
    replies = await db.ask(*(apply_command(db, follower, member, edge, ended=ended) for member, edge in edges))
    return [edge for edge, reply in zip(edges, replies, strict=True) if reply is None]


def apply_command(db: Database, follower: int, member: int, edge: int, *, ended: bool) -> Command:
    """Return the command that applies a follow, or its end, on the followed member's side."""
    p = partition(member)
    own = [keys.user(member), keys.followers(member), keys.unfollowed(member, follower), keys.minted(p), keys.jobs(p)]
    step = "remove" if ended else "add"
    return script("apply_edge", own, [step, follower, edge, keys.DAY, p, member, db.settings.big_author])


async def tell_followers(db: Database, member: int, edges: Edges) -> None:
    """Apply the end of follows on the followers' side."""
    await db.ask(
        *(script("apply_edge", [keys.user(f), keys.following(f)], ["remove", member, edge]) for f, edge in edges)
    )


def read_edges(job: Job) -> Edges:
    """Return the edges a job is about."""
    return [(int(other), int(edge)) for other, edge in cast("list[tuple[str, str]]", job.body["edges"])]


async def following(db: Database, member: int) -> dict[int, int]:
    """Return everybody a member follows, with the edge; at most `MAX_FOLLOWING`."""
    return {e.thing: e.place for e in read_entries(await db.one("ZRANGE", keys.following(member), 0, -1, "WITHSCORES"))}


async def some(db: Database, listing: str, count: int) -> list[int]:
    """Return some members of a list of follows, the oldest edges first."""
    return [int(member) for member in await db.one("ZRANGE", listing, 0, count - 1)]


async def followers_after(db: Database, member: int, edge: int, count: int) -> list[Entry]:
    """Return followers whose edges come after one, oldest first."""
    reply = await db.one(
        "ZRANGE", keys.followers(member), f"({edge}", "+inf", "BYSCORE", "LIMIT", 0, count, "WITHSCORES"
    )
    return read_entries(reply)
