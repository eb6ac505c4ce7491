"""Measures a home page as the site grows: curves, as tables and charts."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from benchmarks.versus import homes, plots, queries, reading
from benchmarks.versus.contenders import Contender, check_equal
from benchmarks.versus.load import Plan, Result
from benchmarks.versus.queries import Request
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Reader, Stage
from benchmarks.versus.tables import spread, table

PAGES = (10, 30, 100)
LENGTHS = (50, 100, 200, 400, 800)  # of homes
DEPTHS = (0, 1, 2)  # of authors within authors
FEW = 8  # connections: processor time counts here, not throughput
GROUP = 20  # readers whose homes have one length

Found = dict[int, list[dict[str, Result]]]  # size → what each contender showed, turn by turn


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve: its requests for each size."""

    title: str
    across: str
    requests: dict[int, Sequence[Request]]


def pages(readers: Sequence[Reader]) -> Curve:
    """Return the curve over the size of a page."""
    return Curve(
        "Server CPU of a home page by its size",
        "entries asked for",
        {size: [queries.home(reader.token, size) for reader in readers] for size in PAGES},
    )


def nesting(readers: Sequence[Reader]) -> Curve:
    """Return the curve over the depth of a query; fields grow by three with each step."""
    return Curve(
        "Server CPU of a nested query by the fields it answers",
        "authors in the answer",
        {sum(10 * 3**i for i in range(d + 1)): [queries.nested(r.token, d) for r in readers] for d in DEPTHS},
    )


MEMBERS = Curve("Server CPU of a home page by the members of the site", "members", {})


async def lengths(stage: Stage, seed: int) -> Curve:
    """Return the curve over the length of the home; homes are cut to it, beginning with the longest."""
    requests: dict[int, Sequence[Request]] = {}
    for length in sorted(LENGTHS, reverse=True):
        group = await stage.readers(GROUP, length, seed)
        if group:
            await homes.cut(stage.db, [reader.member for reader in group], length)
            requests[length] = [queries.home(reader.token) for reader in group]
    requests = dict(sorted(requests.items()))
    return Curve("Server CPU of a home page by the length of the home", "entries of the home", requests)


async def measure(
    stage: Stage, contenders: Sequence[Contender], curve: Curve, effort: Effort, scratch: Path, charts: Path | None
) -> None:
    """Measure a curve over one store, print its table, and draw it where charts are wanted."""
    found: Found = {size: [] for size in curve.requests}
    for requests in curve.requests.values():
        check_equal(contenders, requests)
    for _ in tqdm(range(effort.rounds), desc=curve.across, leave=False):
        for size, requests in curve.requests.items():
            found[size].append(await turn(stage, contenders, requests, effort, scratch))
    report(curve, found, charts)


async def turn(
    stage: Stage, contenders: Sequence[Contender], requests: Sequence[Request], effort: Effort, scratch: Path
) -> dict[str, Result]:
    """Measure each contender once."""
    plan = Plan(FEW, effort.warmup, effort.seconds)
    plans = {contender.kind.name: plan for contender in contenders}
    return await reading.take_turns(stage, contenders, requests, plans, scratch)


def report(curve: Curve, found: Found, charts: Path | None) -> None:
    """Print the table of a curve, and draw it where charts are wanted."""
    costs = {
        name: {size: [turn[name].server_ms for turn in turns] for size, turns in found.items()}
        for name in next(iter(found.values()))[0]
    }
    print(f"\n### {curve.title}\n\nIn ms a request.")
    rows = [[f"{size:,}", *(spread(cost[size]) for cost in costs.values())] for size in found]
    table([curve.across, *costs], rows)
    if charts:
        series = {name: [(size, statistics.median(ms)) for size, ms in cost.items()] for name, cost in costs.items()}
        file = charts / f"{curve.across.replace(' ', '-')}.svg"
        plots.lines(file, curve.title, curve.across, "ms a request", series)
