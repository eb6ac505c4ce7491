"""Measures each optimisation of the home page on top of those before it, beginning with plain Strawberry."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from benchmarks.versus import contenders, reading
from benchmarks.versus.contenders import PERCH_CUT, Kind
from benchmarks.versus.load import Plan, Result
from benchmarks.versus.queries import Request
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import spread, table

STEPS = {
    "quiet": "no line of the log per request",
    "uvloop": "uvloop, not asyncio's loop",
    "collector": "the garbage collector comes seldom",
    "connections": "few shared connections, not redis-py's pool and pipelines",
    "msgspec": "JSON by msgspec, not Python's",
    "plans": "queries by plan, not by graphql-core",
    "calls": "resolvers called without strawberry's wrapping",
    "cache": "records kept until the store says that they have changed",
    "readers": "sessions and homes kept like records",
}


def kinds() -> list[Kind]:
    """Return plain Strawberry, Perch without any of the steps, and Perch after each of them."""
    missing = list(STEPS)
    found = [contenders.STRAWBERRY, Kind("Perch without the following", [*PERCH_CUT, *missing])]
    for name, step in STEPS.items():
        missing.remove(name)
        found.append(Kind(f"+ {step}", [*PERCH_CUT, *missing]))
    return found


async def measure(stage: Stage, requests: Sequence[Request], effort: Effort, scratch: Path) -> None:
    """Measure all steps in turns, and print a table."""
    async with contenders.running(stage, kinds()) as running:
        contenders.check_equal(running, requests)
        found: dict[str, list[Result]] = {contender.kind.name: [] for contender in running}
        plans = dict.fromkeys(found, Plan(effort.connections, effort.warmup, effort.seconds))
        for _ in tqdm(range(effort.rounds), desc="steps", leave=False):
            for name, result in (await reading.take_turns(stage, running, requests, plans, scratch)).items():
                found[name].append(result)
    rows, before = [], 0.0
    for name, results in found.items():
        cpu = statistics.median(result.server_ms for result in results)
        gained = f"{before - cpu:+.3f}" if name.startswith("+") else ""
        rows.append([name, *(spread(values, digits) for values, digits in _columns(results)), gained])
        before = cpu
    print("\n### What each step has brought to a home page of 30\n\nEach row has all steps of those above it.")
    table(["", "requests/s", "server CPU ms", "store CPU ms", "ms gained"], rows)


def _columns(results: Sequence[Result]) -> list[tuple[list[float], int]]:
    return [
        ([result.throughput for result in results], 0),
        ([result.server_ms for result in results], 3),
        ([result.store_ms for result in results], 3),
    ]
