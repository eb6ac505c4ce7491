"""Fan-out on a cluster whose slots move: every follower is reached, and nobody has a post twice."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from store import keys
from store.client.database import Database
from store.homes import fanout, stored
from store.homes.fanout import Delivery
from store.ids import partition
from store.keys.fields import HomeField
from store.settings import Settings
from tests.support.servers.cluster import Cluster, cluster, slot
from tests.support.servers.processes import until

PARTS = 32  # partitions that the followers are in
EACH = 3  # followers in each
AUTHOR = 1 << 12 | 200 << 4
FOLLOWERS = [i << 12 | p << 4 for i in range(2, 2 + EACH) for p in range(PARTS)]
POSTS = [i << 12 | 200 << 4 for i in range(100, 104)]


@pytest.fixture
async def moving(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with cluster(tmp_path) as made:
        yield made


@pytest.fixture
async def far(moving: Cluster) -> AsyncIterator[Database]:
    """A cluster on which everybody follows one author and has a home."""
    made = Database(moving.url, Settings(**moving.settings))  # type: ignore[arg-type]
    await made.ask(
        *(("HSET", keys.home_state(member), HomeField.FLOOR, 0) for member in FOLLOWERS),
        *(("ZADD", keys.following(member), edge, AUTHOR) for edge, member in enumerate(FOLLOWERS, 1)),
        *(("ZADD", keys.followers(AUTHOR), edge, member) for edge, member in enumerate(FOLLOWERS, 1)),
    )
    yield made
    await made.close()


async def deliver(db: Database, post: int) -> int:
    """Deliver a post of the author to all followers; returns how many there were."""
    delivery = Delivery(AUTHOR, post, AUTHOR)
    batch = fanout.begin(db, delivery, 0, len(FOLLOWERS))
    return (await fanout.finish(db, batch, await db.one(*batch.command))).followers


async def retract(db: Database, post: int) -> None:
    """Remove a post of the author from all homes."""
    await fanout.retract(db, Delivery(AUTHOR, post, AUTHOR), FOLLOWERS)


async def are_stored(db: Database, members: Sequence[int], posts: list[int]) -> bool:
    """Return whether the home of each member has these posts, newest first."""
    return all([[entry.entity for entry in await stored.home(db, member)] == posts for member in members])


@pytest.mark.parametrize("atomic", [False, True])
async def test_slots_that_have_moved(moving: Cluster, far: Database, *, atomic: bool) -> None:
    """Slots have moved since the topology was read: what one node leaves out, another one gets."""
    assert await deliver(far, POSTS[0]) == len(FOLLOWERS)
    for to in moving.nodes:
        await moving.move([slot(p) for p in range(0, PARTS, 2)], to, atomic=atomic)
        post = POSTS[1 + moving.nodes.index(to)]
        assert await deliver(far, post) == len(FOLLOWERS)
    assert await are_stored(far, FOLLOWERS, POSTS[::-1])


@pytest.mark.parametrize("moved", [0, 5])
@pytest.mark.parametrize("retracts", [False, True])
async def test_slots_that_move(moving: Cluster, far: Database, moved: int, *, retracts: bool) -> None:
    """While slots move the old way, homes in them wait. All others are reached at once, and at the end all are."""
    assert await deliver(far, POSTS[0]) == len(FOLLOWERS)
    # The first partition of a node is the one by which its script is sent: while that one moves, all of them wait.
    *_, one, other = [p for p in range(PARTS) if far.node_index(p) == far.node_index(0)]
    targets = dict.fromkeys((one, other), moving.nodes[moving.nodes.index(await moving.owner(slot(0))) - 1])
    for p, to in targets.items():
        await moving.begin_move(slot(p), to)
        assert await moving.move_keys(slot(p), to, moved) == moved
    working = asyncio.create_task(retract(far, POSTS[0]) if retracts else deliver(far, POSTS[1]))
    wanted = [] if retracts else [POSTS[1], POSTS[0]]
    await until(lambda: are_stored(far, [member for member in FOLLOWERS if partition(member) not in targets], wanted))
    assert not working.done()
    for p, to in targets.items():
        await moving.move_keys(slot(p), to)
        await moving.end_move(slot(p), to)
    await working
    assert await are_stored(far, FOLLOWERS, wanted)
