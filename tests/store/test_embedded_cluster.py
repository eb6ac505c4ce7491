"""The embedded cluster: its nodes are joined once, start again after every failure, and lose nothing."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import AuthenticationError

from store.embedded import cluster
from store.embedded.attach import attach
from store.embedded.cluster import ClusterAttachment, attach_cluster
from store.embedded.joining import ClusterView, view
from store.embedded.launch import BUS_OFFSET, EmbeddedStoreError, NodeOptions, StartOptions
from store.settings import Settings
from store.settings.declaring import SettingError
from store.settings.urls import addresses
from tests.support.servers.cluster import PARTITION_SLOTS
from tests.support.servers.holders import LOCKS, REPOSITORY, run_after, server_info, supervisor_of, until_free
from tests.support.slow import slow

pytestmark = slow

# A Perch process: attaches to a cluster, writes a key of some partitions, reports that, and runs until it is killed.
HOLDER = """
import asyncio, sys
from pathlib import Path
from redis.asyncio.cluster import RedisCluster
from store.embedded.cluster import attach_cluster
from store.settings.urls import addresses

async def hold():
    held = await attach_cluster(Path(sys.argv[1]), 6)
    async with RedisCluster.from_url(addresses(held.url)[0]) as client:
        for partition in range(0, 256, 8):
            await client.incr(f"a:{{{partition}}}")
    print(held.url, flush=True)
    await asyncio.Event().wait()

asyncio.run(hold())
"""
NODES = 6
SOME = range(0, 256, 8)  # partitions


@contextlib.asynccontextmanager
async def _attached(data_dir: Path, nodes: int = NODES) -> AsyncIterator[tuple[ClusterAttachment, RedisCluster]]:
    held = await attach_cluster(data_dir, nodes)
    try:
        async with RedisCluster.from_url(addresses(held.url)[0], decode_responses=True) as client:
            yield held, client
    finally:
        await held.close()


async def _views(held: ClusterAttachment) -> list[ClusterView]:
    found = []
    for node in held.nodes:
        async with Redis.from_url(node.url, decode_responses=True) as client:
            found.append(await view(client))
    return found


async def _write(client: RedisCluster) -> None:
    for partition in SOME:
        await client.incr(f"a:{{{partition}}}")


async def _counts(client: RedisCluster) -> set[Any]:
    return {await client.get(f"a:{{{partition}}}") for partition in SOME}


def _ports(held: ClusterAttachment) -> list[int]:
    return [int(url.rpartition(":")[2]) for url in addresses(held.url)]


@contextlib.contextmanager
def _taken(ports: Sequence[int]) -> Iterator[None]:
    """Listen on ports inside the context, as other programs might."""
    with contextlib.ExitStack() as stack:
        for port in ports:
            listener = stack.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen()
        yield


async def test_restarts(tmp_path: Path) -> None:
    """Three primaries with a replica each own a third of the slots, now and after each stop and start."""
    roles = []
    for expected in "123":
        async with _attached(tmp_path) as (held, client):
            await _write(client)
            assert await _counts(client) == {expected}
            views = await _views(held)
            owned = sorted(span for known in views for span in known.own.slots)
            assert [sum(first <= part <= last for part in PARTITION_SLOTS) for first, last in owned] == [79, 86, 91]
            roles.append([(known.own.id, known.own.primary, known.own.port) for known in views])
            assert len({primary for _, primary, _ in roles[0][3:]} - {"-"}) == 3
    assert roles[0] == roles[1] == roles[2]


async def test_three(tmp_path: Path) -> None:
    """Three nodes are three primaries, without replicas."""
    async with _attached(tmp_path, 3) as (held, client):
        await _write(client)
        assert [known.own.is_primary for known in await _views(held)] == [True] * 3


async def test_private(tmp_path: Path) -> None:
    """The nodes ask for a password, which only the owner can read, and which no process has in its arguments."""
    async with _attached(tmp_path / "data", 3) as (held, _):
        made = [tmp_path / "data", *(tmp_path / "data").rglob("*")]
        assert {path: path.stat().st_mode & 0o077 for path in made} == dict.fromkeys(made, 0)
        password = held.url.partition("@")[0].rpartition(":")[2]
        assert len(password) >= 32
        for node, port in zip(held.nodes, _ports(held), strict=True):
            async with Redis(port=port) as client:
                with pytest.raises(AuthenticationError):
                    await client.ping()
            async with Redis.from_url(node.url) as client:
                server, _ = await server_info(client)
            for process in (server, supervisor_of(node.place.data_dir)):
                assert password not in await asyncio.to_thread(Path(f"/proc/{process}/cmdline").read_text)


async def test_killed_primary(tmp_path: Path) -> None:
    """When a primary is killed, all its keys can be read and written again, there or on its replica."""
    async with _attached(tmp_path) as (held, client):
        await _write(client)
        node = held.nodes[0]
        async with Redis.from_url(node.url) as its_client:
            server, run = await server_info(its_client)
        os.kill(server, signal.SIGKILL)
        await run_after(node, run)
        again = await attach_cluster(tmp_path, NODES)  # returns once all is in service
        await _write(client)
        assert await _counts(client) == {"2"}
        assert len([known for known in await _views(again) if known.own.slots]) == 3
        await again.close()


async def test_killed_supervisors(tmp_path: Path) -> None:
    """Nodes whose supervisors were killed are replaced by supervised ones, with the same data."""
    async with _attached(tmp_path, 3) as (held, client):
        await _write(client)
        runs = []
        for node in held.nodes:
            async with Redis.from_url(node.url) as its_client:
                runs.append((await server_info(its_client))[1])
            os.kill(supervisor_of(node.place.data_dir), signal.SIGKILL)
        for node, run in zip(held.nodes, runs, strict=True):
            await run_after(node, run)
        again = await attach_cluster(tmp_path, 3)
        assert await _counts(client) == {"1"}
        await again.close()


async def test_killed_processes(tmp_path: Path) -> None:
    """Processes that start simultaneously share one cluster, which stops when both are killed, and loses nothing."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDER, tmp_path, stdout=PIPE, env=environment)
        for _ in range(2)
    ]
    urls = set()
    for process in processes:
        assert process.stdout
        urls.add(await process.stdout.readline())
    assert len(urls) == 1
    for process in processes:
        process.kill()
        await process.communicate()
    for number in range(NODES):
        await until_free(tmp_path / "nodes" / str(number), *LOCKS)
    async with _attached(tmp_path) as (_, client):
        assert await _counts(client) == {"2"}


