"""Follows and follow requests: versioned edges, stored on both sides.

`there` is what the other sides have said, by member: see `store/other_side.py`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.limits.writes import Limit, script_parameters
from store.other_side import NOTHING, There, with_other_side
from store.records.job_bodies import Approval, Edges, FollowerRemoval, Following, Importing, Rejection, Unfollowing
from store.records.jobs import Job, read_job
from store.records.lists import read_entries
from store.refusals import Refusal, refused_members
from store.scripts.mailboxes import mailboxes
from store.scripts.partitioned import by_partition

APPLIED = 500  # words about follows of one member in one script, at most

Unfollowable = Literal[Refusal.GONE, Refusal.BLOCKED, Refusal.FULL, Refusal.HOUR]


async def follow(
    db: Database,
    follower: int,
    members: Sequence[int],
    asks: Collection[int] = (),
    limit: Limit | None = None,
    there: There = NOTHING,
) -> tuple[Job | None, dict[int, Unfollowable]]:
    """Commit follows on the follower's side, and requests to the members in `asks`; returns the job and the refusals.

    A member who blocks the follower is GONE. FULL says that the follower follows `MAX_FOLLOWING`.
    """
    ordered = sorted(members, key=lambda member: member not in asks)
    command = follow_command(db, follower, ordered, len(set(asks) & set(members)), limit, there)
    ((job, body, *answers),) = await db.ask(command)
    return read_job(Following, job, body) if job else None, refused_members(ordered, answers)


def follow_command(
    db: Database,
    follower: int,
    members: Sequence[int],
    asked: int = 0,
    limit: Limit | None = None,
    there: There = NOTHING,
) -> Command:
    """Return the command that commits follows; to the first `asked` members, it commits requests.

    Its reply is the job's id and body, then an answer per member.
    """
    p = partition(follower)
    return script(
        "follow",
        follower,
        writes=script_parameters(follower, None)["writes"],
        follower=follower,
        max_following=db.settings.max_following,
        most_in_hour=limit.most if limit else "",
        ask_count=asked,
        mailboxes=mailboxes(db, p),
        others=with_other_side(members, there),
    )


async def unfollow(db: Database, follower: int, members: Sequence[int]) -> Job | None:
    """End follows and requests on the follower's side; returns the job, None when nothing changed."""
    p = partition(follower)
    reply = await db.call("unfollow", follower, member=follower, mailboxes=mailboxes(db, p), others=members)
    return read_job(Unfollowing, *reply) if reply else None


async def remove_followers(db: Database, member: int, followers: Sequence[int], there: There = NOTHING) -> Job | None:
    """End others' follows of a member on the member's side; returns the job, None when nothing changed."""
    return await _end(db, member, followers, there, FollowerRemoval)


async def reject(db: Database, member: int, followers: Sequence[int], there: There = NOTHING) -> Job | None:
    """End requests to follow a member on the member's side; returns the job, None when nothing changed."""
    return await _end(db, member, followers, there, Rejection)


async def _end(
    db: Database, member: int, followers: Sequence[int], there: There, kind: type[FollowerRemoval | Rejection]
) -> Job | None:
    p = partition(member)
    reply = await db.call(
        "remove_followers",
        member,
        member=member,
        kind=kind.kind,
        tombstone_prefix=keys.unfollowed_prefix(member),
        ttl=keys.DAY,
        big_author_threshold=db.settings.big_author,
        mailboxes=mailboxes(db, p),
        others=with_other_side(followers, there),
    )
    return read_job(kind, *reply) if reply else None


async def approve(db: Database, member: int, followers: Sequence[int], there: There = NOTHING) -> Job[Approval] | None:
    """Approve requests to follow a member on the member's side; returns the job, None when none of them had asked."""
    p = partition(member)
    reply = await db.call(
        "approve",
        member,
        member=member,
        big_author_threshold=db.settings.big_author,
        tombstone_prefix=keys.unfollowed_prefix(member),
        mailboxes=mailboxes(db, p),
        others=with_other_side(followers, there),
    )
    return read_job(Approval, *reply) if reply else None


async def accept(db: Database, member: int, edges: Edges) -> list[bool]:
    """Apply approvals on the requesting members' side; returns for each whether its edge still exists there."""
    replies = await db.ask(*(accept_command(db, follower, member, edge) for follower, edge in edges))
    return [bool(reply) for reply in replies]


def accept_command(db: Database, follower: int, member: int, edge: int, *, quietly: bool = False) -> Command:
    """Return the command that applies an approval on the requesting member's side.

    With `quietly`, it changes no notifications.
    """
    return _at_follower(db, "accept", follower, member, edge, quietly=quietly)


