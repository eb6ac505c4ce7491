"""The jobs of follows, requests, blocks and mutes: the other member's side, homes, and events."""

from collections.abc import Collection

from resolvers.homes import merge
from resolvers.jobs import conversations
from resolvers.jobs.step import Budget, in_parts, step
from store import blocks, follows
from store.client.database import Database
from store.events import log
from store.records.job_bodies import (
    Approval,
    Blocking,
    Edges,
    FollowerRemoval,
    Following,
    Muting,
    Rejection,
    Unblocking,
    Unfollowing,
    Unmuting,
)
from store.records.jobs import Job

FOLLOWS = 2  # reply of the followed side to a request by a member who follows by now


@step(Following)
async def follow(db: Database, job: Job[Following], _: Budget) -> None:
    """Apply follows and requests on the other side, and merge the followed members' posts into the follower's home."""
    follower, edges, asked = job.body.follower, job.body.edges, job.body.asked
    replies = await follows.apply_to_followed(db, follower, edges, "add")
    replies += await follows.apply_to_followed(db, follower, asked, "ask")
    for (member, edge), reply in zip([*edges, *asked], replies, strict=True):
        if reply is None:
            # The member's account was deleted meanwhile, or the member has blocked the follower: the follow is removed.
            await follows.apply_to_followers(db, member, [(follower, edge)])
            await merge.unmerge(db, follower, member)
    let_in = [edge for edge, reply in zip(asked, replies[len(edges) :], strict=True) if reply == FOLLOWS]
    for member, edge in let_in:
        await _let_in(db, member, [(follower, edge)])
    await _merge(db, follower, edges)


@step(Approval)
async def approve(db: Database, job: Job[Approval], _: Budget) -> None:
    """Turn approved requests into follows on the followers' side, and merge the member's posts into their homes."""
    await _let_in(db, job.body.member, job.body.edges)


async def _let_in(db: Database, member: int, edges: Edges) -> None:
    found = await follows.accept(db, member, edges)
    for (follower, edge), is_found in zip(edges, found, strict=True):
        if is_found:
            await _merge(db, follower, [(member, edge)])
        else:  # withdrawn meanwhile, and posts may have been delivered already
            await follows.apply_to_followed(db, follower, [(member, edge)], "remove")
            await _take_out(db, follower, {member})


async def _merge(db: Database, follower: int, edges: Edges) -> None:
    for member, edge in edges:
        await merge.follow(db, follower, member, edge)
    await merge.sweep(db, follower, {member for member, _ in edges})
    for member, edge in edges:
        await log.append(db, f"follow:{edge}", "follow", follower, member=member)


@step(Unfollowing)
async def unfollow(db: Database, job: Job[Unfollowing], _: Budget) -> None:
    """End follows and requests on the other side, and remove from the home what only the unfollowed members added."""
    follower, edges = job.body.member, job.body.edges
    await follows.apply_to_followed(db, follower, edges + job.body.asked, "remove")
    await _unmerge(db, follower, edges)


@step(FollowerRemoval)
async def remove_followers(db: Database, job: Job[FollowerRemoval], _: Budget) -> None:
    """End the follow on the removed followers' side, and remove from their homes what only this member added."""
    member, edges = job.body.member, job.body.edges
    await follows.apply_to_followers(db, member, edges)
    for follower, edge in edges:
        await _unmerge(db, follower, [(member, edge)])


async def _unmerge(db: Database, follower: int, edges: Edges) -> None:
    await _take_out(db, follower, {member for member, _ in edges})
    for member, edge in edges:
        await log.append(db, f"unfollow:{edge}", "unfollow", follower, member=member)


async def _take_out(db: Database, follower: int, members: Collection[int]) -> None:
    for member in members:
        await merge.unmerge(db, follower, member)
    await merge.sweep(db, follower, members)


@step(Rejection)
async def reject(db: Database, job: Job[Rejection], _: Budget) -> None:
    """Remove rejected requests on the side of those who asked."""
    await follows.apply_to_followers(db, job.body.member, job.body.asked)


@step(Blocking)
async def block(db: Database, job: Job[Blocking], budget: Budget) -> None:
    """Apply blocks on the other members' side, and end there the follows and requests that the blocks ended."""
    member, blocked = job.body.member, job.body.blocks
    followed, followers = job.body.following, job.body.followers
    await blocks.apply_to_blocked(db, member, blocked, ended=False)
    await follows.apply_to_followed(db, member, followed + job.body.requested, "remove")
    await follows.apply_to_followers(db, member, followers + job.body.requests)
    await _unmerge(db, member, followed)
    for follower, edge in followers:
        await _unmerge(db, follower, [(member, edge)])
    await _after_change(db, job, member, blocked, budget, both=True)


@step(Unblocking)
async def unblock(db: Database, job: Job[Unblocking], budget: Budget) -> None:
    """Remove blocks on the other members' side. Follows that a block ended stay ended."""
    member, unblocked, followers = job.body.member, job.body.edges, job.body.followers
    await follows.apply_to_followers(db, member, followers)
    await blocks.apply_to_blocked(db, member, unblocked, ended=True)
    for follower, edge in followers:
        await _unmerge(db, follower, [(member, edge)])
    await _after_change(db, job, member, unblocked, budget, both=True)


@step(Muting, Unmuting)
async def mute(db: Database, job: Job[Muting], budget: Budget) -> None:
    """Update the live home of a member who has muted or unmuted others, and which of their conversations are unread."""
    await _after_change(db, job, job.body.member, job.body.edges, budget)


async def _after_change(
    db: Database, job: Job, member: int, changed: Edges, budget: Budget, *, both: bool = False
) -> None:
    """Log relationships of a member that have changed, for the other member too where `both`; update conversations."""
    others = [other for other, _ in changed]
    for other in others:
        await log.append(db, f"relationship:{job.id}:{member}:{other}", "relationship", member, member=other)
        if both:
            await log.append(db, f"relationship:{job.id}:{other}:{member}", "relationship", other, member=member)
    await in_parts(db, job, budget, conversations.after_change(db, job, member, others, budget))
