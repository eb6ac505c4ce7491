"""Measures Perch at twice the load that it can serve: what is served and refused, how fast, and how it recovers.

Run it from a checkout with Perch, its extra `bench` and Node installed: `python -m benchmarks.overload`. The server has
one processor. Store and load share another. Requests are the mixed load: home pages, profile pages and posts.

First, connections that send their next request when they have their answer find the capacity, on a server that refuses
nothing. Then a server with the usual settings gets requests at random moments: half the capacity, twice the capacity,
and half the capacity again. Response times begin when a request is due, so they include what waits for a connection.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import structlog

from benchmarks.versus import contenders, graph, load, mixing, processors, stage
from benchmarks.versus.contenders import PERCH, Contender
from benchmarks.versus.load import MIB, Plan, Result
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import table
from store.settings import Settings

SHARES = 60, 30, 10  # of home pages, profile pages and posts, in a hundred requests, as in `versus mixed`
READERS = 200
CLOSED = 32  # connections that find the capacity
OPEN = 512  # connections over which requests are sent that are due
WARMUP = 3.0
SLICE = 1.0  # s of half the load, after which recovery is looked at again
RECOVERY_SECONDS = 15
DEFAULTS = {"OVERLOAD_DELAY_MS": str(Settings().overload_delay_ms)}


@dataclass(frozen=True, slots=True)
class Run:
    """What is measured, and for how long each time, s."""

    stage: Stage
    requests: Sequence[Request]
    scratch: Path
    short: float
    long: float

    async def measure(self, contender: Contender, plan: Plan) -> Result:
        """Return what a plan shows."""
        return await load.run(contender, self.stage, self.requests, plan, self.scratch)


async def main(asked: argparse.Namespace) -> None:
    """Run the benchmark, and print its results."""
    processors.pin(psutil.Process(), processors.LOAD)
    with contenders.temporary_folder() as folder:
        network = graph.generated(asked.members, asked.posts, asked.seed)
        async with stage.opened(Path(folder)) as opened:
            await opened.load(network)
            readers = await opened.readers(READERS, 30, asked.seed)
            requests = mixing.mixed(network, readers, SHARES)
            run = Run(opened, requests, Path(folder), asked.short, asked.seconds)
            best = await _capacity(run)
            async with contenders.running(opened, [replace(PERCH, settings=DEFAULTS)]) as (perch,):
                await _overload(run, perch, best, asked.times)


async def _capacity(run: Run) -> float:
    async with contenders.running(run.stage, [PERCH]) as (perch,):
        found = await run.measure(perch, Plan(CLOSED, WARMUP, run.short))
    print(f"capacity: {found.throughput:,.0f} requests/s, p50 {found.p50:.1f} ms, p99 {found.p99:.1f} ms", end="")
    print(f" ({CLOSED} connections; server {found.server_share:.0%} of a processor)", flush=True)
    return found.throughput


async def _overload(run: Run, perch: Contender, best: float, times: float) -> None:
    half = Plan(OPEN, WARMUP, run.short, rate=best / 2, refusals=True)
    before = await run.measure(perch, half)
    print(f"half of it: p50 {before.p50:.1f} ms, p99 {before.p99:.1f} ms, {before.refused:,} refused", flush=True)
    measuring = asyncio.create_task(run.measure(perch, Plan(OPEN, WARMUP, run.long, rate=times * best, refusals=True)))
    memory = [perch.memory / MIB]
    while not measuring.done():
        await asyncio.wait([measuring], timeout=1)
        memory.append(perch.memory / MIB)
    found, ended = await measuring, time.monotonic()
    recovery = await _recovery(run, perch, replace(half, warmup=0, seconds=SLICE), before.p50, ended)
    rows = [
        ["asked for, requests/s", f"{times * best:,.0f}"],
        ["served/s", f"{found.throughput:,.0f}"],
        ["of the capacity", f"{found.throughput / best:.1%}"],
        ["refused/s", f"{found.refused / found.seconds:,.0f}"],
        ["p50 of what was served, ms", f"{found.p50:.1f}"],
        ["p99 of what was served, ms", f"{found.p99:.1f}"],
        ["p99 by the p50 at half the load", f"{found.p99 / before.p50:.1f}"],
        ["memory at the start, half way and at the end, MiB", " / ".join(f"{memory[i]:.0f}" for i in _thirds(memory))],
        ["recovery, s", recovery],
        ["server, share of its processor", f"{found.server_share:.0%}"],
        ["store and load, of theirs", f"{found.load_share:.0%}"],
    ]
    table([f"{found.seconds:.0f} s at {times:g} times the capacity", ""], rows)


def _thirds(memory: Sequence[float]) -> tuple[int, int, int]:
    return min(3, len(memory) - 1), len(memory) // 2, -1


async def _recovery(run: Run, perch: Contender, half: Plan, usual: float, since: float) -> str:
    """Return after how many seconds of half the load nothing was refused and half of the answers were as fast again."""
    while time.monotonic() < since + RECOVERY_SECONDS:
        began = time.monotonic()
        found = await run.measure(perch, half)
        if found.answered and not found.refused and found.p50 < 2 * usual:
            return f"{began - since:.1f}"
    return f"more than {RECOVERY_SECONDS}"


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=300, help="at the overload")
    parser.add_argument("--short", type=float, default=20, help="seconds of the other measurements")
    parser.add_argument("--times", type=float, default=2, help="the load, by the capacity")
    parser.add_argument("--members", type=int, default=2_000)
    parser.add_argument("--posts", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asyncio.run(main(parser.parse_args()))
