"""Random lives of a small site: after any steps, the API answers as the model does.

`PERCH_MODEL_SEEDS` and `PERCH_MODEL_STEPS` lengthen the run, with `-m ''`: most seeds are slow. A difference
is reported with its seed and its steps.
"""

import os

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store.settings import Settings
from tests.support.model.checks import ALL, PAGED, Checks
from tests.support.people import Member, shrunk
from tests.support.slow import few

SEEDS = int(os.environ.get("PERCH_MODEL_SEEDS", "5"))
STEPS = int(os.environ.get("PERCH_MODEL_STEPS", "120"))
STEPS_BETWEEN_CHECKS = 12
CRASHES = 0.4  # share of writes that crash midway, where some do


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Small batches, so that the worker finishes most deliveries, and room for whole lists in one answer."""
    return shrunk(settings, max_page=ALL, max_cost=10**9, fanout_inline=4, fanout_batch=2, job_attempts=1000)


@pytest.mark.parametrize("seed", few(range(SEEDS), 1))
async def test_the_api_answers_what_the_model_says(
    services: Services, anonymous: Member, worker: Worker, seed: int
) -> None:
    """After any steps, crashed midway on odd seeds, every list and count equals the model's."""
    life = Checks(anonymous, services.db, worker, seed, CRASHES * (seed % 2))
    for turn in range(1, STEPS + 1):
        await life.step()
        if turn % STEPS_BETWEEN_CHECKS == 0 or turn == STEPS:
            await life.finish_jobs()
            await life.check()
    for name, size in [*((name, 3) for name in PAGED), *(("home", size) for size in range(1, 6))]:
        await life.check_pages(name, size)
