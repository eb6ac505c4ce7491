"""Invariants of relationships: follows, requests and blocks don't contradict each other."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store import kinds
from store.client.database import Command, Database
from store.upkeep import lists
from store.upkeep import relationships as stored
from store.upkeep.lists import ListedEntry


async def apply_follows(db: Database, edges: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands that set each follow on the other side."""
    return [stored.apply_follow(db, edge) for edge in edges]


async def apply_requests(db: Database, edges: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands that set each request on the other side, or accept it here if that side has done so."""
    accepted = await stored.accepted(db, edges)
    return [[stored.accept_here(db, edge)] if edge in accepted else stored.apply_follow(db, edge) for edge in edges]


async def apply_blocks(db: Database, edges: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands that set each block on the other side."""
    return [stored.apply_block(db, edge) for edge in edges]


async def requests(db: Database, members: Sequence[int]) -> list[Finding]:
    """Only private members have requests."""
    edges = await lists.entries(db, kinds.REQUESTS, members)
    private = await stored.private(db, [edge.owner for edge in edges])
    return [
        Finding(edge.key, f"{edge.entity} waits for a member who is not private", stored.approve(db, edge))
        for edge in edges
        if edge.agrees and edge.owner not in private
    ]


async def blocked(db: Database, members: Sequence[int]) -> list[Finding]:
    """Two members between whom there is a block neither follow nor ask each other."""
    edges = await lists.entries(db, kinds.BLOCKED, members)
    return [
        Finding(edge.key, f"{edge.owner} and {edge.entity} follow, or ask, across the block", stored.part(edge))
        for edge in await stored.joined(db, edges)
    ]