@pytest.mark.parametrize("taken", [1, NODES])
async def test_other_ports(tmp_path: Path, taken: int) -> None:
    """Nodes whose ports or bus ports have been taken start on other ports, and find each other again."""
    async with _attached(tmp_path) as (held, client):
        await _write(client)
        before = _ports(held)
    with _taken([port + (BUS_OFFSET if number % 2 else 0) for number, port in enumerate(before[:taken])]):
        async with _attached(tmp_path) as (held, client):
            after = _ports(held)
            assert [port in before for port in after] == [False] * taken + [True] * (NODES - taken)
            assert await _counts(client) == {"1"}
            assert [{other.port for other in known.nodes.values()} for known in await _views(held)] == [
                set(after)
            ] * NODES


async def test_interrupted_start(tmp_path: Path) -> None:
    """Nodes that were made but only half joined, because their process was killed, are joined by the next one."""
    folder = cluster._prepared(tmp_path, 3)  # noqa: SLF001  what the killed process had done
    for number in range(2):
        node = await attach(
            folder / str(number), StartOptions(node=NodeOptions(number, 2000)), passwords=folder / "passwords"
        )
        async with Redis.from_url(node.url) as client:
            await client.cluster("ADDSLOTSRANGE", number * 5461, number * 5461 + 5460)
        await node.close()
    async with _attached(tmp_path, 3) as (_, client):
        await _write(client)


async def test_number_of_nodes(tmp_path: Path) -> None:
    """A store keeps the number of nodes that it was made with. Another number is refused, and nothing is changed."""
    await (await attach(tmp_path / "one")).close()
    cluster._prepared(tmp_path / "six", 6)  # noqa: SLF001  without starting them
    assert [cluster.size(tmp_path / name, wanted) for name in ("none", "one", "six") for wanted in (1,)] == [1, 1, 6]
    assert [cluster.size(tmp_path / "none", 3), cluster.size(tmp_path / "six", 6)] == [3, 6]
    for name, wanted, message in (("one", 6, "is 6, but .* with 1"), ("six", 3, "is 3, but .* with 6")):
        with pytest.raises(EmbeddedStoreError, match=message):
            cluster.size(tmp_path / name, wanted)


def test_numbers_of_nodes() -> None:
    """A cluster has three to five primaries, or as many replicas as primaries; every other number is refused."""
    allowed = []
    for nodes in range(1, 33):
        with contextlib.suppress(SettingError):
            Settings.from_environment({"STORE_NODES": str(nodes)})
            allowed.append((nodes, cluster.primaries_of(nodes)))
    assert allowed[:6] == [(1, 1), (3, 3), (4, 4), (5, 5), (6, 3), (8, 4)]
    assert [nodes for nodes, _ in allowed[6:]] == list(range(10, 33, 2))
