"""Coalescing: one run serves every caller who came before it began."""

import asyncio

from resolvers.jobs.conversations import Coalescing


async def test_callers_share_the_next_run() -> None:
    """Callers who come while work runs share one more run, which begins after they have come."""
    runs: list[str] = []

    async def work() -> None:
        runs.append("begun")
        await asyncio.sleep(0)
        runs.append("ended")

    coalescing = Coalescing()
    await asyncio.gather(*(coalescing.run("subject", work) for _ in range(10)))
    assert runs == ["begun", "ended"] * 2
    await coalescing.run("subject", work)
    assert runs == ["begun", "ended"] * 3


async def test_a_failure_is_of_one_caller() -> None:
    """The caller whose run fails gets the error, and the next caller runs the work again."""
    outcomes = iter([True, False, False])

    async def work() -> None:
        await asyncio.sleep(0)
        if next(outcomes):
            raise ValueError

    coalescing = Coalescing()
    first, *others = await asyncio.gather(*(coalescing.run(1, work) for _ in range(3)), return_exceptions=True)
    assert isinstance(first, ValueError)
    assert others == [None, None]
