"""Random lives of a small site on a cluster, while a primary dies or slots move: the API answers as the model does.

`PERCH_CLUSTER_SEEDS` and `PERCH_CLUSTER_STEPS` lengthen the run, with `-m slow`. `--log-cli-level=INFO`
shows how long answers took.
"""

import asyncio
import logging
import os
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any, cast

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store.settings import Settings
from tests.support.model.checks import ALL, PAGED, Checks
from tests.support.people import SECRET, Member
from tests.support.servers.cluster import PARTITION_SLOTS, Cluster, cluster
from tests.support.servers.nodes import Node
from tests.support.servers.processes import SMALL, until
from tests.support.slow import slow
from tests.support.transport.persistent import Outages, Persistent

pytestmark = slow

SEEDS = int(os.environ.get("PERCH_CLUSTER_SEEDS", "1"))
STEPS = int(os.environ.get("PERCH_CLUSTER_STEPS", "400"))
STEPS_BETWEEN_CHECKS = 40
MOST_TURNS = 2_000  # of the event loop between the beginning of a step and the death of a node

log = logging.getLogger(__name__)
seeds = pytest.mark.parametrize("seed", range(SEEDS))


@pytest.fixture
async def nodes(tmp_path: Path) -> AsyncIterator[Cluster]:
    """Three primaries with a replica each."""
    async with cluster(tmp_path / "nodes", replicas=1) as made:
        yield made


@pytest.fixture
def settings(nodes: Cluster, tmp_path: Path) -> Settings:
    """Each write waits for a replica. Batches are small, and whole lists fit into one answer."""
    limits: dict[str, Any] = {"max_page": ALL, "max_cost": 10**9, "fanout_inline": 4, "fanout_batch": 2}
    return Settings(
        redis_url=nodes.url,
        secret_key=SECRET,
        data_dir=tmp_path,
        replicas_acknowledge=1,
        job_attempts=1000,
        **{**SMALL, **limits},
    )


@pytest.fixture
def life(services: Services, anonymous: Member, worker: Worker, seed: int) -> Checks:
    """A site whose members repeat each request that is refused because of an outage."""
    outages = Outages()
    client = cast("Any", Persistent(anonymous.client, outages))
    return Checks(Member(client), services.db, worker, seed, outages=outages)


async def _live(
    life: Checks, moment: int, disturb: Callable[[], Coroutine[None, None, None]], *, loses_answers: bool
) -> None:
    """Run steps until all are done and a disturbance is over, which begins together with one of them.

    A step that runs when a disturbance begins or ends counts as disturbed. Everything is compared with the model now
    and then, and at the end.
    """
    disturbing: asyncio.Task[None] | None = None
    turn = 0
    while turn < STEPS or not disturbing or not disturbing.done():
        turn += 1
        if turn == moment:
            disturbing = asyncio.create_task(disturb(), name="disturbing")
        life.is_disturbed = loses_answers and disturbing is not None and not disturbing.done()
        await life.step()
        if turn % STEPS_BETWEEN_CHECKS == 0:
            await life.finish_jobs()
            await until(life.db.ready)
            await life.check()
    await disturbing
    life.is_disturbed = False
    await life.finish_jobs()
    await life.check()
    for name in PAGED:
        await life.check_pages(name, 3)


@seeds
async def test_a_primary_is_killed(life: Checks, nodes: Cluster, seed: int) -> None:
    """A primary dies at a random moment: after the failover everything answered is there, and nothing else."""
    lot = random.Random(-seed - 1)  # noqa: S311  chance that can be repeated, no secret
    dead = lot.choice(nodes.nodes[:3])
    ((first, _),) = (await dead.view()).own.slots

    async def kill() -> None:
        for _ in range(lot.randrange(MOST_TURNS)):
            await asyncio.sleep(0)
        dead.kill()
        killed = time.monotonic()
        await nodes.until_failed_over(dead, first)
        log.info("seed %d: failed over after %.1f s", seed, time.monotonic() - killed)
        await nodes.start_again(dead)
        log.info("seed %d: replicated after %.1f s", seed, time.monotonic() - killed)

    await _live(life, lot.randint(1, STEPS), kill, loses_answers=True)
    log.info("seed %d: %d steps, %s", seed, len(life.log), life.outages)


@seeds
@pytest.mark.parametrize("atomic", [True, False], ids=["atomic", "slot by slot"])
async def test_slots_move(life: Checks, nodes: Cluster, seed: int, atomic: bool) -> None:
    """Half of the slots move to other nodes and back: no request is refused, and every answer is right."""
    lot = random.Random(-seed - 1)  # noqa: S311  chance that can be repeated, no secret
    primaries = nodes.nodes[:3]
    moving: dict[tuple[Node, Node], list[int]] = defaultdict(list)
    for slot in lot.sample(PARTITION_SLOTS, len(PARTITION_SLOTS) // 2):
        home = await nodes.owner(slot)
        moving[home, lot.choice([node for node in primaries if node is not home])].append(slot)

    async def move() -> None:
        for (_, to), slots in moving.items():
            await nodes.move(slots, to, atomic=atomic)
        for (home, _), slots in moving.items():
            await nodes.move(slots, home, atomic=atomic)

    await _live(life, 1, move, loses_answers=False)
    log.info("seed %d: %d steps, %s", seed, len(life.log), life.outages)
    assert life.outages.refused == 0
