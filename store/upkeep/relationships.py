"""Follows, requests and blocks: the edges that one side has, and what the other side has of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from store import blocks, follows, keys
from store.client.database import Command, Database
from store.keys.fields import UserField
from store.records.lists import read_entries
from store.upkeep import counters
from store.upkeep.kinds import Kind

# Each list of edges, and the list on the other side that has the same edges.
_OTHER_SIDE = {
    Kind.FOLLOWING: Kind.FOLLOWERS,
    Kind.FOLLOWERS: Kind.FOLLOWING,
    Kind.REQUESTED: Kind.REQUESTS,
    Kind.REQUESTS: Kind.REQUESTED,
    Kind.BLOCKED: Kind.BLOCKED_BY,
    Kind.BLOCKED_BY: Kind.BLOCKED,
}
_COUNTERS = {Kind.FOLLOWING: UserField.FOLLOWING, Kind.FOLLOWERS: UserField.FOLLOWERS}
_JOINING = (Kind.FOLLOWING, Kind.FOLLOWERS, Kind.REQUESTED, Kind.REQUESTS)  # lists that a block ends


class Edge(Struct, frozen=True):
    """A follow, request or block in a member's list; `mirrored` is its id in the other member's list, None without."""

    kind: Kind
    member: int
    other: int
    id: int
    mirrored: int | None

    @property
    def key(self) -> str:
        """Return the key of the member's list."""
        return self.kind.key(self.member)

    @property
    def is_mirrored(self) -> bool:
        """Return whether both lists have the same edge."""
        return self.mirrored == self.id


async def edges(db: Database, kind: Kind, members: Sequence[int]) -> list[Edge]:
    """Return the edges in one list of some members. Two round trips."""
    there = _OTHER_SIDE[kind]
    replies = await db.ask(*(("ZRANGE", kind.key(member), 0, -1, "WITHSCORES") for member in members))
    found = [
        (member, entry.entity, entry.place)
        for member, reply in zip(members, replies, strict=True)
        for entry in read_entries(reply)
    ]
    scores = await db.ask(*(("ZSCORE", there.key(other), member) for member, other, _ in found))
    return [Edge(kind, *edge, None if score is None else int(score)) for edge, score in zip(found, scores, strict=True)]


async def following_counts(db: Database, members: Sequence[int]) -> list[tuple[str, int]]:
    """Return the key of each member's list of followed members, and its size. One round trip."""
    found = [keys.following(member) for member in members]
    return list(zip(found, await db.ask(*(("ZCARD", key) for key in found)), strict=True))


async def accepted(db: Database, requests: Iterable[Edge]) -> set[Edge]:
    """Return the requests whose member is a follower on the other side already. One round trip."""
    asked = list(requests)
    scores = await db.ask(*(("ZSCORE", keys.followers(edge.other), edge.member) for edge in asked))
    return {edge for edge, score in zip(asked, scores, strict=True) if score is not None}


async def private(db: Database, members: Iterable[int]) -> set[int]:
    """Return those of some members who are private. One round trip."""
    asked = list(dict.fromkeys(members))
    replies = await db.ask(*(("HEXISTS", keys.user(member), UserField.PRIVATE) for member in asked))
    return {member for member, is_private in zip(asked, replies, strict=True) if is_private}


def remove(edge: Edge) -> list[Command]:
    """Return the commands that remove an edge from the member's list, and recount the list if it is counted."""
    counter = _COUNTERS.get(edge.kind)
    return [("ZREM", edge.key, edge.other), *(counters.recount_member(edge.member, counter) if counter else ())]


def apply_to_other_side(db: Database, edge: Edge) -> list[Command]:
    """Return the commands that set a follow, request or block on the other side, over any other version there."""
    old = ("ZREM", _OTHER_SIDE[edge.kind].key(edge.other), edge.member)
    if edge.kind is Kind.BLOCKED:
        ended = ("DEL", keys.unblocked(edge.other, edge.member))
        return [ended, old, blocks.apply_command(db, edge.member, edge.other, edge.id, ended=False, quietly=True)]
    step = "add" if edge.kind is Kind.FOLLOWING else "ask"
    ended = ("DEL", keys.unfollowed(edge.other, edge.member))
    return [ended, old, follows.apply_command(db, edge.member, edge.other, edge.id, step, quietly=True)]


def accept_here(db: Database, request: Edge) -> Command:
    """Return the command that makes a request of the member a follow on the member's side."""
    return follows.accept_command(db, request.member, request.other, request.id, quietly=True)


def approve(db: Database, request: Edge) -> list[Command]:
    """Return the commands that make a request to the member a follow on both sides."""
    return [
        follows.accept_command(db, request.other, request.member, request.id, quietly=True),
        *remove(request),
        follows.apply_command(db, request.other, request.member, request.id, "add", quietly=True),
    ]


async def joined(db: Database, block_edges: Sequence[Edge]) -> set[Edge]:
    """Return the blocks across which either member follows, or asks to follow, the other. One round trip."""
    own = (Kind.FOLLOWING, Kind.REQUESTED)
    ways = [(edge, way) for edge in block_edges for way in ((edge.member, edge.other), (edge.other, edge.member))]
    scores = await db.ask(*(("ZSCORE", kind.key(who), whom) for _, (who, whom) in ways for kind in own))
    return {edge for i, (edge, _) in enumerate(ways) if any(score is not None for score in scores[2 * i : 2 * i + 2])}


def part(block: Edge) -> list[Command]:
    """Return the commands that end every follow and request between two members, and recount both."""
    pair = (block.member, block.other)
    ends: list[Command] = [("ZREM", kind.key(m), o) for m, o in (pair, pair[::-1]) for kind in _JOINING]
    return [*ends, *(command for member in pair for command in counters.recount_member(member, *_COUNTERS.values()))]
