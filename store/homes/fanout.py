"""Fan-out: adds one post to the homes of many followers, and removes it from them.

On one server, one script reads the followers and writes to their homes. On a cluster, their partitions are on several
nodes. So the followers are read first, and each node gets one script for those that it has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, Unavailable, script
from store.homes.bounds import limits
from store.ids import partition
from store.records import read_entries

APPENDED = 500  # Homes to which one script appends a newest post. It blocks the server for 1 to 2 ms.

# Entries that wait to be added to the list. More make each delivery longer; fewer move entries to the list more often.
WAITING = 8
CHANGED = 100  # Homes that one script changes in any other way. It blocks the server for 2 to 5 ms.


class Delivery(Struct, frozen=True):
    """The delivery of one post to homes, by its author or by the author of a plain repost."""

    deliverer: int
    post: int
    author: int
    repost: int | None = None
    earlier: str = ""  # Earlier plain reposts, as `repost:author`.


def at_once(db: Database, delivery: Delivery) -> int:
    """Return how many homes one step may add a post to.

    One server runs one script in a step. The nodes of a cluster run several each, because the fewer followers a
    partition has in a step, the more each of them costs.
    """
    batch = db.settings.fanout_batch
    return batch * len(db.nodes) if db.is_cluster else min(batch, _most(delivery))


def _most(delivery: Delivery) -> int:
    return CHANGED if delivery.repost else APPENDED


def begin(db: Database, delivery: Delivery, after: int, count: int) -> Command:
    """Return the command that begins to add a post to the homes of `count` followers, oldest follow first.

    It begins after the edge `after`. `finish` does the rest with its reply.
    """
    d, followers = delivery, keys.followers(delivery.deliverer)
    if db.is_cluster:
        return ("ZRANGE", followers, f"({after}", "+inf", "BYSCORE", "LIMIT", 0, count, "WITHSCORES")
    return script("deliver", followers=followers, **_added(db, d), after=after, limit=count)


async def finish(db: Database, delivery: Delivery, reply: Sequence[Any]) -> tuple[int, int]:
    """Finish what `begin` has begun; returns the number of followers reached and the edge of the last one, 0 for none.

    No round trip on one server, else one, and another while slots move.
    """
    if not db.is_cluster:
        return (int(reply[0]), int(reply[1])) if reply[0] else (0, 0)
    found = read_entries(reply)
    members = [follower.entity for follower in found]
    await _on_each_node(db, "deliver_to", members, _most(delivery), _added(db, delivery))
    return len(found), found[-1].place if found else 0


async def retract(db: Database, delivery: Delivery, followers: Sequence[int]) -> None:
    """Remove a deleted post, or an undone plain repost, from homes. One round trip, and another while slots move."""
    named = {**_stems(), **limits(db), **_delivered(delivery)}
    await _on_each_node(db, "retract", followers, CHANGED, named)


async def _on_each_node(db: Database, name: str, members: Sequence[int], most: int, named: dict[str, Any]) -> None:
    """Run a script on the homes of some members, at most `most` at a time, each time on homes of one node.

    The script leaves out a partition whose slot is moving. A call for it alone then waits until the slot has moved.
    """
    by_node = _grouped(sorted(members, key=partition), lambda member: db.node_index(partition(member)))
    left = set(await _on_groups(db, name, _cut(by_node.values(), most), named))
    if left:
        moving = _grouped((m for m in members if keys.hash_tag(partition(m)) in left), partition)
        if await _on_groups(db, name, _cut(moving.values(), most), named):
            raise Unavailable("a slot was moving", "TRYAGAIN")


async def _on_groups(db: Database, name: str, groups: Iterable[Sequence[int]], named: dict[str, Any]) -> list[str]:
    """Run a script on each group of members; returns the hash tags of the partitions that it left out."""
    replies = await db.ask(
        *(
            script(
                name,
                absent=keys.absent(partition(members[0])),
                absent_stem=keys.stem(keys.absent),
                **named,
                groups=[
                    part
                    for p, own in _grouped(members, partition).items()
                    for part in (keys.hash_tag(p), len(own), *own)
                ],
            )
            for members in groups
        )
    )
    return [tag for reply in replies for tag in reply]


def _grouped(members: Iterable[int], owner: Callable[[int], int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for member in members:
        groups[owner(member)].append(member)
    return groups


def _cut(groups: Iterable[Sequence[int]], most: int) -> list[Sequence[int]]:
    return [some[i : i + most] for some in groups for i in range(0, len(some), most)]


def _added(db: Database, d: Delivery) -> dict[str, Any]:
    """Return the script parameters that say what is added to which homes."""
    newest_size = min(WAITING, db.settings.home_slack)
    return {**_stems(), **limits(db), **_delivered(d), "newest_size": newest_size, "deliverer": d.deliverer}


def _delivered(d: Delivery) -> dict[str, Any]:
    return {"post": d.post, "author": d.author, "repost": d.repost or "", "earlier_reposts": d.earlier}


def _stems() -> dict[str, str]:
    return {
        "following_stem": keys.stem(keys.following),
        "home_stem": keys.stem(keys.home),
        "home_state_stem": keys.stem(keys.home_state),
        "sources_stem": keys.stem(keys.sources),
        "newest_stem": keys.stem(keys.newest),
    }
