"""Fan-out: adds one post to the homes of many followers, and removes it from them.

On one server, one script reads the followers and writes to their homes. On a cluster, their partitions are on several
nodes. So the followers are read first, and each node gets one script for those that it has.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, Unavailable, script
from store.client.metering import METER
from store.homes.bounds import lift, limits
from store.ids import partition

APPENDED = 200  # Homes to which one script appends a newest post. It blocks the server for 0.7 to 1.8 ms.

# Entries that wait to be added to the list. More make each delivery longer; fewer move entries to the list more often.
WAITING = 8
CHANGED = 40  # Homes that one script changes in any other way. It blocks the server for 1 to 2 ms.

# What deliveries have seen of `unmerged`, by partition. Each mapping is replaced, never changed.
_UNMERGED: WeakKeyDictionary[Database, Mapping[int, str]] = WeakKeyDictionary()


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


def reached_inline(db: Database) -> int:
    """Return the number of followers from which on the script that commits a post leaves its delivery to a job."""
    return min(max(db.settings.fanout_inline, 1), APPENDED)


def _most(delivery: Delivery) -> int:
    return CHANGED if delivery.repost else APPENDED


class DeliveryBatch(Struct, frozen=True):
    """One step of a delivery: the command that begins it, and what was known before that was sent."""

    delivery: Delivery
    command: Command
    unmerged: Mapping[int, str]  # `unmerged` of each partition that is known


class DeliveryReach(NamedTuple):
    """How far one step of a job has come."""

    followers: int
    last: int  # Edge of the last one, 0 for none.
    is_left: bool | None = None  # Whether the job is unfinished, if the step has saved its progress.


def begin(db: Database, delivery: Delivery, after: int, count: int, job: int | None = None) -> DeliveryBatch:
    """Begin to add a post to the homes of `count` followers, oldest follow first, after the edge `after`.

    The caller sends the command, and gives its reply to `finish`, which does the rest. On one server, the command also
    saves the progress of a job.
    """
    d, followers = delivery, keys.followers(delivery.deliverer)
    if db.is_cluster:
        read = ("ZRANGE", followers, f"({after}", "+inf", "BYSCORE", "LIMIT", 0, count, "WITHSCORES")
        return DeliveryBatch(d, read, _UNMERGED.get(db, {}))
    noted = {"jobs": keys.jobs(partition(job)), "progress": keys.progress(partition(job)), "job": job} if job else {}
    command = script("deliver", followers=followers, **_added(db, d), after=after, limit=count, **noted)
    return DeliveryBatch(d, command, {})


async def finish(db: Database, batch: DeliveryBatch, reply: Sequence[Any]) -> DeliveryReach:
    """Finish what `begin` has begun.

    No round trip on one server, else one, and another while slots move.
    """
    if not db.is_cluster:
        followers, last, *saved = map(int, reply) if reply[0] else (0, 0)
        METER.followers += followers
        return DeliveryReach(followers, last, bool(saved[0]) if saved else None)
    if not reply:
        return DeliveryReach(0, 0)
    added = _added(db, batch.delivery)

    def add(parts: Sequence[Part]) -> Command:
        known = ((p, batch.unmerged.get(p, ""), own) for p, own in parts)
        groups = [word for p, token, own in known for word in (keys.hash_tag(p), token, len(own), *own)]
        return script("deliver_to", absent=keys.absent(parts[0][0]), **added, groups=groups)

    def note(reply: Sequence[Sequence[str]]) -> Sequence[str]:
        left, changed = reply
        if changed:
            # A new dictionary: batches under way still have what was known before their followers were read.
            tokens = zip(changed[::2], changed[1::2], strict=True)
            _UNMERGED[db] = {**_UNMERGED.get(db, {}), **{int(tag[1:-1]): token for tag, token in tokens}}
        return left

    members = reply[::2]
    await _on_each_node(db, members, _most(batch.delivery), add, note)
    METER.followers += len(members)
    return DeliveryReach(len(members), int(reply[-1]))


async def retract(db: Database, delivery: Delivery, followers: Sequence[int]) -> None:
    """Remove a deleted post, or an undone plain repost, from homes. One round trip, and another while slots move."""
    named = {"lift": lift(db), **limits(db), **_delivered(delivery)}

    def remove(parts: Sequence[Part]) -> Command:
        groups = [word for p, own in parts for word in (keys.hash_tag(p), len(own), *own)]
        return script("retract", absent=keys.absent(parts[0][0]), **named, groups=groups)

    await _on_each_node(db, followers, CHANGED, remove, lambda left: left)


Part = tuple[int, Sequence[int | str]]  # A partition and members in it.


async def _on_each_node(
    db: Database,
    members: Sequence[int | str],
    most: int,
    command: Callable[[Sequence[Part]], Command],
    left_out: Callable[[Sequence[Any]], Sequence[str]],
) -> None:
    """Run a script on the homes of some members, at most `most` at a time, each time on homes of one node.

    `command` makes the command for some partitions of a node. `left_out` takes its reply, and returns the hash tags of
    the partitions that the script has left out because their slots are moving. A call for each of them alone then
    waits until the slot has moved.
    """
    own: dict[int, list[int | str]] = defaultdict(list)
    for member in members:
        own[partition(int(member))].append(member)
    by_node: dict[int, list[Part]] = defaultdict(list)
    for p in sorted(own):
        by_node[db.node_index(p)].append((p, own[p]))
    replies = await db.ask(*(command(some) for parts in by_node.values() for some in _cut(parts, most)))
    left = {tag for reply in replies for tag in left_out(reply)}
    if left:
        moving = [(p, some) for p, some in own.items() if keys.hash_tag(p) in left]
        replies = await db.ask(*(command(some) for part in moving for some in _cut([part], most)))
        if any(left_out(reply) for reply in replies):
            raise Unavailable("a slot was moving", "TRYAGAIN")


def _cut(parts: Iterable[Part], most: int) -> Iterator[list[Part]]:
    """Yield the same partitions in their order, with at most `most` members at a time."""
    some: list[Part] = []
    room = most
    for p, own in parts:
        first = 0
        while first < len(own):
            some.append((p, own[first : first + room]))
            first += len(some[-1][1])
            room -= len(some[-1][1])
            if not room:
                yield some
                some, room = [], most
    if some:
        yield some


def _added(db: Database, d: Delivery) -> dict[str, Any]:
    """Return the script parameters that say what is added to which homes."""
    return {**bounds(db), **_delivered(d), "deliverer": d.deliverer}


def bounds(db: Database) -> dict[str, int]:
    """Return the script parameters that bound the homes to which a post is added."""
    return {"lift": lift(db), **limits(db), "newest_size": min(WAITING, db.settings.home_slack)}


def _delivered(d: Delivery) -> dict[str, Any]:
    return {"post": d.post, "author": d.author, "repost": d.repost or "", "earlier_reposts": d.earlier}
