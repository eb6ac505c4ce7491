"""Sharded Pub/Sub on a cluster of three primaries: no message is lost unless its listener is called again."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio.connection import AbstractConnection
from redis.crc import key_slot

from store import keys
from store.client.database import Database
from store.client.pubsub import PubSub
from tests.support.servers.cluster import Cluster
from tests.support.servers.cluster import cluster as running
from tests.support.servers.nodes import Node
from tests.support.servers.processes import connected, own_store
from tests.support.stored import subscribers
from tests.support.transport.live import until

ROUNDS = 6
MOVING = "home:{7}"


class Reader:
    """Listeners that hold a number for each channel, as subscriptions hold what the store says."""

    def __init__(self, pubsub: PubSub) -> None:
        self._pubsub = pubsub
        self.stored: dict[str, int] = defaultdict(int)
        self.held: dict[str, int] = {}
        self.calls: dict[str, int] = defaultdict(int)  # with ""

    def listen(self, channel: str) -> None:
        """Hold the number of a channel."""
        self._pubsub.listen(channel, partial(self._take, channel))

    def _take(self, channel: str, text: str) -> None:
        self.calls[channel] += not text
        self.held[channel] = int(text) if text else self.stored[channel]

    def was_called(self, channels: set[str], times: int) -> bool:
        """Return whether the listeners of some channels have been called that often with ""."""
        return all(self.calls[channel] == times for channel in channels)

    def is_right(self) -> bool:
        """Return whether every channel's number is the stored one."""
        return all(self.held.get(channel) == self.stored[channel] for channel in self.stored)


def slot(channel: str) -> int:
    """Return the slot of a channel."""
    return int(key_slot(channel.encode()))


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """Three primaries."""
    async with running(tmp_path / "cluster") as made:
        yield made


@pytest.fixture
async def store(cluster: Cluster) -> AsyncIterator[Database]:
    """The database on the cluster."""
    async with connected(cluster.url) as made:
        await made.find_out()
        yield made


@pytest.fixture
async def pubsub(store: Database) -> AsyncIterator[PubSub]:
    """Pub/Sub of one process on the cluster."""
    made = PubSub(store.servers, "", store.outages)
    made.start()
    yield made
    await made.close()


@pytest.fixture
async def reader(pubsub: PubSub) -> Reader:
    """A listener to thirty channels in different slots, subscribed."""
    made = Reader(pubsub)
    for p in range(30):
        made.listen(f"home:{{{p}}}")
        made.stored[f"home:{{{p}}}"] = 0
    await until(made.is_right)
    return made


async def publish(store: Database, reader: Reader, channel: str) -> None:
    """Store the next number of a channel, and publish it."""
    reader.stored[channel] += 1
    await store.one("SPUBLISH", channel, f"{reader.stored[channel]}")


def other_than(cluster: Cluster, owner: Node) -> Node:
    """Return another node."""
    return next(node for node in cluster.nodes if node is not owner)


async def test_every_node(cluster: Cluster, store: Database, reader: Reader) -> None:
    """Messages of all nodes arrive in order, over one connection to each node."""
    for _ in range(1, ROUNDS):
        for channel in reader.stored:
            await publish(store, reader, channel)
    await until(reader.is_right)
    assert set(reader.calls.values()) == {1}
    for node in cluster.nodes:
        assert len(await node.client.client_list("pubsub")) == 1


@pytest.mark.parametrize("atomic", [False, True])
async def test_slots_that_move(
    cluster: Cluster, store: Database, pubsub: PubSub, reader: Reader, *, atomic: bool
) -> None:
    """While a slot moves to and fro, its listeners learn each change. Listeners to other slots are not called again."""
    for i in range(1, ROUNDS):
        to = other_than(cluster, await cluster.owner(slot(MOVING)))
        moved = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(write(store, reader, moved))
            await cluster.move([slot(MOVING)], to, atomic=atomic)
            moved.set()
        await until(reader.is_right)
        await until(partial(reader.was_called, {MOVING}, i + 1))
    assert {calls for channel, calls in reader.calls.items() if channel != MOVING} == {1}
    assert pubsub.connected.is_set()


