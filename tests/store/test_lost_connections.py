"""Connections lost in the middle of a mutation: its job is finished as soon as there is another connection."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.upkeep import verify
from store.client.database import Database
from store.client.lua import GUARDED
from store.client.lua import SCRIPTS as LOADED
from store.client.pubsub import PubSub
from store.client.tasks import stop
from store.settings import Settings
from tests.support.people import USER_ERRORS, Member, mutation_text, shrunk
from tests.support.servers.cutting import Proxy
from tests.support.servers.processes import until
from tests.support.work import waiting

LEASE = 600  # s: no test waits for it
SCRIPTS = 6  # at least as many as a mutation's steps here


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The settings, with a lease longer than any test."""
    return shrunk(settings, job_lease_seconds=LEASE)


@pytest.fixture
async def proxy(db: Database, tmp_path: Path) -> AsyncIterator[Proxy]:
    """A proxy before all nodes. The services are made after it, so their connections lead through it."""
    async with Proxy([node.url for node in db.nodes], tmp_path).serving() as made:
        yield made


@pytest.fixture
def services(proxy: Proxy, services: Services) -> Services:
    return services


def digest(db: Database, name: str) -> str:
    """Return the digest by which the store knows a script."""
    one_server = LOADED[name].digest
    return GUARDED[one_server] if db.is_cluster else one_server


async def finished(db: Database, worker: Worker) -> bool:
    """Have the worker do all available work; return whether nothing is left."""
    await worker.run_once()
    return not await waiting(db)


async def findings(db: Database) -> list[str]:
    """Return the findings of verify."""
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    return [str(finding) for finding in report.findings]


async def test_the_second_step_of_a_block(db: Database, proxy: Proxy, alice: Member, bob: Member) -> None:
    """The connection is lost between commit and second step: the request goes on with the next one."""
    await bob.follow(alice)
    await alice.post("hello")
    proxy.cut(digest(db, "apply_block"))
    assert (await alice.do("block", userIds=[bob.id]))["userErrors"] == []
    assert proxy.has_cut
    assert await waiting(db) == []
    assert await bob.home() == []


async def test_a_commit_without_an_answer(
    db: Database, proxy: Proxy, worker: Worker, alice: Member, bob: Member
) -> None:
    """The reply to the commit is lost: the mutation says that it may have failed, and its job is finished."""
    await bob.follow(alice)
    await alice.post("hello")
    proxy.cut(digest(db, "block"), after=True)
    block = "mutation($ids: [ID!]!) { block(input: {userIds: $ids}) { userErrors { code } } }"
    assert await alice.fail(block, ids=[bob.id]) == "SERVICE_UNAVAILABLE"
    assert proxy.has_cut
    await until(lambda: finished(db, worker))
    assert await bob.home() == []


@pytest.fixture
async def delivery(services: Services, alice: Member, bob: Member, carol: Member) -> str:
    """A post whose delivery is left to the worker."""
    for follower in (bob, carol):
        await follower.follow(alice)
    services.db.settings = shrunk(services.db.settings, fanout_inline=1)
    return await alice.post("hello")


async def test_what_the_worker_was_at(
    db: Database, proxy: Proxy, worker: Worker, delivery: str, bob: Member, carol: Member
) -> None:
    """The worker loses its connection in the middle of a delivery: it goes on with the next one."""
    proxy.cut(digest(db, "deliver_to" if db.is_cluster else "deliver"))
    await worker.run_once()
    assert proxy.has_cut
    assert await waiting(db) == []
    assert [await follower.home() for follower in (bob, carol)] == [[delivery]] * 2


@pytest.mark.parametrize("command", ["XAUTOCLAIM", "XPENDING"])
async def test_what_the_worker_took_over(
    db: Database, proxy: Proxy, worker: Worker, delivery: str, bob: Member, carol: Member, command: str
) -> None:
    """The worker loses the reply that says which jobs it has leased: they are handed over before the lease ends."""
    proxy.cut(command, after=True)
    await until(lambda: finished(db, worker))
    assert proxy.has_cut
    assert [await follower.home() for follower in (bob, carol)] == [[delivery]] * 2


async def test_a_handover_without_its_message(
    db: Database, worker: Worker, delivery: str, alice: Member, bob: Member, carol: Member
) -> None:
    """While Pub/Sub is away, the worker finds a job that was handed over, and does not wait for the lease."""

    async def is_idle() -> bool:
        return not await waiting(db)

    away = PubSub(db.servers, db.channel_prefix, db.outages)  # never started
    running = asyncio.create_task(worker.run(away))
    await until(is_idle)  # a worker begins with all partitions
    second = await alice.post("hello again")
    await until(is_idle)
    await stop(running)
    assert [await follower.home() for follower in (bob, carol)] == [[second, delivery]] * 2


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("mutation", ["block", "follow", "post", "deletePost"])
async def test_each_script_lost(
    db: Database, proxy: Proxy, worker: Worker, alice: Member, bob: Member, mutation: str, after: bool
) -> None:
    """A lost script of a mutation, executed or not, leaves nothing half done and no job that waits for the lease."""
    lost = 0
    for passing in range(SCRIPTS):
        await bob.follow(alice)
        post = await alice.post("hello @bob #tag")
        inputs: dict[str, dict[str, Any]] = {
            "block": {"userIds": [bob.id]},
            "follow": {"userIds": [bob.id]},
            "post": {"text": "another @bob #tag"},
            "deletePost": {"postId": post},
        }
        fields = inputs[mutation]
        proxy.cut("EVALSHA", passing=passing, after=after)
        query = mutation_text(mutation, USER_ERRORS)
        answer = await alice.send(query, input=fields)
        lost += proxy.has_cut
        proxy.cancel()
        await until(lambda: finished(db, worker))
        if "errors" in answer and mutation != "post":  # the client tries again
            await alice.do(mutation, **fields)
        assert await findings(db) == []
        assert mutation != "block" or await bob.home() == []
        assert mutation != "deletePost" or post not in await bob.home()
        for undo in ("unblock", "unfollow"):
            await alice.do(undo, userIds=[bob.id])
        await until(lambda: finished(db, worker))
    assert lost >= 2
