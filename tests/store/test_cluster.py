"""A cluster for tests: it fails over, and moves slots in both ways, as the tests of Perch on a cluster need it."""

from functools import partial
from pathlib import Path

import pytest
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import AskError, TryAgainError

from tests.support.servers.cluster import PARTITION_SLOTS, Cluster, cluster, slot
from tests.support.servers.nodes import Node
from tests.support.servers.processes import SERVERS, VALKEY, until


def _client(of: Cluster) -> RedisCluster:
    return RedisCluster.from_url(f"redis://127.0.0.1:{of.nodes[0].port}", decode_responses=True)


@pytest.mark.parametrize("server", SERVERS)
async def test_partitions(tmp_path: Path, server: str) -> None:
    """Three primaries own 79, 86 and 91 partitions, and a command goes to the owner of its key."""
    async with cluster(tmp_path, server=server) as made, _client(made) as client:
        owned = [(await node.view()).own.slots for node in made.nodes]
        counts = [sum(first <= part <= last for part in PARTITION_SLOTS) for ((first, last),) in owned]
        assert counts == [79, 86, 91]
        for partition in range(256):
            await client.set(f"a:{{{partition}}}", partition)
        assert [await node.client.dbsize() for node in made.nodes] == counts


@pytest.mark.parametrize("server", SERVERS)
async def test_failover(tmp_path: Path, server: str) -> None:
    """A replica takes over a killed primary's slots with their keys, and the old one becomes its replica."""
    async with cluster(tmp_path, replicas=1, server=server) as made:
        dead = await made.owner(slot(0))
        (replica,) = await made.replicas_of(dead)
        await dead.run("SET", "a:{0}", "kept")
        await made.until_replicated()
        dead.kill()
        assert await made.until_failed_over(dead, slot(0)) is replica
        assert await replica.run("GET", "a:{0}") == "kept"
        await made.start_again(dead)
        assert await made.replicas_of(replica) == [dead]


async def test_frozen(tmp_path: Path) -> None:
    """A replica takes over from a primary that hangs. The primary answers again later, and becomes its replica."""
    async with cluster(tmp_path, replicas=1) as made:
        hanging = await made.owner(slot(0))
        with hanging.frozen():
            now = await made.until_failed_over(hanging, slot(0))
        await made.until_replicated()
        await until(partial(_is_replica, made, hanging, now))


async def _is_replica(made: Cluster, node: Node, primary: Node) -> bool:
    return node in await made.replicas_of(primary)


@pytest.mark.parametrize("server", SERVERS)
async def test_added_replicas(tmp_path: Path, server: str) -> None:
    """Replicas that are added later get the data of one primary each."""
    async with cluster(tmp_path, server=server) as made:
        await (await made.owner(slot(7))).run("SET", "a:{7}", "x")
        added = await made.add_replicas()
        assert [await made.replicas_of(node) for node in made.nodes[:3]] == [[node] for node in added]
        (replica,) = await made.replicas_of(await made.owner(slot(7)))
        async with replica.database(0) as run:
            await run("READONLY")
            assert await run("GET", "a:{7}") == "x"


async def _moves(made: Cluster, *, atomic: bool, databases: int) -> None:
    source, to, _ = made.nodes
    moving = [part for part in range(256) if await made.owner(slot(part)) is source][:20]
    for database in range(databases):
        async with source.database(database) as run:
            for part in moving:
                await run("SET", f"a:{{{part}}}", part)
    await made.move([slot(part) for part in moving], to, atomic=atomic)
    sizes = {f"db{database}": {"keys": 20, "expires": 0, "avg_ttl": 0} for database in range(databases)}
    found = await to.client.info("keyspace")
    assert {name: {field: found[name][field] for field in size} for name, size in sizes.items()} == sizes
    assert not await source.client.info("keyspace")
    assert {await made.owner(slot(part)) for part in moving} == {to}


async def test_atomic_migration(tmp_path: Path) -> None:
    """Slots move atomically with their keys in every database, and all nodes know their new owner."""
    async with cluster(tmp_path) as made:
        await _moves(made, atomic=True, databases=2)


@pytest.mark.parametrize("server", SERVERS)
async def test_older_migration(tmp_path: Path, server: str) -> None:
    """Slots move one after another the old way, with their keys in every database."""
    async with cluster(tmp_path, server=server) as made:
        await _moves(made, atomic=False, databases=2 if server == VALKEY else 1)  # Redis has one in a cluster


async def test_half_moved(tmp_path: Path) -> None:
    """In the middle of a move, a key is on one of two nodes, and commands that need keys of both get TRYAGAIN."""
    async with cluster(tmp_path) as made:
        _, source, to = made.nodes
        for letter in "abc":
            await source.run("SET", f"{letter}:{{2}}", letter)
        await made.begin_move(slot(2), to)
        assert await made.move_keys(slot(2), to, most=1) == 1
        with pytest.raises(TryAgainError):
            await source.run("MGET", "a:{2}", "b:{2}", "c:{2}")
        assert await made.move_keys(slot(2), to) == 2
        with pytest.raises(AskError):
            await source.run("GET", "a:{2}")
        await made.end_move(slot(2), to)
        assert await to.run("GET", "a:{2}") == "a"
