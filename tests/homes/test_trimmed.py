"""Random lives of a small site with short homes, big authors, reposts that lift posts, or all of them.

A home reads as the model says, above its floor and below.
"""

import os

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.upkeep import verify
from store.homes import stored
from store.settings import Settings
from tests.support.home_pages import read, seen, walk
from tests.support.model.facts import SOON
from tests.support.model.steps import WEIGHTS, Steps
from tests.support.people import Member, shrunk
from tests.support.slow import few
from tests.support.work import number

SEEDS = range(int(os.environ.get("PERCH_MODEL_SEEDS", "3")))
STEPS = int(os.environ.get("PERCH_MODEL_STEPS", "120"))
STEPS_BETWEEN_CHECKS = 6
SIZE, SLACK = 10, 2
MANY = 800
CRASHES = 0.4  # share of writes that crash midway, where some do
FOLLOWS = {
    name: WEIGHTS[name]
    for name in (
        "sign_up", "follow", "unfollow", "remove_followers", "post", "quote", "repost", "unrepost", "delete", "work",
        "hide", "unhide", "absence",
    )
}  # fmt: skip
RELATIONSHIPS = FOLLOWS | {
    name: WEIGHTS[name] for name in ("approve", "block", "unblock", "mute", "unmute", "privacy", "suspend", "restore")
}
REPOSTS = FOLLOWS | {"post": 6, "repost": 60, "unrepost": 20, "delete": 4}
ACTS = {"follows": FOLLOWS, "relationships": RELATIONSHIPS, "reposts": REPOSTS}
LIMITS: dict[str, dict[str, float]] = {
    "short homes": {"home_size": SIZE, "home_slack": SLACK},
    "big authors": {"home_size": MANY, "big_author": 3},
    "short homes, big authors": {"home_size": SIZE, "home_slack": SLACK, "big_author": 3},
}
LIFTS = {f"{name}, lifts": {**limits, "repost_lift_hours": SOON} for name, limits in LIMITS.items()}
LIMITS |= LIFTS


FAILED_ONCE = [("short homes, big authors", seed, 200, "follows") for seed in (4, 5, 8, 17)]
LIVES = [
    *((limits, seed, STEPS, "reposts" if limits in LIFTS else "relationships") for limits in LIMITS for seed in SEEDS),
    *FAILED_ONCE,
]
FAST = [*(life for life in LIVES if life[1] == 1), FAILED_ONCE[0]]  # seed 1 crashes


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Batches so small that the worker finishes most deliveries, and some limits low enough to matter."""
    work = {"fanout_inline": 4, "fanout_batch": 2, "job_attempts": 1000, "max_page": 1000, "max_cost": 10**9}
    return shrunk(settings, **work, **LIMITS[request.param])


async def check(life: Steps, *, thoroughly: bool) -> None:
    """Compare every home with the model; if `thoroughly`, also in pages of either direction, and run verify."""
    for login, member in life.people.items():
        whole = await read(member, first=1000)
        wanted = [(line.post, line.place, list(line.sources)) for line in life.model.home(login)]
        life.same(f"home of {login}", [seen(edge) for edge in whole["edges"]], wanted)
        assert len(await stored.home(life.db, number(member.id))) <= life.db.settings.home_size + SLACK
        size = life.lot.randint(1, 7)
        for forward in (True, False) if thoroughly else ():
            pages = await walk(member, size, forward=forward)
            life.same(f"home of {login} in pages of {size}, {forward=}", pages, [seen(edge) for edge in whole["edges"]])
    if not thoroughly:
        return
    report = await verify.verify(life.db, homes=None, seed=0, progress=lambda _: None)
    life.same("findings", report.findings, [])


@pytest.mark.parametrize(("settings", "seed", "steps", "acts"), few(LIVES, *FAST), indirect=["settings"])
async def test_homes_are_what_the_model_says(
    services: Services, anonymous: Member, worker: Worker, seed: int, steps: int, acts: str
) -> None:
    """Under any limits, a home reads as rule 3 and the floor say; on odd seeds some writes crash."""
    life = Steps(anonymous, services.db, worker, seed, CRASHES * (seed % 2), ACTS[acts])
    for turn in range(1, steps + 1):
        await life.step()
        if turn % STEPS_BETWEEN_CHECKS == 0 or turn == steps:
            await life.finish_jobs()
            await check(life, thoroughly=turn % (3 * STEPS_BETWEEN_CHECKS) == 0 or turn == steps)
