"""Invariants of relationships: follows, requests and blocks agree on both sides and don't contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Check, Finding
from store.client.database import Database
from store.upkeep import relationships as stored
from store.upkeep.kinds import Kind, existing


async def following(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each follow has the same id on the followed member's side, and that member exists."""
    most = db.settings.max_following
    found = [
        Finding(key, f"has {count} entries, at most {most}")
        for key, count in await stored.following_counts(db, members)
        if count > most
    ]
    edges = await stored.edges(db, Kind.FOLLOWING, members)
    exists = await existing(db, Kind.USER, {edge.other for edge in edges})
    for edge in edges:
        if edge.other not in exists:
            message = f"follows {edge.other}, who does not exist"
            found.append(Finding(edge.key, message, stored.remove(edge)))
        elif not edge.is_mirrored:
            message = f"follow of {edge.other} is {edge.mirrored} there, {edge.id} here"
            found.append(Finding(edge.key, message, stored.apply_to_other_side(db, edge)))
    return found


async def requested(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each request has the same id on the asked member's side, and that member exists."""
    edges = await stored.edges(db, Kind.REQUESTED, members)
    exists = await existing(db, Kind.USER, {edge.other for edge in edges})
    accepted = await stored.accepted(db, edges)
    found: list[Finding] = []
    for edge in edges:
        if edge.other not in exists:
            found.append(Finding(edge.key, f"asks {edge.other}, who does not exist", stored.remove(edge)))
        elif edge in accepted:
            message = f"asks {edge.other}, who has let them in"
            found.append(Finding(edge.key, message, [stored.accept_here(db, edge)]))
        elif not edge.is_mirrored:
            message = f"request to {edge.other} is {edge.mirrored} there, {edge.id} here"
            found.append(Finding(edge.key, message, stored.apply_to_other_side(db, edge)))
    return found


async def requests(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each waiting member has the request on their own side, which is the truth; only private members have requests."""
    edges = await stored.edges(db, Kind.REQUESTS, members)
    private = await stored.private(db, [edge.member for edge in edges])
    found: list[Finding] = []
    for edge in edges:
        if edge.mirrored is None:
            found.append(Finding(edge.key, f"{edge.other} has not asked", stored.remove(edge)))
        elif edge.member not in private:
            message = f"{edge.other} waits for a member who is not private"
            found.append(Finding(edge.key, message, stored.approve(db, edge)))
    return found


async def blocked(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each block has the same id on the blocked member's side, and the two neither follow nor ask each other."""
    edges = await stored.edges(db, Kind.BLOCKED, members)
    exists = await existing(db, Kind.USER, {edge.other for edge in edges})
    found: list[Finding] = []
    for edge in edges:
        if edge.other not in exists:
            found.append(Finding(edge.key, f"blocks {edge.other}, who does not exist", stored.remove(edge)))
        elif not edge.is_mirrored:
            message = f"block of {edge.other} is {edge.mirrored} there, {edge.id} here"
            found.append(Finding(edge.key, message, stored.apply_to_other_side(db, edge)))
    joined = await stored.joined(db, edges)
    return found + [
        Finding(edge.key, f"{edge.member} and {edge.other} follow, or ask, across the block", stored.part(edge))
        for edge in edges
        if edge in joined
    ]


def mirroring(kind: Kind, fault: str) -> Check:
    """Return a check that each follower, or blocking member, has the edge on their own side, which is the truth."""

    async def check(db: Database, members: Sequence[int]) -> list[Finding]:
        return [
            Finding(edge.key, f"{edge.other} {fault}", stored.remove(edge))
            for edge in await stored.edges(db, kind, members)
            if edge.mirrored is None
        ]

    return check


followers = mirroring(Kind.FOLLOWERS, "does not follow")
blocked_by = mirroring(Kind.BLOCKED_BY, "does not block")
