"""Requests over HTTP, the contenders taking turns: as many as they answer, then half as many."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from benchmarks.versus import contenders, load, queueing
from benchmarks.versus.contenders import Contender, ContenderKind
from benchmarks.versus.generator import LoadPlan
from benchmarks.versus.load import Result
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import ratio, spread, table

BUSY = 0.9  # Share of a processor above which the server or the load generator is at its limit.
DISTURBED = 0.05  # Share of the server's processor above which other processes disturb.
BEHIND = 1.0  # Seconds of unanswered requests above which a contender could not keep up.
OPEN_CONNECTIONS = 256  # Connections at half load: so many that a request hardly ever waits for one.
HALF = 0.5  # Share of time for which a server is busy at half load.
LOOKS = 2  # Short runs that find the rate of half load.

ResultsByName = dict[str, list[Result]]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long is measured."""

    rounds: int
    seconds: float
    warmup: float
    connections: int
    least: int = 0  # requests of a warm-up


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of each turn, by contender: at saturation, and at half of it if that was measured."""

    saturated: ResultsByName
    relaxed: ResultsByName


async def measure(
    title: str,
    stage: Stage,
    kinds: Sequence[ContenderKind],
    requests: Sequence[Request],
    effort: Effort,
    scratch: Path,
    *,
    at_half: bool,
) -> Measured:
    """Measure saturation, then perhaps the rate that keeps each contender busy half the time. Prints a table of each.

    Every other round begins with the last contender, so that none gains from its place. Each round begins at another
    request.
    """
    names, rounds = [kind.name for kind in kinds], effort.rounds

    async def turns(plans: dict[str, LoadPlan], begin: int) -> ResultsByName:
        results: ResultsByName = {name: [] for name in names}
        for i in tqdm(range(rounds), desc=title, leave=False):
            for kind in kinds[::-1] if i % 2 else kinds:
                plan = replace(plans[kind.name], first=(begin + i) / (2 * rounds))
                async with contenders.alone(stage, kind) as contender:
                    found = plan.rate and await _half(contender, stage, requests, plan, scratch)
                    plan = replace(plan, rate=found)
                    results[kind.name].append(await load.run(contender, stage, requests, plan, scratch))
        return results

    full = LoadPlan(effort.connections, effort.warmup, effort.seconds, least=effort.least)
    saturated = await turns(dict.fromkeys(names, full), 0)
    print(f"\n### {title}\n\n{effort.connections} connections, each asking again once it is answered:")
    _print_saturated(saturated)
    if not at_half:
        return Measured(saturated, {})
    half = {
        name: replace(full, connections=OPEN_CONNECTIONS, rate=HALF * statistics.median(r.throughput for r in results))
        for name, results in saturated.items()
    }
    relaxed = await turns(half, rounds)
    print("As many requests as keep the server busy for half of the time, due at random moments:")
    _print_relaxed(relaxed)
    return Measured(saturated, relaxed)


async def _half(
    contender: Contender, stage: Stage, requests: Sequence[Request], plan: LoadPlan, scratch: Path
) -> float:
    """Return the rate at which a server is busy half of the time.

    It is less than half of what the server answers at most. A request that arrives alone takes longer than one among
    others, which share the system calls and find the caches of the processor warm.
    """
    rate, seconds = plan.rate, plan.warmup / LOOKS
    for _ in range(LOOKS):
        look = replace(plan, rate=rate, warmup=seconds, seconds=seconds)
        found = await load.run(contender, stage, requests, look, scratch)
        rate = HALF * found.throughput / found.server_share
    return rate


Column = tuple[str, Callable[[Result], float], int]  # head, value, digits


def _print(results: ResultsByName, columns: Sequence[Column], ratios: Sequence[Column]) -> None:
    """Print a table: the columns, and those of `ratios` by the first contender's."""
    first = next(iter(results))
    rows = [
        [
            name,
            *(spread([value(r) for r in turns], digits) for _, value, digits in columns),
            *(ratio([value(r) for r in turns], [value(r) for r in results[first]]) for _, value, _ in ratios),
        ]
        for name, turns in results.items()
    ]
    table(["", *(head for head, _, _ in columns), *(f"{head}, it / {first}" for head, _, _ in ratios)], rows)


RATE: Column = ("requests/s", lambda r: r.throughput, 0)
SERVER: Column = ("server CPU ms", lambda r: r.server_ms, 3)
P50, P99 = (("p50 ms", lambda r: r.p50, 2), ("p99 ms", lambda r: r.p99, 2))
BUSY_SHARE: Column = ("server busy %", lambda r: r.server_share * 100, 0)
LATE: Column = ("generator late, p99 ms", lambda r: r.late, 2)
# The least p99 that a server can have is that of requests which take equally long, and wait for nothing but each other.
TAIL: Column = ("p99 by M/D/1", lambda r: r.p99 / (r.server_ms * queueing.sojourn(min(r.server_share, BUSY), 0.99)), 2)
STORE: Sequence[Column] = (("store CPU ms", lambda r: r.store_ms, 3), ("commands", lambda r: r.commands, 1))
MEMORY: Column = ("MiB", lambda r: r.memory, 0)


def _print_saturated(results: ResultsByName) -> None:
    _print(results, [RATE, P50, P99, SERVER, *STORE, MEMORY], [RATE, SERVER])
    for contender, turns in results.items():
        print(f"- {contender}: {_verdict(turns)}")
    print()


def _verdict(results: Sequence[Result]) -> str:
    """Return what limited a contender: that must be the server, or the throughput is not its own."""
    server = statistics.median(r.server_share for r in results)
    others = statistics.median(r.foreign_share for r in results)
    shared = statistics.median(r.load_share for r in results)
    said = f"server {server:.0%} of its processor, store and load generator {shared:.0%} of theirs"
    if others > DISTURBED:
        return f"{said}; OTHER WORK TOOK {others:.0%} OF THE SERVER'S: compare processor times, not throughput"
    if shared > BUSY or server < BUSY:
        return f"{said}; THE SERVER WAS NOT THE LIMIT"
    return said


def _print_relaxed(results: ResultsByName) -> None:
    _print(results, [RATE, BUSY_SHARE, P50, P99, TAIL, SERVER, LATE], [P50, P99])
    for contender, turns in results.items():
        others = statistics.median(r.foreign_share for r in turns)
        if others > DISTURBED:
            print(
                f"- {contender}: OTHER WORK TOOK {others:.0%} OF THE SERVER'S PROCESSOR, so its requests waited longer"
            )
        left = statistics.median(r.unanswered / r.throughput for r in turns)
        if left > BEHIND:
            print(
                f"- {contender} FELL BEHIND: it had the requests of {left:.1f} s still to answer; these are not counted"
            )
