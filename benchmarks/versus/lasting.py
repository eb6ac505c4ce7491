"""Measures what shows only over time: new query texts, very many requests, memory."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from benchmarks.versus import load, plots, queries
from benchmarks.versus.contenders import Contender
from benchmarks.versus.load import MIB, Plan
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Reader, Stage
from benchmarks.versus.tables import spread, table

NEW_TEXTS = 100
SAMPLES = 20  # of memory, in one run
STEPS = 10  # of `memory`


def first_and_later(contenders: Sequence[Contender], readers: Sequence[Reader]) -> None:
    """Measure the first request of a client with a query text of its own, and one like it that comes later."""
    rows = []
    for contender in tqdm(contenders, desc="new texts", leave=False):
        if not contender.kind.graphql:
            continue
        connection, times = contender.connect(), (list[float](), list[float]())
        for i in range(NEW_TEXTS):
            request = queries.home(readers[i % len(readers)].token, name=f"Client{i}")
            for taken in times:
                began = time.perf_counter()
                contender.ask(request, connection)
                taken.append((time.perf_counter() - began) * 1000)
        connection.close()
        first, second = times
        rows.append(
            [
                contender.kind.name,
                *(f"{statistics.median(found):.1f}" for found in (first, second)),
                f"{statistics.median(first) / statistics.median(second):.2f}",
            ]
        )
    print("\n### A query text that is new, and the same again\n\nMedians in ms, one request at a time.")
    table(["", "first", "again", "ratio"], rows)


async def many(
    stage: Stage,
    contenders: Sequence[Contender],
    requests: Sequence[Request],
    plan: Plan,
    scratch: Path,
) -> None:
    """Send very many requests to each contender, and watch its memory meanwhile."""
    rows = []
    for contender in contenders:
        contender.pause()
    for contender in tqdm(contenders, desc=f"{plan.amount:,} requests", leave=False):
        contender.resume()
        before = contender.memory / MIB
        measuring = asyncio.create_task(load.run(contender, stage, requests, plan, scratch))
        memory = [before]
        while not measuring.done():
            await asyncio.wait([measuring], timeout=1)
            memory.append(contender.memory / MIB)
        result = await measuring
        contender.pause()
        steps = memory[:: max(1, len(memory) // SAMPLES)]
        rows.append(
            [
                contender.kind.name,
                f"{result.seconds:,.0f}",
                f"{result.throughput:,.0f}",
                f"{result.p50:,.1f}",
                f"{result.p99:,.1f}",
                f"{before:.0f}",
                f"{memory[len(memory) // 2]:.0f}",
                f"{memory[-1]:.0f}",
                spread(steps, 0),
            ]
        )
    for contender in contenders:
        contender.resume()
    print(f"\n### {plan.amount:,} home pages over {plan.connections} connections\n")
    head = ["", "s", "requests/s", "p50 ms", "p99 ms", "MiB before", "half way", "at the end", "median and extremes"]
    table(head, rows)


async def memory(
    stage: Stage,
    contenders: Sequence[Contender],
    requests: Sequence[Request],
    plan: Plan,
    scratch: Path,
    charts: Path | None,
) -> None:
    """Send the plan's amount of requests to each contender in steps, look at its memory after each, and draw it."""
    found: dict[str, list[float]] = {}
    step = replace(plan, amount=plan.amount // STEPS, warmup=0)
    for contender in contenders:
        contender.pause()
    for contender in tqdm(contenders, desc=f"memory in {plan.amount:,} requests", leave=False):
        contender.resume()
        held = found[contender.kind.name] = [contender.memory / MIB]
        for _ in range(STEPS):
            await load.run(contender, stage, requests, step, scratch)
            held.append(contender.memory / MIB)
        contender.pause()
    for contender in contenders:
        contender.resume()
    counts = [step.amount * i for i in range(STEPS + 1)]
    rows = [
        [name, *(f"{mib:.1f}" for mib in held), f"{held[-1] - held[STEPS // 2]:+.1f}"] for name, held in found.items()
    ]
    print("\n### Memory of a server over its requests\n\nResident, MiB, after so many home pages.")
    table(["", *(f"{count:,}" for count in counts), "growth, last half"], rows)
    if charts:
        series = {name: list(zip(counts, held, strict=True)) for name, held in found.items()}
        plots.lines(charts / "memory.svg", "Memory of a server", "home pages answered", "MiB", series, linear=True)
