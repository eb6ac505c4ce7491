"""Measures several server processes on one port: the gain from more processors, and the limit that the store sets."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from benchmarks.versus import contenders, processors, reading
from benchmarks.versus.contenders import BenchmarkError, Contender, Kind
from benchmarks.versus.load import Plan, Result
from benchmarks.versus.queries import Request
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import ratio, spread, table

FULL = 0.95  # share of all processors above which they are fully used

Value = Callable[[Result], float]


def kind(processes: int) -> Kind:
    """Return Perch with this many server processes."""
    command = [sys.executable, "server.py", "serve", "--processes", str(processes)]
    return replace(contenders.PERCH, name=f"{processes:,}", command=command)


async def measure(
    stage: Stage, counts: Sequence[int], requests: Sequence[Request], effort: Effort, scratch: Path
) -> None:
    """Measure each count, all processes on all processors, and print a table."""
    found: dict[str, list[Result]] = {kind(count).name: [] for count in counts}
    store = stage.process
    processors.pin(store, processors.ALL)
    try:
        async with contenders.running(stage, [kind(count) for count in counts], which=processors.ALL) as running:
            contenders.check_equal(running, requests)
            for contender, count in zip(running, counts, strict=True):
                _spread(contender, count)
            plans = dict.fromkeys(found, Plan(effort.connections, effort.warmup, effort.seconds))
            for _ in range(effort.rounds):
                for name, result in (await reading.take_turns(stage, running, requests, plans, scratch)).items():
                    found[name].append(result)
    finally:
        processors.pin(store, processors.LOAD)
    _report(found, effort)


def _spread(contender: Contender, count: int) -> None:
    """Let all processes of a contender run on any processor; raise BenchmarkError unless `count` of them serve.

    A single process has no children: it serves itself.
    """
    serving: list[psutil.Process] = contender.processes[1:] or contender.processes
    if len(serving) != count:
        raise BenchmarkError(f"{count} processes were asked for, {len(serving)} serve")
    for process in serving:
        processors.pin(process, contender.which)


def _report(found: dict[str, list[Result]], effort: Effort) -> None:
    first = next(iter(found.values()))
    columns: list[tuple[Value, int]] = [
        (lambda r: r.p50, 1),
        (lambda r: r.p99, 1),
        (lambda r: r.server_ms, 3),
        (lambda r: r.server_share, 2),
        (lambda r: r.store_cpu / r.seconds, 2),
        (lambda r: r.load_cpu / r.seconds, 2),
        (lambda r: r.memory, 0),
    ]
    rows = [
        [
            name,
            spread([r.throughput for r in results], 0),
            ratio([r.throughput for r in results], [r.throughput for r in first]),
            *(spread([value(r) for r in results], digits) for value, digits in columns),
        ]
        for name, results in found.items()
    ]
    print(
        f"\n### A home page of 30, by server processes\n\n{effort.connections} connections. Nothing is pinned: servers,"
        f" store and load generator share {processors.count()} processors. The last columns say how many each had."
    )
    head = ["processes", "requests/s", f"it / {rows[0][0]}", "p50 ms", "p99 ms", "server CPU ms"]
    table([*head, "servers", "store", "load generator", "MiB"], rows)
    for name, results in found.items():
        used = statistics.median(r.server_share + r.load_share for r in results)
        if used > FULL * processors.count():
            print(
                f"- {name}: {used:.2f} processors of {processors.count()} were busy: more processes would gain nothing"
            )
