"""What follows, requests, blocks and mutes set in motion: the other side of each, homes, and who is told."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from resolvers.homes import merge
from resolvers.jobs.step import Budget, Outcome, text
from store import blocks, events, follows
from store.client.database import Database
from store.follows import Edges, read_edges
from store.records import Job

FOLLOWS = 2  # what the followed side answers to a request of somebody who follows by now


async def follow(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell those followed, and those asked; bring what the followed have published to the follower."""
    follower, edges, asked = int(text(job, "follower")), read_edges(job), read_edges(job, "asked")
    replies = await follows.tell_followed(db, follower, edges, "add")
    replies += await follows.tell_followed(db, follower, asked, "ask")
    for (member, edge), reply in zip([*edges, *asked], replies, strict=True):
        if reply is None:
            # Deleted while they were being followed, or they have blocked the follower: the follow goes with it.
            await follows.tell_followers(db, member, [(follower, edge)])
            await merge.unmerge(db, follower, member)
    let_in = [edge for edge, reply in zip(asked, replies[len(edges) :], strict=True) if reply == FOLLOWS]
    for member, edge in let_in:
        await _let_in(db, member, [(follower, edge)])
    await _merge(db, follower, edges)
    return Outcome.DONE


async def approve(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell those who asked that they follow, and bring them what they may see now."""
    await _let_in(db, int(text(job, "member")), read_edges(job))
    return Outcome.DONE


async def _let_in(db: Database, member: int, edges: Edges) -> None:
    stand = await follows.accept(db, member, edges)
    for (follower, edge), stands in zip(edges, stand, strict=True):
        if stands:
            await _merge(db, follower, [(member, edge)])
        else:  # taken back meanwhile, and perhaps something was delivered
            await follows.tell_followed(db, follower, [(member, edge)], "remove")
            await _take_out(db, follower, {member})


async def _merge(db: Database, follower: int, edges: Edges) -> None:
    for member, edge in edges:
        await merge.follow(db, follower, member, edge)
    await merge.sweep(db, follower, {member for member, _ in edges})
    for member, edge in edges:
        await events.append(db, f"follow:{edge}", "follow", follower, member=member)


async def unfollow(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell those no longer followed or asked, and take out of the former follower's home what only they brought."""
    follower, edges = int(text(job, "member")), read_edges(job)
    await follows.tell_followed(db, follower, edges + read_edges(job, "asked"), "remove")
    await _unmerge(db, follower, edges)
    return Outcome.DONE


async def remove_followers(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell those who follow no longer, and take out of their homes what only this member brought."""
    member, edges = int(text(job, "member")), read_edges(job)
    await follows.tell_followers(db, member, edges)
    for follower, edge in edges:
        await _unmerge(db, follower, [(member, edge)])
    return Outcome.DONE


async def _unmerge(db: Database, follower: int, edges: Edges) -> None:
    await _take_out(db, follower, {member for member, _ in edges})
    for member, edge in edges:
        await events.append(db, f"unfollow:{edge}", "unfollow", follower, member=member)


async def _take_out(db: Database, follower: int, members: Collection[int]) -> None:
    for member in members:
        await merge.unmerge(db, follower, member)
    await merge.sweep(db, follower, members)


async def reject(db: Database, job: Job, _: Budget) -> Outcome:
    """Take back the requests of those who asked."""
    await follows.tell_followers(db, int(text(job, "member")), read_edges(job, "asked"))
    return Outcome.DONE


async def block(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell the blocked, and end on their side what the block has ended between the two."""
    member, blocked = int(text(job, "member")), read_edges(job, "blocks")
    followed, followers = read_edges(job, "following"), read_edges(job, "followers")
    await blocks.tell_blocked(db, member, blocked, ended=False)
    await follows.tell_followed(db, member, followed + read_edges(job, "requested"), "remove")
    await follows.tell_followers(db, member, followers + read_edges(job, "requests"))
    await _unmerge(db, member, followed)
    for follower, edge in followers:
        await _unmerge(db, follower, [(member, edge)])
    await _tell(db, job, member, blocked, both=True)
    return Outcome.DONE


async def unblock(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell those blocked no longer; what the block has ended stays ended."""
    member, unblocked = int(text(job, "member")), read_edges(job)
    await blocks.tell_blocked(db, member, unblocked, ended=True)
    await _tell(db, job, member, unblocked, both=True)
    return Outcome.DONE


async def mute(db: Database, job: Job, _: Budget) -> Outcome:
    """Tell the live home of the member who has muted somebody, or no longer does."""
    await _tell(db, job, int(text(job, "member")), read_edges(job), both=False)
    return Outcome.DONE


async def _tell(db: Database, job: Job, member: int, others: Iterable[tuple[int, int]], *, both: bool) -> None:
    for other, _ in others:
        await events.append(db, f"bond:{job.id}:{member}:{other}", "bond", member, member=other)
        if both:
            await events.append(db, f"bond:{job.id}:{other}:{member}", "bond", other, member=member)
