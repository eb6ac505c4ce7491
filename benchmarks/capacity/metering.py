"""Measures the processor time of requests on Perch processes, the work that they leave for later included."""

import statistics
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.capacity.costs import Cpu
from benchmarks.clients import until_no_job_is_left
from benchmarks.versus import contenders, load
from benchmarks.versus.contenders import Contender
from benchmarks.versus.generator import LoadPlan
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from store.client.database import Command

CONNECTIONS = 8  # so few that what a request costs decides, and not how many wait
BATCH = 10  # commands that a busy store takes at a time


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How much is measured: members of the site, requests of a round, and rounds."""

    members: int
    requests: int
    rounds: int
    fans: tuple[int, int]  # followers of two authors, whose posts are compared
    subscribers: int
    seed: int


def perch(opened: Stage, count: int = 1, **settings: str) -> AbstractAsyncContextManager[list[Contender]]:
    """Start Perch processes with some settings; the first does the deferred work."""
    first = replace(contenders.PERCH, settings={"RATE_LIMIT": contenders.NO_LIMIT, **settings})
    others = [replace(first, settings={**first.settings, "RUN_WORKER": "false"})] * (count - 1)
    return contenders.running(opened, [first, *others])


@dataclass(frozen=True, slots=True)
class CpuMeter:
    """A Perch process and its store, whose processor time is measured."""

    stage: Stage
    server: Contender
    scratch: Path

    async def spent(self) -> Cpu:
        """Return the processor time that both have had, µs."""
        return Cpu(self.server.exact_cpu * 1e6, await self.stage.used_cpu() * 1e6)

    async def cost(self, requests: Sequence[Request]) -> Cpu:
        """Send each request once, and return the cost of one."""
        before = await self.spent()
        await self.send(requests)
        await until_no_job_is_left(self.stage.db)
        return (await self.spent() - before) * (1 / len(requests))

    async def median(self, rounds: Sequence[Sequence[Request]]) -> Cpu:
        """Return the median cost of a request over some rounds."""
        return median([await self.cost(requests) for requests in rounds])

    async def send(self, requests: Sequence[Request]) -> None:
        """Send each request once. Few connections begin again with the first ones, until the last is answered."""
        connections = min(CONNECTIONS, max(1, len(requests) // 4))
        plan = LoadPlan(connections, 0, 0, amount=len(requests) - connections)
        await load.run(self.server, self.stage, requests, plan, self.scratch)


def median(costs: Sequence[Cpu]) -> Cpu:
    """Return the median of each side."""
    return Cpu(statistics.median(cpu.server for cpu in costs), statistics.median(cpu.store for cpu in costs))


async def commands(stage: Stage, sent: Sequence[Command]) -> float:
    """Return the store's processor time for one of some commands, µs."""
    before = await stage.used_cpu()
    for start in range(0, len(sent), BATCH):
        await stage.db.ask(*sent[start : start + BATCH])
    return (await stage.used_cpu() - before) * 1e6 / len(sent)
