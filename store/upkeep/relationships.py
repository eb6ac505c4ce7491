"""Follows, requests and blocks: what else has to agree beside the lists of both sides."""

from collections.abc import Iterable, Sequence

from store import blocks, follows, keys, kinds
from store.client.database import Command, Database
from store.keys.fields import UserField
from store.upkeep import counters
from store.upkeep.lists import ListedEntry, remove

_JOINING = (kinds.FOLLOWING, kinds.FOLLOWERS, kinds.REQUESTED, kinds.REQUESTS)  # lists that a block ends


async def accepted(db: Database, requests: Iterable[ListedEntry]) -> set[ListedEntry]:
    """Return the requests whose member is a follower on the other side already. One round trip."""
    asked = list(requests)
    scores = await db.ask(*(("ZSCORE", keys.followers(edge.entity), edge.owner) for edge in asked))
    return {edge for edge, score in zip(asked, scores, strict=True) if score is not None}


async def private(db: Database, members: Iterable[int]) -> set[int]:
    """Return those of some members who are private. One round trip."""
    asked = list(dict.fromkeys(members))
    replies = await db.ask(*(("HEXISTS", keys.user(member), UserField.PRIVATE) for member in asked))
    return {member for member, is_private in zip(asked, replies, strict=True) if is_private}


def apply_follow(db: Database, edge: ListedEntry) -> list[Command]:
    """Return the commands that set a follow or request on the other side, over any other version there."""
    assert edge.of.copied_to
    old = ("ZREM", edge.of.copied_to.key(edge.entity), edge.owner)
    ended = ("DEL", keys.unfollowed(edge.entity, edge.owner))
    step = "add" if edge.of is kinds.FOLLOWING else "ask"
    return [ended, old, follows.apply_command(db, edge.owner, edge.entity, edge.place, step, quietly=True)]


def apply_block(db: Database, edge: ListedEntry) -> list[Command]:
    """Return the commands that set a block on the other side, over any other version there."""
    old = ("ZREM", keys.blocked_by(edge.entity), edge.owner)
    ended = ("DEL", keys.unblocked(edge.entity, edge.owner))
    apply = blocks.apply_command(db, edge.owner, edge.entity, edge.place, ended=False, quietly=True)
    return [ended, old, apply]


def accept_here(db: Database, request: ListedEntry) -> Command:
    """Return the command that makes a request of the member a follow on the member's side."""
    return follows.accept_command(db, request.owner, request.entity, request.place, quietly=True)


def approve(db: Database, request: ListedEntry) -> list[Command]:
    """Return the commands that make a request to the member a follow on both sides."""
    return [
        follows.accept_command(db, request.entity, request.owner, request.place, quietly=True),
        *remove(request),
        follows.apply_command(db, request.entity, request.owner, request.place, "add", quietly=True),
    ]


async def joined(db: Database, block_edges: Sequence[ListedEntry]) -> list[ListedEntry]:
    """Return the blocks across which either member follows, or asks to follow, the other. One round trip."""
    own = (kinds.FOLLOWING, kinds.REQUESTED)
    ways = [(edge, way) for edge in block_edges for way in ((edge.owner, edge.entity), (edge.entity, edge.owner))]
    scores = await db.ask(*(("ZSCORE", kind.key(who), whom) for _, (who, whom) in ways for kind in own))
    found = [edge for i, (edge, _) in enumerate(ways) if any(score is not None for score in scores[2 * i : 2 * i + 2])]
    return list(dict.fromkeys(found))


def part(block: ListedEntry) -> list[Command]:
    """Return the commands that end every follow and request between two members, and recount both."""
    pair = (block.owner, block.entity)
    ends: list[Command] = [("ZREM", kind.key(m), o) for m, o in (pair, pair[::-1]) for kind in _JOINING]
    counts = [counters.recount_list(of, member) for member in pair for of in (kinds.FOLLOWING, kinds.FOLLOWERS)]
    return [*ends, *(command for some in counts for command in some)]
