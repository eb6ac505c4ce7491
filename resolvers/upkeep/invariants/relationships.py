"""Invariants of relationships: follows, requests and blocks agree on both sides and don't contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from resolvers.upkeep.invariants.findings import Finding, existing, recount_one
from store import blocks, follows, keys
from store.client.database import Command, Database
from store.records import read_entries


async def following(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each follow has the same id on the followed member's side, and that member exists."""
    found = [
        Finding(keys.following(member), f"has {count} entries, at most {db.settings.max_following}")
        for member, count in zip(members, await db.ask(*(("ZCARD", keys.following(m)) for m in members)), strict=True)
        if count > db.settings.max_following
    ]
    edges = await _edges(db, members, keys.following)
    exists = await existing(db, {other for _, other, _ in edges}, keys.user)
    seen = await db.ask(*(("ZSCORE", keys.followers(other), member) for member, other, _ in edges))
    for (member, other, edge), mirrored in zip(edges, seen, strict=True):
        if other not in exists:
            gone = (("ZREM", keys.following(member), other), *recount_one(member, "following"))
            found.append(Finding(keys.following(member), f"follows {other}, who does not exist", gone))
        elif mirrored is None or int(mirrored) != edge:
            mend = (
                ("DEL", keys.unfollowed(other, member)),
                ("ZREM", keys.followers(other), member),
                follows.apply_command(db, member, other, edge, "add", quietly=True),
            )
            found.append(Finding(keys.following(member), f"follow of {other} is {mirrored} there, {edge} here", mend))
    return found


async def followers(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each follower has the follow on their own side, which is the truth."""
    edges = await _edges(db, members, keys.followers)
    seen = await db.ask(*(("ZSCORE", keys.following(other), member) for member, other, _ in edges))
    return [
        Finding(
            keys.followers(member),
            f"{other} does not follow",
            (("ZREM", keys.followers(member), other), *recount_one(member, "followers")),
        )
        for (member, other, _), mirrored in zip(edges, seen, strict=True)
        if mirrored is None
    ]


async def requested(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each request has the same id on the asked member's side, and that member exists."""
    edges = await _edges(db, members, keys.requested)
    exists = await existing(db, {other for _, other, _ in edges}, keys.user)
    seen = await db.ask(*(("ZSCORE", keys.requests(other), member) for member, other, _ in edges))
    let_in = await db.ask(*(("ZSCORE", keys.followers(other), member) for member, other, _ in edges))
    found: list[Finding] = []
    for (member, other, edge), mirrored, accepted in zip(edges, seen, let_in, strict=True):
        mend: tuple[Command, ...]
        if other not in exists:
            message, mend = f"asks {other}, who does not exist", (("ZREM", keys.requested(member), other),)
        elif accepted is not None:
            message, mend = (
                f"asks {other}, who has let them in",
                (follows.accept_command(db, member, other, edge, quietly=True),),
            )
        elif mirrored is None or int(mirrored) != edge:
            message = f"request to {other} is {mirrored} there, {edge} here"
            mend = (
                ("DEL", keys.unfollowed(other, member)),
                ("ZREM", keys.requests(other), member),
                follows.apply_command(db, member, other, edge, "ask", quietly=True),
            )
        else:
            continue
        found.append(Finding(keys.requested(member), message, mend))
    return found


async def requests(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each waiting member has the request on their own side, which is the truth; only private members have requests."""
    edges = await _edges(db, members, keys.requests)
    seen = await db.ask(*(("ZSCORE", keys.requested(other), member) for member, other, _ in edges))
    private = await db.ask(*(("HEXISTS", keys.user(member), "private") for member, _, _ in edges))
    found: list[Finding] = []
    for (member, other, edge), mirrored, is_private in zip(edges, seen, private, strict=True):
        unlist: Command = ("ZREM", keys.requests(member), other)
        if mirrored is None:
            found.append(Finding(keys.requests(member), f"{other} has not asked", (unlist,)))
        elif not is_private:
            let_in = (
                follows.accept_command(db, other, member, edge, quietly=True),
                unlist,
                follows.apply_command(db, other, member, edge, "add", quietly=True),
            )
            found.append(Finding(keys.requests(member), f"{other} waits for a member who is not private", let_in))
    return found


async def blocked(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each block has the same id on the blocked member's side, and the two neither follow nor ask each other."""
    edges = await _edges(db, members, keys.blocked)
    exists = await existing(db, {other for _, other, _ in edges}, keys.user)
    seen = await db.ask(*(("ZSCORE", keys.blocked_by(other), member) for member, other, _ in edges))
    found: list[Finding] = []
    for (member, other, block), mirrored in zip(edges, seen, strict=True):
        if other not in exists:
            gone = (("ZREM", keys.blocked(member), other),)
            found.append(Finding(keys.blocked(member), f"blocks {other}, who does not exist", gone))
        elif mirrored is None or int(mirrored) != block:
            mend = (
                ("DEL", keys.unblocked(other, member)),
                ("ZREM", keys.blocked_by(other), member),
                blocks.apply_command(db, member, other, block, ended=False, quietly=True),
            )
            found.append(Finding(keys.blocked(member), f"block of {other} is {mirrored} there, {block} here", mend))
    return found + await _across(db, [(member, other) for member, other, _ in edges])


async def _across(db: Database, pairs: Sequence[tuple[int, int]]) -> list[Finding]:
    own = (keys.following, keys.requested)
    ways = [(member, pair) for pair in pairs for member in (pair, pair[::-1])]
    scores = await db.ask(*(("ZSCORE", key(who), whom) for (who, whom), _ in ways for key in own))
    joined = {pair for i, (_, pair) in enumerate(ways) if any(s is not None for s in scores[2 * i : 2 * i + 2])}
    return [
        Finding(keys.blocked(member), f"{member} and {other} follow, or ask, across the block", _part(member, other))
        for member, other in pairs
        if (member, other) in joined
    ]


def _part(*members: int) -> tuple[Command, ...]:
    kinds = (keys.following, keys.followers, keys.requested, keys.requests)
    ends: list[Command] = [("ZREM", key(m), o) for m, o in (members, members[::-1]) for key in kinds]
    counts = [command for m in members for name in ("following", "followers") for command in recount_one(m, name)]
    return (*ends, *counts)


async def blocked_by(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each blocking member has the block on their own side, which is the truth."""
    edges = await _edges(db, members, keys.blocked_by)
    seen = await db.ask(*(("ZSCORE", keys.blocked(other), member) for member, other, _ in edges))
    return [
        Finding(keys.blocked_by(member), f"{other} does not block", (("ZREM", keys.blocked_by(member), other),))
        for (member, other, _), mirrored in zip(edges, seen, strict=True)
        if mirrored is None
    ]


async def _edges(db: Database, members: Sequence[int], key: Callable[[int], str]) -> list[tuple[int, int, int]]:
    replies = await db.ask(*(("ZRANGE", key(member), 0, -1, "WITHSCORES") for member in members))
    return [
        (member, entry.thing, entry.place)
        for member, reply in zip(members, replies, strict=True)
        for entry in read_entries(reply)
    ]
