"""Jobs on a cluster while a node is away: those that need it wait, and all others are done."""

import asyncio
from collections.abc import AsyncIterator, Collection
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis.crc import key_slot

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import jobs, keys, posts
from store.client.database import Unavailable
from store.client.tasks import stop
from store.ids import PARTITIONS, partition
from store.posts import PostDraft
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import SECRET, Member, sign_up
from tests.support.servers.cluster import Cluster, cluster, slot
from tests.support.servers.nodes import Node
from tests.support.servers.processes import SMALL, until
from tests.support.work import number

ATTEMPTS = 2  # failures after which a job is dead


@pytest.fixture
async def nodes(tmp_path: Path) -> AsyncIterator[Cluster]:
    """Three primaries without replicas."""
    async with cluster(tmp_path / "nodes") as made:
        yield made


@pytest.fixture
def settings(nodes: Cluster, tmp_path: Path) -> Settings:
    """The worker delivers to all followers but the first."""
    limits: dict[str, Any] = {"fanout_inline": 1, "job_attempts": ATTEMPTS, **SMALL}
    return Settings(redis_url=nodes.url, secret_key=SECRET, data_dir=tmp_path, **limits)


class Counting(Worker):
    """Counts how often it has failed because a node is away."""

    failures = 0

    async def begin(self, partitions: Collection[int] = range(PARTITIONS)) -> int:
        try:
            return await super().begin(partitions)
        except Unavailable:
            self.failures += 1
            raise


@pytest.fixture
async def running(services: Services) -> AsyncIterator[Counting]:
    """A worker that runs as in a server."""
    worker = Counting(services.db)
    task = asyncio.create_task(worker.run(services.pubsub))
    yield worker
    await stop(task)


async def _members(anonymous: Member, nodes: Cluster) -> dict[Node, list[Member]]:
    """Sign up until each node has two members; return them by node."""
    found: dict[Node, list[Member]] = {node: [] for node in nodes.nodes}
    signed_up = 0
    while min(map(len, found.values())) < 2:
        member = await sign_up(anonymous, f"m{signed_up}")
        signed_up += 1
        found[await nodes.owner(slot(partition(number(member.id))))].append(member)
    return found


async def test_node_away(services: Services, anonymous: Member, nodes: Cluster, running: Counting) -> None:
    """While a node is away, deliveries to others are finished; those to it are not given up, and follow later."""
    members = await _members(anonymous, nodes)
    shared = [await nodes.owner(key_slot(tag.encode())) for tag in ("public", "events", "big")]
    away = next(node for node in nodes.nodes if node not in shared)
    (first, one), (second, two) = (members[node][:2] for node in nodes.nodes if node is not away)
    lost = members[away][0]
    for fan in (one, two, lost):
        await fan.follow(first)
    for fan in (one, two):
        await fan.follow(second)
    away.kill()
    to_all = await first.post("one follower cannot be reached")
    await until(lambda: _holds(running.failures > 3 * ATTEMPTS))
    to_others = await second.post("all followers can be reached")
    for fan in (one, two):
        await until(partial(_has, fan, to_others))
    await nodes.start_again(away)
    await until(services.db.ready)
    for fan in (one, two, lost):
        await until(partial(_has, fan, to_all))
    await until(lambda: _is_done(services))


async def test_handing_over(services: Services, anonymous: Member, nodes: Cluster) -> None:
    """A job is handed over without a failed attempt, although other jobs may be leased on a node that is away."""
    members = await _members(anonymous, nodes)
    here, away = nodes.nodes[0], nodes.nodes[1]
    author = number(members[here][0].id)
    _, post, job = accepted(await posts.create(services.db, PostDraft(author, "hello")))
    assert job
    of_away = partition(number(members[away][0].id))
    away.kill()
    services.db.unfinished.add(job)
    services.db.unfinished.add_lost([("XAUTOCLAIM", keys.jobs(of_away))])
    with pytest.raises(Unavailable):
        await jobs.hand_over_unfinished(services.db)
    assert services.db.unfinished.take() == ([], {of_away})
    jobs_of = keys.jobs(partition(post))
    ((_, _, idle, attempts),) = await services.db.one("XPENDING", jobs_of, "workers", "-", "+", 1)
    assert (idle > services.settings.job_lease_seconds * 1000, attempts) == (True, 0)
    await nodes.start_again(away)


async def _holds(fact: bool) -> bool:
    return fact


async def _has(member: Member, post: str) -> bool:
    return post in await member.home()


async def _is_done(services: Services) -> bool:
    return await jobs.backlog(services.db) == (0, 0)
