"""Follows, requests and blocks: they do not contradict each other, and how both sides are made to agree."""

from collections.abc import Iterator, Sequence

from store import blocks, follows, keys, kinds
from store.client.database import Command, Database
from store.keys.fields import UserField
from store.kinds import List
from store.upkeep import counters
from store.upkeep.entries import ListedEntry, entries, remove
from store.upkeep.findings import Finding, ask_each

_OWN = (kinds.FOLLOWING, kinds.REQUESTED)
_JOINING = (kinds.FOLLOWING, kinds.FOLLOWERS, kinds.REQUESTED, kinds.REQUESTS)  # lists that a block ends


async def apply_follows(db: Database, edges: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands that set each follow on the other side, over any other version there."""
    return [_apply_follow(db, edge, "add") for edge in edges]


async def apply_requests(db: Database, edges: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands that set each request on the other side, or accept it here if that side has done so."""
    looks = {edge: [("ZSCORE", keys.followers(edge.entity), edge.owner)] for edge in edges}
    return [
        _apply_follow(db, edge, "ask")
        if accepted is None
        else [follows.accept_command(db, edge.owner, edge.entity, edge.place, quietly=True)]
        for edge, (accepted,) in await ask_each(db, looks)
    ]


def _apply_follow(db: Database, edge: ListedEntry, step: str) -> list[Command]:
    assert edge.of.copied_to
    old = ("ZREM", edge.of.copied_to.key(edge.entity), edge.owner)
    ended = ("DEL", keys.unfollowed(edge.entity, edge.owner))
    return [ended, old, follows.apply_command(db, edge.owner, edge.entity, edge.place, step, quietly=True)]


async def apply_blocks(db: Database, edges: Sequence[ListedEntry]) -> list[list[Command]]:
    """Return the commands that set each block on the other side, over any other version there."""
    return [
        [
            ("DEL", keys.unblocked(edge.entity, edge.owner)),
            ("ZREM", keys.blocked_by(edge.entity), edge.owner),
            blocks.apply_command(db, edge.owner, edge.entity, edge.place, ended=False, quietly=True),
        ]
        for edge in edges
    ]


async def requests(db: Database, members: Sequence[int]) -> list[Finding]:
    """Only private members have requests."""
    edges = await entries(db, kinds.REQUESTS, members)
    private = dict(
        await ask_each(db, {edge.owner: [("HEXISTS", keys.user(edge.owner), UserField.PRIVATE)] for edge in edges})
    )
    return [
        Finding(edge.key, f"{edge.entity} waits for a member who is not private", _approve(db, edge))
        for edge in edges
        if edge.agrees and not any(private[edge.owner])
    ]


def _approve(db: Database, request: ListedEntry) -> list[Command]:
    """Return the commands that make a request to the member a follow on both sides."""
    return [
        follows.accept_command(db, request.entity, request.owner, request.place, quietly=True),
        *remove(request),
        follows.apply_command(db, request.entity, request.owner, request.place, "add", quietly=True),
    ]


async def blocked(db: Database, members: Sequence[int]) -> list[Finding]:
    """Two members between whom there is a block neither follow nor ask each other."""
    edges = await entries(db, kinds.BLOCKED, members)
    looks = {edge: [("ZSCORE", of.key(who), whom) for of, who, whom in _both_ways(edge, _OWN)] for edge in edges}
    return [
        Finding(edge.key, f"{edge.owner} and {edge.entity} follow, or ask, across the block", _part(edge))
        for edge, scores in await ask_each(db, looks)
        if any(score is not None for score in scores)
    ]


def _both_ways(edge: ListedEntry, lists: Sequence[List]) -> Iterator[tuple[List, int, int]]:
    """Yield each list of each of two members, with the other member."""
    for of in lists:
        yield of, edge.owner, edge.entity
        yield of, edge.entity, edge.owner


def _part(block: ListedEntry) -> list[Command]:
    """Return the commands that end every follow and request between two members, and recount both."""
    ends: list[Command] = [("ZREM", of.key(who), whom) for of, who, whom in _both_ways(block, _JOINING)]
    counts = [counters.recount_list(of, who) for of, who, _ in _both_ways(block, _JOINING)]
    return [*ends, *(command for some in counts for command in some)]
