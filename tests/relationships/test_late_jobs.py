"""Acknowledged changes whose jobs are late: in any order of the jobs, the end is what the changes say in theirs."""

import contextlib
import random
from collections.abc import Iterator
from itertools import permutations, product

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store.client.database import Database
from store.records.jobs import Job
from tests.support.pair import ACTS, Pair
from tests.support.people import Member
from tests.support.scene import assert_agreed
from tests.support.slow import few
from tests.support.work import EFFORT, Crash, Fragile, number, photograph, put_back, waiting, work_off

SETTLED = {  # Changes by the members 0 and 1 whose jobs are done before.
    "strangers": "",
    "a follow": "0follow",
    "a request": "1close 0follow",
    "a block": "1block",
    "follows": "0follow 1follow",
}
SHARE = 12  # One of so many pairs of changes is tried, unless there is more effort.
LIVES = 12 * EFFORT
LIFE = 9  # changes
FEW = 3  # Calls after which a job dies at most.

Acts = list[tuple[str, int]]


def read(text: str) -> Acts:
    """Return the changes that a text names, each with who makes it."""
    return [(word[1:], int(word[0])) for word in text.split()]


def pairs() -> Iterator[tuple[str, Acts]]:
    """Yield pairs of changes after each settled state. Then a follow, which everything before has to let in."""
    every = [(act, me) for act in ACTS for me in (0, 1)]
    chosen = random.Random(1)  # noqa: S311  a sample, no secret
    for settled, first, second in product(SETTLED, every, every):
        if chosen.random() * SHARE < EFFORT:
            yield settled, [first, second, ("follow", 0)]


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that die as soon as a change is committed: its job is left."""

    async def leave(*_: object) -> None:
        pass

    monkeypatch.setattr(dispatch, "finish", leave)


async def run(db: Database, job: Job) -> None:
    """Run a job to its end, as a worker does."""
    await dispatch.perform(db, job, Budget(float("inf")))


def is_undecided(acts: Acts) -> bool:
    """Return whether late jobs may decide otherwise: going public approves the requests that its job finds."""
    return any(act == "open" for act, _ in acts)


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize("settled", SETTLED)
@pytest.mark.parametrize("half", few(range(2)))
async def test_pairs_of_changes(
    services: Services, alice: Member, bob: Member, worker: Worker, settled: str, half: int
) -> None:
    """After two changes and a follow whose jobs are late, any order of the jobs gives what was acknowledged."""
    db, members = services.db, (alice, bob)
    before = await photograph(db)
    for acts in [acts for state, acts in pairs() if state == settled][half::2]:
        await put_back(db, before)
        pair = Pair(db, members)
        for act in read(SETTLED[settled]):
            await pair.act(*act)
            await work_off(db, worker)
        for act in acts:
            await pair.act(*act)
        photo, left = await photograph(db), await waiting(db)
        for order in permutations(left):
            await put_back(db, photo)
            for job in order:
                await run(db, job)
            await work_off(db, worker)
            if not is_undecided(acts):
                await pair.assert_agreed([job.kind for job in order])


@pytest.mark.usefixtures("late")
async def test_lives(services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """Jobs that die anywhere, run late, twice and in any order between changes end as the changes say."""
    db, members = services.db, (alice, bob)
    await alice.post("by alice")
    await bob.post("by bob")
    await work_off(db, worker)
    before = await photograph(db)
    for seed in range(LIVES):
        await put_back(db, before)
        pair = Pair(db, members)
        await _live(pair, random.Random(seed))  # noqa: S311  a life that can be repeated
        await work_off(db, worker)
        await pair.assert_agreed(seed)
        await assert_agreed(db, [number(member.id) for member in members])


async def _live(pair: Pair, chance: random.Random) -> None:
    acts = [act for act in ACTS if act != "open"] + ["follow", "follow", "unblock"]
    done: list[Job] = []
    for _ in range(LIFE):
        await pair.act(chance.choice(acts), chance.randrange(2))
        for job in chance.sample(left := await waiting(pair.db), chance.randint(0, min(2, len(left)))):
            fragile = Fragile(pair.db.settings, chance.randint(0, FEW), halfway=chance.random() < 1 / 2)
            await _die(fragile, job)
            done.append(job)
    for job in chance.sample(done, len(done)):
        await run(pair.db, job)


async def _die(fragile: Fragile, job: Job) -> None:
    with contextlib.suppress(Crash):
        await run(fragile, job)
    await fragile.close()
