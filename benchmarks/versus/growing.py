"""What a home page costs as the site grows: curves, as tables and charts."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from benchmarks.versus import plots, queries, reading
from benchmarks.versus.contenders import Contender, check_equal
from benchmarks.versus.load import Plan, Result
from benchmarks.versus.queries import Request
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Reader, Stage
from benchmarks.versus.tables import spread, table
from store import keys

PAGES = (10, 30, 100)
LENGTHS = (50, 100, 200, 400, 800)  # of homes
DEPTHS = (0, 1, 2)  # of authors within authors
FEW = 8  # connections: processor time counts here, not throughput
GROUP = 20  # readers whose homes have one length


@dataclass(frozen=True, slots=True)
class Curve:
    """What is drawn over what: for each size the requests that measure it."""

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


async def lengths(stage: Stage, seed: int) -> Curve:
    """Return the curve over the length of the home; homes are cut to it, beginning with the longest."""
    requests: dict[int, Sequence[Request]] = {}
    for length in sorted(LENGTHS, reverse=True):
        group = await stage.readers(GROUP, length, seed)
        await stage.db.ask(*(("ZREMRANGEBYRANK", keys.home(r.member), 0, -1 - length) for r in group), ("PING",))
        if group:
            requests[length] = [queries.home(reader.token) for reader in group]
    requests = dict(sorted(requests.items()))
    return Curve("Server CPU of a home page by the length of the home", "entries of the home", requests)


async def measure(
    stage: Stage, contenders: Sequence[Contender], curve: Curve, effort: Effort, scratch: Path, charts: Path | None
) -> None:
    """Measure a curve, print its table, and draw it where charts are wanted."""
    for requests in curve.requests.values():
        check_equal(contenders, requests)
    plan = Plan(FEW, effort.warmup, effort.seconds)
    found: dict[int, dict[str, list[Result]]] = {size: {c.kind.name: [] for c in contenders} for size in curve.requests}
    for _ in tqdm(range(effort.rounds), desc=curve.across, leave=False):
        for size, requests in curve.requests.items():
            plans = {contender.kind.name: plan for contender in contenders}
            turn = await reading.take_turns(stage, contenders, requests, plans, scratch)
            for name, result in turn.items():
                found[size][name].append(result)
    names = [contender.kind.name for contender in contenders]
    rows = [
        [f"{size:,}", *(spread([r.server_ms for r in results[name]]) for name in names)]
        for size, results in found.items()
    ]
    print(f"\n### {curve.title}\n\nIn ms a request.")
    table([curve.across, *names], rows)
    if charts:
        series = {
            name: [(size, statistics.median(r.server_ms for r in found[size][name])) for size in found]
            for name in names
        }
        file = charts / f"{curve.across.replace(' ', '-')}.svg"
        plots.lines(file, curve.title, curve.across, "ms a request", series)
