"""A cluster of servers without supervisors: a killed one stays dead until the test starts it again."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from redis.crc import key_slot

from store.embedded.joining import ClusterView, join
from store.embedded.launch import HOST
from store.ids import PARTITIONS
from tests.support.people import SECRET
from tests.support.servers.nodes import Node
from tests.support.servers.processes import VALKEY, until

NODE_TIMEOUT_MS = 1000  # a failover takes one to three times as long
STEADY_MS = 15_000  # the same, for clusters whose nodes are never killed: a busy machine may hold one up for seconds
MOVED_AT_ONCE = 100  # keys in one MIGRATE
MIGRATE_MS = 5000  # time limit of one MIGRATE


def slot(partition: int) -> int:
    """Return the slot of a partition's keys."""
    return int(key_slot(f"{{{partition}}}".encode()))


PARTITION_SLOTS = [slot(partition) for partition in range(PARTITIONS)]  # no other slot has keys


class Cluster:
    """Some nodes that are joined. The first ones are the primaries at the beginning."""

    def __init__(self, folder: Path, server: str = VALKEY, **options: Any) -> None:
        self._folder = folder
        self._server = server
        self._password = str(options.get("requirepass", ""))
        self._options = OPTIONS | (VALKEY_OPTIONS if server == VALKEY else {}) | options
        self._primaries = 0
        self.nodes: list[Node] = []

    @property
    def url(self) -> str:
        """The addresses of all nodes, as REDIS_URL has them."""
        user = f":{self._password}@" if self._password else ""
        return f"redis://{user}{','.join(f'{HOST}:{node.port}' for node in self.nodes)}"

    @property
    def settings(self) -> dict[str, str]:
        """The settings with which Perch uses the cluster."""
        return {"redis_url": self.url, "secret_key": SECRET}

    @property
    def running(self) -> list[Node]:
        """The nodes that run."""
        return [node for node in self.nodes if node.is_running]

    async def start(self, primaries: int = 3, replicas: int = 0) -> None:
        """Start some primaries, and some replicas of each; returns once all of them are in service."""
        self._primaries = primaries
        await self._add(primaries * (1 + replicas))

    async def add_replicas(self) -> list[Node]:
        """Start one more replica of each primary; returns them once they have all data."""
        before = len(self.nodes)
        await self._add(self._primaries)
        return self.nodes[before:]

    async def _add(self, count: int) -> None:
        numbers = range(len(self.nodes), len(self.nodes) + count)
        self.nodes += [Node(self._folder / str(number), number, self._server, self._options) for number in numbers]
        await asyncio.gather(*(node.start() for node in self.nodes if not node.is_running))
        await join([node.client for node in self.nodes], self._primaries)
        for node in self.nodes:
            node.id = (await node.view()).own.id
        await self.until_replicated()

    async def stop(self) -> None:
        """Kill all nodes and close the connections to them."""
        for node in self.nodes:
            node.kill()
        await self.disconnect()

    async def disconnect(self) -> None:
        """Close the connections to all nodes."""
        await asyncio.gather(*(node.client.aclose() for node in self.nodes))

    # ---------------------------------------------------------------- who is what

    async def owner(self, slot: int) -> Node:
        """Return the running primary that owns a slot by its own account; there must be exactly one."""
        (found,) = await self._owners(slot)
        return found

    async def _owners(self, slot: int) -> list[Node]:
        views = await asyncio.gather(*(node.view() for node in self.running))
        return [node for node, known in zip(self.running, views, strict=True) if _owns(known, slot)]

    async def primaries(self) -> list[Node]:
        """Return the running nodes that own slots by their own account."""
        views = await asyncio.gather(*(node.view() for node in self.running))
        return [node for node, known in zip(self.running, views, strict=True) if known.own.slots]

    async def replicas_of(self, primary: Node) -> list[Node]:
        """Return the running replicas of a primary."""
        views = await asyncio.gather(*(node.view() for node in self.running))
        return [node for node, known in zip(self.running, views, strict=True) if known.own.primary == primary.id]

    # ---------------------------------------------------------------- failures

    async def until_failed_over(self, dead: Node, slot: int) -> Node:
        """Wait until another node owns a slot of a dead one, and all running nodes know; returns the new owner."""
        owners: list[Node] = []

        async def is_taken_over() -> bool:
            owners[:] = [node for node in await self._owners(slot) if node is not dead]
            return len(owners) == 1 and await self._all_know(slot, owners[0]) and await _is_ok(owners[0])

        await until(is_taken_over)
        return owners[0]

    async def start_again(self, node: Node) -> None:
        """Start a node that was killed; returns once it is in service, in either role, and all replicas are in step."""
        await node.start()
        await until(self._are_ok)
        await self.until_replicated()

    async def _are_ok(self) -> bool:
        return all(await asyncio.gather(*map(_is_ok, self.running)))

    async def until_replicated(self) -> None:
        """Wait until each running replica has what its primary has written so far."""
        for node in self.running:
            await until(partial(self._is_in_step, node))

    async def _is_in_step(self, node: Node) -> bool:
        own = await node.client.info("replication")
        if own["role"] == "master":
            return True
        if own["master_link_status"] != "up":
            return False
        (primary,) = (other for other in self.nodes if other.port == own["master_port"])
        written = (await primary.client.info("replication"))["master_repl_offset"]
        return int((await node.client.info("replication"))["slave_repl_offset"]) >= int(written)

    # ---------------------------------------------------------------- moving slots

    async def move(self, slots: Collection[int], to: Node, *, atomic: bool) -> None:
        """Move slots to a primary; with `atomic` by CLUSTER MIGRATESLOTS, which Valkey 9 has, else slot by slot.

        Slots that are there already stay. So it can be called again if a migration failed.
        """
        if atomic:
            await self._migrate(slots, to)
            return
        for number in slots:
            if await self.owner(number) is not to:
                await self.begin_move(number, to)
                await self.move_keys(number, to)
                await self.end_move(number, to)

    async def _migrate(self, slots: Collection[int], to: Node) -> None:
        for source in await self.primaries():
            own = (await source.view()).own
            ranges = _ranges([number for number in slots if _has(own.slots, number)])
            if source is to or not ranges:
                continue
            bounds = itertools.chain.from_iterable(ranges)
            await source.cluster("MIGRATESLOTS", "SLOTSRANGE", *bounds, "NODE", to.id)
            await until(partial(self._is_migrated, source, to, [first for first, _ in ranges]))

    async def _is_migrated(self, source: Node, to: Node, slots: Sequence[int]) -> bool:
        newest, *_ = await source.cluster("GETSLOTMIGRATIONS")
        assert newest["state"] not in {"failed", "cancelled"}, newest["message"]
        return all([await self._all_know(slot, to) for slot in slots])

    async def begin_move(self, slot: int, to: Node) -> None:
        """Begin to move one slot the old way. From now on, its keys may be on either node."""
        source = await self.owner(slot)
        await to.cluster("SETSLOT", slot, "IMPORTING", source.id)
        await source.cluster("SETSLOT", slot, "MIGRATING", to.id)

    async def move_keys(self, slot: int, to: Node, most: int | None = None) -> int:
        """Move the keys of a slot whose move has begun, in each database; returns their number, at most `most`."""
        source, moved = await self.owner(slot), 0
        login = ("AUTH", self._password) if self._password else ()
        for database in await _databases(source):
            async with source.database(database) as run:
                while found := await run("CLUSTER", "GETKEYSINSLOT", slot, MOVED_AT_ONCE):
                    found = found[: None if most is None else most - moved]
                    if not found:
                        return moved
                    await run("MIGRATE", HOST, to.port, "", database, MIGRATE_MS, *login, "KEYS", *found)
                    moved += len(found)
        return moved

    async def end_move(self, slot: int, to: Node) -> None:
        """End the move of a slot whose keys have all been moved; returns once all nodes know the new owner."""
        source = await self.owner(slot)
        await to.cluster("SETSLOT", slot, "NODE", to.id)  # first, or a failure in between would leave no owner
        await source.cluster("SETSLOT", slot, "NODE", to.id)
        await until(partial(self._all_know, slot, to))

    async def _all_know(self, slot: int, owner: Node) -> bool:
        views = await asyncio.gather(*(node.view() for node in self.running))
        return all(_has(known.nodes[owner.id].slots, slot) for known in views if owner.id in known.nodes)