async def apply_to_followed(db: Database, follower: int, edges: Edges, step: str) -> list[int | None]:
    """Apply follows, requests, or their ends on the followed members' side; `step` is `add`, `ask` or `remove`.

    Returns for each edge 1, 0 if a newer edge is stored, or 2 if a requesting member already follows. None means that
    the followed member is gone or blocks the follower.
    """
    return await db.ask(*(apply_command(db, follower, member, edge, step) for member, edge in edges))


def apply_command(db: Database, follower: int, member: int, edge: int, step: str, *, quietly: bool = False) -> Command:
    """Return the command that applies a follow or request, or its end, on the followed member's side.

    With `quietly`, it changes no notifications.
    """
    p = partition(member)
    return script(
        "apply_edge",
        member,
        tombstone=keys.unfollowed(member, follower),
        step=step,
        follower=follower,
        edge=edge,
        ttl=keys.DAY,
        member=member,
        big_author_threshold=db.settings.big_author,
        mailboxes="" if quietly else mailboxes(db, p),
    )


class AppliedFollows(NamedTuple):
    """The outcome of applying an import's follows on the followed members' side."""

    ended: dict[int, list[tuple[int, int]]]  # by members who are gone or block: the followers, and the edges
    jobs: list[Job[Importing]]  # that move the names of members with another number of followers


async def apply_all(db: Database, follows: Iterable[Sequence[int]]) -> AppliedFollows:
    """Apply follows of an import on the followed members' side, without a change of notifications.

    They are given as a follower, then edges and followed members in turn. One round trip, and another for follows that
    something is in the way of.
    """
    edges: dict[int, list[int]] = defaultdict(list)
    for follower, *made in follows:
        for edge, member in zip(made[::2], made[1::2], strict=True):
            edges[member] += (edge, follower)
    parts = ((m, found[i : i + APPLIED]) for m, found in edges.items() for i in range(0, len(found), APPLIED))
    calls = list(by_partition(parts))
    threshold = db.settings.big_author
    replies = await db.ask(
        *(script("apply_follows", partition=p, big_author_threshold=threshold, follows=c) for p, c in calls)
    )
    left = [
        (words[at], follower, edge)
        for (_, words), (places, *_) in zip(calls, replies, strict=True)
        for at in places
        for edge, follower in zip(*(words[at + i : at + 2 + words[at + 1] : 2] for i in (2, 3)), strict=True)
    ]
    singly = await db.ask(*(apply_command(db, f, member, edge, "add", quietly=True) for member, f, edge in left))
    ended: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (member, follower, edge), reply in zip(left, singly, strict=True):
        if reply is None:
            ended[member].append((follower, edge))
    return AppliedFollows(ended, [read_job(Importing, *job) for _, *job in replies if job])


async def apply_to_followers(db: Database, member: int, edges: Edges) -> None:
    """Apply the end of follows or requests on the followers' side."""
    await db.ask(*(_at_follower(db, "end_edge", f, member, edge) for f, edge in edges))


def _at_follower(db: Database, step: str, follower: int, member: int, edge: int, *, quietly: bool = False) -> Command:
    return script(
        step,
        follower,
        member=member,
        edge=edge,
        follower=follower,
        mailboxes="" if quietly else mailboxes(db, partition(follower)),
    )


def requested_command(member: int, others: Sequence[int]) -> Command:
    """Return the command that reads a member's follow request to each of some others, None without one."""
    return ("ZMSCORE", keys.requested(member), *others)


def followed_by_command(member: int, others: Sequence[int]) -> Command:
    """Return the command that reads the follow of a member by each of some others, None without one."""
    return ("ZMSCORE", keys.followers(member), *others)


def follows_command(member: int, others: Sequence[int]) -> Command:
    """Return the command that reads a member's follow of each of some others, None without one."""
    return ("ZMSCORE", keys.following(member), *others)


def followed_command(member: int) -> Command:
    """Return the command that reads the ids of all members that a member follows, oldest follow first."""
    return ("ZRANGE", keys.following(member), 0, -1)


async def followed(db: Database, members: Sequence[int]) -> list[set[int]]:
    """Return the members that each of some members follows; one round trip."""
    return [set(map(int, reply)) for reply in await db.ask(*map(followed_command, members))]


async def following(db: Database, member: int) -> dict[int, int]:
    """Return the edge of each member that a member follows; at most `MAX_FOLLOWING`."""
    return {
        e.entity: e.place for e in read_entries(await db.one("ZRANGE", keys.following(member), 0, -1, "WITHSCORES"))
    }
