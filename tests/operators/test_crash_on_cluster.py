"""kill -9 under load on the embedded cluster: every follower has every answered post, and nobody has one twice."""

import asyncio
import os
import signal
from pathlib import Path

from redis.asyncio import Redis

from store.embedded.cluster import attach_cluster
from store.embedded.joining import view
from tests.operators.test_crash import CLIENTS, FRIENDS, HOME, LIMITS, POSTS
from tests.support.people import Member
from tests.support.servers.holders import LOCKS, server_info, until_free
from tests.support.servers.load import Load, friends, moved
from tests.support.servers.processes import perch, until, visiting
from tests.support.slow import slow

pytestmark = slow

NODES = 6


async def test_primary_killed(tmp_path: Path) -> None:
    """A primary dies in the middle of many posts, then Perch. The next start has the cluster and all answered posts."""
    async with (
        perch(tmp_path, "serve", store_nodes=NODES, **LIMITS) as running,
        visiting(await running.url()) as anonymous,
    ):
        members = await friends(anonymous, FRIENDS)
        load = Load(members, POSTS)
        posting = asyncio.create_task(load.post(CLIENTS))
        await until(lambda: _has(load, POSTS // 2))
        os.kill(await _primary(tmp_path), signal.SIGKILL)
        await posting
        running.process.kill()
    for number in range(NODES):
        await until_free(tmp_path / "nodes" / str(number), *LOCKS)
    async with perch(tmp_path, "serve", **LIMITS) as running, visiting(await running.url()) as anonymous:
        wanted = load.newest_first()
        assert len(wanted) == len(set(wanted)) == POSTS
        moved(members, anonymous)
        await until(lambda: _have(members, wanted))  # the worker delivers what the killed process had begun
        assert await running.stop() == 0
    for number in range(NODES):
        await until_free(tmp_path / "nodes" / str(number), *LOCKS)


async def _has(load: Load, enough: int) -> bool:
    return len(load.answered) >= enough


async def _have(members: list[Member], posts: list[str]) -> bool:
    return all([await member.home(HOME) == posts for member in members])


async def _primary(data_dir: Path) -> int:
    """Return the process id of a node that is a primary."""
    held = await attach_cluster(data_dir, NODES)
    try:
        for node in held.nodes:
            async with Redis.from_url(node.url, decode_responses=True) as client:
                if (await view(client)).own.is_primary:
                    return (await server_info(client))[0]
        raise AssertionError("no node is a primary")
    finally:
        await held.close()