OPTIONS = {
    "bind": HOST,
    "cluster-enabled": "yes",
    "cluster-node-timeout": NODE_TIMEOUT_MS,
    "cluster-require-full-coverage": "no",
    "cluster-allow-replica-migration": "no",
    "repl-diskless-sync-delay": 0,
    "dir": ".",
    "appendonly": "yes",
    "save": "",
    "enable-debug-command": "yes",
}
VALKEY_OPTIONS = {"cluster-databases": 16}


def _owns(known: ClusterView, slot: int) -> bool:
    return known.own.is_primary and _has(known.own.slots, slot)


def _has(ranges: Sequence[tuple[int, int]], slot: int) -> bool:
    return any(first <= slot <= last for first, last in ranges)


def _ranges(slots: Collection[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for number in sorted(slots):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    return ranges


async def _is_ok(node: Node) -> bool:
    return "cluster_state:ok" in await node.cluster("INFO")


async def _databases(node: Node) -> list[int]:
    return [int(name.removeprefix("db")) for name in await node.client.info("keyspace")]


@contextlib.asynccontextmanager
async def cluster(
    folder: Path, *, primaries: int = 3, replicas: int = 0, server: str = VALKEY, **options: Any
) -> AsyncIterator[Cluster]:
    """A running cluster; options have the names of the server's settings, with _ for -."""
    made = Cluster(folder, server, **{name.replace("_", "-"): value for name, value in options.items()})
    try:
        await made.start(primaries, replicas)
        yield made
    finally:
        await made.stop()


@contextlib.contextmanager
def lasting_cluster(folder: Path, server: str) -> Iterator[str]:
    """The URL of a cluster of three primaries that outlives the event loops of tests."""
    assert server, "redis-server is not installed"
    made = Cluster(folder, server, **{"cluster-node-timeout": STEADY_MS})

    async def start() -> None:
        await made.start()
        await made.disconnect()

    try:
        asyncio.run(start())
        yield made.url
    finally:
        for node in made.nodes:
            node.kill()
