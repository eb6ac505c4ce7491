"""Joins Valkey or Redis servers into a cluster, by CLUSTER commands alone.

Every step looks first and does only what is missing. So joining can be repeated at each start. It completes what a
killed process began, and nodes that have new ports meet again.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import redis.asyncio as redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from store.client.slots import SLOTS
from store.embedded.launch import HOST

JOIN_SECONDS = 60.0  # time to join, once all servers have loaded their data
_MEET_SECONDS = 1.0  # time between two meetings of the same nodes, for a handshake to succeed or fail
_POLL_SECONDS = 0.02  # time between two looks at the nodes


class JoinError(Exception):
    """The servers did not become a cluster in time. The message is one line."""


class KnownNode(NamedTuple):
    """A node as another node knows it: one line of CLUSTER NODES."""

    id: str
    port: int
    flags: frozenset[str]
    primary: str  # id of the primary that a replica has, "-" for a primary
    is_connected: bool
    slots: list[tuple[int, int]]  # first and last of each range

    @property
    def is_primary(self) -> bool:
        """Return whether the node is a primary."""
        return "master" in self.flags


class ClusterView(NamedTuple):
    """All nodes that one node knows, itself included, by their ids."""

    own: KnownNode
    nodes: dict[str, KnownNode]


def slot_ranges(primaries: int) -> list[tuple[int, int]]:
    """Return the first and last slot of each of some equal ranges."""
    starts = [SLOTS * n // primaries for n in range(primaries + 1)]
    return [(first, after - 1) for first, after in itertools.pairwise(starts)]


async def view(node: redis.Redis) -> ClusterView:
    """Return the nodes that a node knows. One round trip."""
    known = [_known_node(line) for line in (await _cluster(node, "NODES")).splitlines()]
    own = next(other for other in known if "myself" in other.flags)
    return ClusterView(own, {other.id: other for other in known if "handshake" not in other.flags})


def _known_node(line: str) -> KnownNode:
    name, address, flags, primary, _, _, _, link, *slots = line.split()
    port = address.partition("@")[0].rpartition(":")[2]
    spans = [span.partition("-") for span in slots if not span.startswith("[")]  # [ begins a slot that moves
    ranges = [(int(first), int(last or first)) for first, _, last in spans]
    return KnownNode(name, int(port), frozenset(flags.split(",")), primary, link == "connected", ranges)


async def _cluster(node: redis.Redis, *words: Any) -> Any:
    return await node.execute_command("CLUSTER", *words)  # type: ignore[no-untyped-call]


async def join(nodes: Sequence[redis.Redis], primaries: int) -> None:
    """Make servers a cluster whose first nodes are primaries and whose others are their replicas.

    A node that has been a primary or replica before remains one.
    Raises JoinError.
    """
    try:
        async with asyncio.timeout(JOIN_SECONDS):
            while True:
                try:
                    return await _join(nodes, primaries)
                except (RedisConnectionError, OSError):  # a node was killed meanwhile, and is being started again
                    await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        raise JoinError(f"the {len(nodes)} nodes did not become a cluster within {JOIN_SECONDS:g} s") from None
    except RedisError as error:
        raise JoinError(f"the nodes cannot become a cluster: {error}") from error


async def _join(nodes: Sequence[redis.Redis], primaries: int) -> None:
    views = await _met(nodes)
    await _give_slots(nodes[:primaries], views)
    await _until(nodes, _know_all_slots)
    for node in nodes[primaries:]:
        await _replicate(node, await _views(nodes))
    await _until(nodes, _know_all_roles)
    await _until_ok(nodes)


async def _views(nodes: Sequence[redis.Redis]) -> list[ClusterView]:
    return list(await asyncio.gather(*map(view, nodes)))


async def _met(nodes: Sequence[redis.Redis]) -> list[ClusterView]:
    """Let nodes meet until each has a link to each other one; returns what they know then."""
    clock = asyncio.get_running_loop().time
    meet_at = 0.0
    while True:
        views = await _views(nodes)
        strange = [
            (node, other.own.port)
            for node, known in zip(nodes, views, strict=True)
            for other in views
            if not _is_linked(known, other.own)
        ]
        if not strange:
            return views
        if clock() >= meet_at:
            meet_at = clock() + _MEET_SECONDS
            await asyncio.gather(*(_cluster(node, "MEET", HOST, port) for node, port in strange))
        await asyncio.sleep(_POLL_SECONDS)


def _is_linked(known: ClusterView, other: KnownNode) -> bool:
    node = known.nodes.get(other.id)
    return node is not None and node.port == other.port and node.is_connected


async def _give_slots(primaries: Sequence[redis.Redis], views: Sequence[ClusterView]) -> None:
    """Give each primary its range, unless a node has slots of it: then slots have been moved, or given before."""
    owned = [span for known in views for span in known.own.slots]
    for node, (first, last) in zip(primaries, slot_ranges(len(primaries)), strict=True):
        if not any(first <= end and start <= last for start, end in owned):
            await _cluster(node, "ADDSLOTSRANGE", first, last)


async def _replicate(node: redis.Redis, views: Sequence[ClusterView]) -> None:
    """Make a node without slots a replica of the primary that has the fewest replicas."""
    own = (await view(node)).own
    if not own.is_primary or own.slots:
        return
    replicas = Counter(known.own.primary for known in views)
    primaries = [known.own.id for known in views if known.own.is_primary and known.own.slots]
    await _cluster(node, "REPLICATE", min(primaries, key=replicas.__getitem__))


async def _until(nodes: Sequence[redis.Redis], condition: Callable[[Sequence[ClusterView]], bool]) -> None:
    while not condition(await _views(nodes)):  # noqa: ASYNC110  it comes true in other processes
        await asyncio.sleep(_POLL_SECONDS)


def _know_all_slots(views: Sequence[ClusterView]) -> bool:
    """Return whether each node knows an owner of each slot."""
    return all(
        sum(last - first + 1 for other in known.nodes.values() for first, last in other.slots) == SLOTS
        for known in views
    )


def _know_all_roles(views: Sequence[ClusterView]) -> bool:
    """Return whether each node knows the role that each other node has by its own account."""
    return all(known.nodes[other.own.id].primary == other.own.primary for known in views for other in views)


async def _until_ok(nodes: Sequence[redis.Redis]) -> None:
    """Wait until each node accepts commands. A primary does so 2 s after its start at the earliest."""
    for node in nodes:
        while not _is_ok(await _cluster(node, "INFO")):  # noqa: ASYNC110  the same
            await asyncio.sleep(_POLL_SECONDS)


def _is_ok(info: str) -> bool:
    return {"cluster_state:ok", f"cluster_slots_ok:{SLOTS}"} <= set(info.splitlines())
