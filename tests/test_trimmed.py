"""Random lives of a small site with short homes: each is the top of what the model says, down to its floor.

Nothing is taken back here but whole posts: what an unfollow or an undone repost lets surface again in a trimmed home
is not asked for.
"""

from __future__ import annotations

import os

import pytest

from resolvers.context import Services
from resolvers.fanout import Worker
from store import timelines
from store.settings import Settings
from tests.conftest import Member, shrunk
from tests.steps import WEIGHTS, Steps
from tests.work import number

SEEDS = int(os.environ.get("PERCH_MODEL_SEEDS", "4"))
STEPS = int(os.environ.get("PERCH_MODEL_STEPS", "120"))
STEPS_BETWEEN_CHECKS = 6
SIZE, SLACK = 10, 2
CRASHES = 0.4  # share of writes that die on their way, where some do
PUBLISHING = {name: WEIGHTS[name] for name in ("sign_up", "follow", "post", "quote", "repost", "delete", "work")}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Short homes, and batches so small that most deliveries are finished by the worker."""
    limits = {"home_size": SIZE, "home_slack": SLACK, "fanout_inline": 4, "fanout_batch": 2, "job_attempts": 1000}
    return shrunk(settings, **limits)


async def check(life: Steps) -> None:
    """Compare every home, and what it remembers of who passed on what, with the model."""
    for login, member in life.people.items():
        home = await timelines.home(life.db, number(member.id))
        floor = await timelines.floor(life.db, number(member.id)) or 0
        whole = life.model.home(login)
        wanted = [(line.post, line.place) for line in whole if line.place > floor]
        life.same(f"home of {login} above {floor}", [(entry.thing, entry.place) for entry in home], wanted)
        life.same(f"home of {login} as read", await member.home(), [life.ids[post] for post, _ in wanted])
        brought = {line.post: len(line.sources) for line in whole if line.place > floor and line.sources}
        sources = await timelines.sources(life.db, number(member.id))
        life.same(f"sources of {login}", {post: len(found) for post, found in sources.items()}, brought)
        assert len(home) <= SIZE + SLACK


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_a_trimmed_home_is_the_top_of_the_model(
    services: Services, anonymous: Member, worker: Worker, seed: int
) -> None:
    """Above its floor a home has all that rule 3 puts there, at its place, and on odd seeds some writes crash."""
    life = Steps(anonymous, services.db, worker, seed, CRASHES * (seed % 2), PUBLISHING)
    for turn in range(1, STEPS + 1):
        await life.step()
        if turn % STEPS_BETWEEN_CHECKS == 0 or turn == STEPS:
            await life.settle()
            await check(life)
