"""How the servers of the store are: whether they answer, accept writes, have memory left, and agree on the time."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from store.client.nodes.all import Nodes
from store.client.nodes.one import StoreNode, read_info
from store.client.outages import LOST, Redirected, Unavailable, lost
from store.ids import PARTITIONS
from store.keys import absent

READY_SECONDS = 0.8  # A server that takes longer counts as silent. Readiness has to be answered within a second.
UNOWNED = "CLUSTERDOWN"  # The state of partitions that no node owns.


@dataclass(frozen=True, slots=True)
class Health:
    """One server of the store, or the partitions that none of them owns."""

    server: str  # its URL without a password, "" for partitions without an owner
    state: str  # that keeps it from answering or from accepting writes, "" if it does both
    reads: bool  # whether it answers
    seconds: float = 0.0  # until it answered
    memory: int | None = None  # used, bytes
    memory_limit: int | None = None  # what it may use: its maxmemory, or else what its machine has, bytes
    clock: float | None = None  # by how much its clock is ahead of this machine's, s


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether any server answers reads, whether any accepts writes, and the states that keep servers from it."""

    reads: bool
    writes: bool
    states: list[str]


async def look(servers: Nodes, seconds: float = READY_SECONDS) -> list[Health]:
    """Return the health of every server within some seconds. Raises nothing."""
    if not servers.is_known:
        try:
            async with asyncio.timeout(seconds):
                await servers.find_out()
        except Unavailable as error:
            return [Health(servers.all[0].name, error.state, reads=False)]
        except LOST as error:  # TimeoutError is one of them
            return [Health(servers.all[0].name, lost(error, "").state, reads=False)]
    owned: dict[StoreNode | None, int] = {servers.owner(str(p)): p for p in range(PARTITIONS)}
    looks = list(await asyncio.gather(*(_look(node, owned.get(node), seconds) for node in servers.all)))
    return [*looks, Health("", UNOWNED, reads=False)] if None in owned else looks


async def _look(node: StoreNode, partition: int | None, seconds: float) -> Health:
    """Return the health of one node. SET with XX passes all checks of a write, and the key never exists."""
    key = None if partition is None else absent(partition)
    reads: list[Any] = [("INFO", "memory"), ("TIME",), *([("GET", key)] if key else [])]
    began, clock = time.perf_counter(), time.time()
    answered, written = await asyncio.gather(
        _ask(node, reads, seconds), _ask(node, [("SET", key, "", "XX")] if key else [], seconds)
    )
    took = time.perf_counter() - began
    state = next((state for reply in (*answered[2:], *written) if (state := _state(reply))), "")
    memory, limit = _memory(answered[0])
    ahead = _seconds(answered[1])
    return Health(
        node.name,
        state,
        reads=not _state(answered[-1]),
        seconds=took,
        memory=memory,
        memory_limit=limit,
        clock=None if ahead is None else ahead - clock - took / 2,
    )


async def _ask(node: StoreNode, commands: Sequence[Any], seconds: float) -> list[Any]:
    """Return the replies to some commands, or for each the error that kept the node from answering."""
    try:
        async with asyncio.timeout(seconds):
            return await node.run(commands) if commands else []
    except LOST as error:  # TimeoutError is one of them
        return [lost(error, node.name)] * len(commands)


def _state(reply: Any) -> str:
    if type(reply) is Redirected:  # the slot is moving: the node has answered
        return ""
    if isinstance(reply, Unavailable):
        return reply.state
    return type(reply).__name__ if isinstance(reply, RedisError) else ""


def _memory(text: Any) -> tuple[int | None, int | None]:
    facts = read_info(text) if isinstance(text, str) else {}
    if "used_memory" not in facts:
        return None, None
    limit = int(facts.get("maxmemory", 0)) or int(facts.get("total_system_memory", 0))
    return int(facts["used_memory"]), limit or None


def _seconds(reply: Any) -> float | None:
    if not isinstance(reply, list):
        return None
    seconds, micros = map(int, reply)
    return seconds + micros / 1_000_000


def readiness(found: Sequence[Health]) -> Readiness:
    """Return what the servers can do together. Of a cluster, one that does it is enough: the others have states."""
    return Readiness(
        reads=any(one.reads for one in found),
        writes=any(one.reads and not one.state for one in found),
        states=sorted({one.state for one in found if one.state}),
    )


def silence(cache: float, nodes: Sequence[StoreNode]) -> float:
    """Return for how long every node has left a command of this process unanswered, s; no round trip."""
    return max(cache, min((node.silence for node in nodes), default=0.0))