async def write(store: Database, reader: Reader, moved: asyncio.Event) -> None:
    """Store and publish rising numbers until the slot has moved. Each is published once, by the owner."""
    while not moved.is_set():
        await publish(store, reader, MOVING)


async def test_a_node_that_disconnects(cluster: Cluster, store: Database, reader: Reader) -> None:
    """When one node disconnects, the listeners to its channels learn each change, and no others are called again."""
    owner = await cluster.owner(slot(MOVING))
    own = {name for name in reader.stored if store.servers.node_of(name) == store.servers.node_of(MOVING)}
    assert own != set(reader.stored)
    for i in range(2, ROUNDS):
        for kind in ("before", "after"):
            if kind == "after":
                assert await owner.run("CLIENT", "KILL", "TYPE", "pubsub") == 1
            await publish(store, reader, MOVING)
        await until(reader.is_right)
        await until(partial(reader.was_called, own, i))
    assert {calls for name, calls in reader.calls.items() if name not in own} == {1}


async def test_leaving(cluster: Cluster, pubsub: PubSub, reader: Reader) -> None:
    """A channel without listeners is unsubscribed at its node, and at the new owner after its slot has moved."""
    kept: dict[str, Callable[[str], None]] = {"one:{7}": print, "two:{7}": print}
    for channel, listener in kept.items():
        pubsub.listen(channel, listener)
    pubsub.ignore("one:{7}", print)
    to = other_than(cluster, await cluster.owner(slot(MOVING)))
    await cluster.move([slot(MOVING)], to, atomic=False)
    pubsub.ignore("two:{7}", print)
    await until(lambda: reader.calls[MOVING] == 2)
    for node in cluster.nodes:
        while {"one:{7}", "two:{7}"} & set(await node.run("PUBSUB", "SHARDCHANNELS")):
            pass


class Renamed:
    """One server under several names, of which the present one owns everything."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.name = "first"

    def node_of(self, _: str) -> str:
        """Return the present name."""
        return self.name

    def make_connection(self, _: str) -> AbstractConnection:
        """Return a connection to the server."""
        return self._db.servers.make_connection("")

    async def read_topology(self) -> None:
        """Learn nothing."""


async def test_a_node_that_is_replaced(db: Database) -> None:
    """When the topology has changed, channels are subscribed at the new owner, even if the old one says nothing."""
    nodes = Renamed(db)
    pubsub = PubSub(nodes, db.channel_prefix, db.outages)
    pubsub.start()
    reader = Reader(pubsub)
    reader.listen("home:{7}")
    reader.stored["home:{7}"] = 1
    await until(reader.is_right)
    nodes.name, reader.stored["home:{7}"] = "second", 2
    pubsub.rearrange()
    await until(reader.is_right)
    channel = db.channel("home:{7}")
    while await subscribers(db, channel) != 1:
        pass
    await pubsub.close()


async def test_a_server_that_refuses(tmp_path: Path) -> None:
    """A refused channel is subscribed as soon as it is permitted, and other channels are subscribed at once."""
    async with own_store(tmp_path) as server, connected(server.settings["redis_url"]) as db:
        await db.one("ACL", "SETUSER", "default", "resetchannels", f"&{db.channel('open')}")
        pubsub = PubSub(db.servers, db.channel_prefix, db.outages)
        pubsub.start()
        reader = Reader(pubsub)
        for channel in ("closed", "open"):
            reader.listen(channel)
        await until(lambda: "open" in reader.held)
        await until(lambda: db.outages.is_counting)
        assert "closed" not in reader.held
        await db.one("ACL", "SETUSER", "default", "allchannels")
        await until(lambda: "closed" in reader.held)
        await pubsub.close()


def test_slots_of_channels() -> None:
    """Each channel lies in the slot of the keys that its publishing scripts have, whatever the database's number."""
    someone = 1 << 40 | 209 << 4
    for channel, key in (
        (keys.activity(someone), keys.status(someone)),
        (keys.notifications_channel(someone), keys.notifications(someone)),
        (keys.events_channel(), keys.events()),
    ):
        assert key_slot(f"perch:15:{channel}".encode()) == key_slot(key.encode())
