"""Measures the parts of a home page against a budget: the whole may take half of the time that Mercurius takes.

Perch is measured whole, and cut short at three places (`benchmarks.rivals.altered`). These are after aiohttp has read a
request, before the request layer executes it, and before the page is read. Each of the three answers from memory with
as many bytes. A fourth variant, whose store answers from memory, gets an empty query: that measures a document and its
plan.

Costs are differences between medians of processor time per request, the kernel's time for sockets included, so together
they are the whole. Writing JSON is too small for a difference, so it is called directly in this process. The same pages
are read again and again, so their records are cached. Many pages share a round trip, so its cost cannot be separated
from the processing of its replies.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from benchmarks.rivals.altered import SIZE
from benchmarks.versus import contenders, load
from benchmarks.versus.contenders import MERCURIUS, PERCH, PERCH_CUT, BenchmarkError, Contender, Kind
from benchmarks.versus.load import Plan, Result
from benchmarks.versus.queries import Request
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import table
from schema.execution.encoding import encode

DIRECT = 20  # passes over all pages in direct calls
NOTHING = "query Nothing { __typename }"
IDLE_MS = (
    0.03  # of the store's time per request, which is reported in steps of 10 ms; above it, a cut reaches the store
)

WHOLE, REPLIES, PAGES, REQUESTS, CONSTANT = (
    PERCH,
    Kind("without the store", [*PERCH_CUT, "replies"]),
    Kind("without reading pages", [*PERCH_CUT, "pages"]),
    Kind("the request layer alone", [*PERCH_CUT, "requests"]),
    Kind("aiohttp alone", [*PERCH_CUT, "constant"]),
)
BUDGET = {  # part → its share of half of what Mercurius takes
    "HTTP, parsed and answered by aiohttp": 0.15,
    "the request layer: headers, token, body, context": 0.10,
    "document and plan": 0.10,
    "round trips and look-ups, visibility, placement": 0.45,
    "rows": 0.15,
    "JSON": 0.05,
}


async def measure(stage: Stage, requests: Sequence[Request], effort: Effort, scratch: Path) -> None:
    """Measure the whole and the cuts in turns, and print the table."""
    async with contenders.running(stage, [PERCH]) as (perch,):
        answers = [perch.ask(request) for request in requests]
    size = {SIZE: str(round(statistics.mean(map(len, answers))))}
    cuts = [replace(kind, settings=size) for kind in (REPLIES, PAGES, REQUESTS, CONSTANT)]
    nothing = [replace(request, document=NOTHING, variables={}) for request in requests]
    async with contenders.running(stage, [PERCH, MERCURIUS, *cuts]) as running:
        for _ in range(2):  # the second time from memory
            contenders.check_equal([running[0], *running[2:4]], requests)
        asked = {one.kind.name: (one, nothing if one.kind.name == REPLIES.name else requests) for one in running}
        found = await _take_turns(stage, asked, effort, scratch)
    for name in (REPLIES.name, PAGES.name, REQUESTS.name, CONSTANT.name):
        if _median(found[name], lambda r: r.store_ms) > IDLE_MS:
            raise BenchmarkError(f"{name}: the store is asked all the same")
    costs = {name: _median(results, lambda r: r.server_ms * 1000) for name, results in found.items()}
    _report(costs, _json(answers))


async def _take_turns(
    stage: Stage, asked: dict[str, tuple[Contender, Sequence[Request]]], effort: Effort, scratch: Path
) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {name: [] for name in asked}
    plan = Plan(effort.connections, effort.warmup, effort.seconds)
    for contender, _ in asked.values():
        contender.pause()
    for _ in tqdm(range(effort.rounds), desc="budget", leave=False):
        for name, (contender, requests) in asked.items():
            contender.resume()
            found[name].append(await load.run(contender, stage, requests, plan, scratch))
            contender.pause()
    return found


def _median(results: Sequence[Result], value: Callable[[Result], float]) -> float:
    return statistics.median(map(value, results))


def _json(answers: Sequence[bytes]) -> float:
    """Return the time to encode the response of a page, µs."""
    values = [json.loads(answer) for answer in answers]

    def write() -> None:
        for value in values:
            encode(value)

    return _direct(write) / len(values)


def _direct(call: Callable[[], None]) -> float:
    call()
    began = time.process_time()
    for _ in range(DIRECT):
        call()
    return (time.process_time() - began) / DIRECT * 1e6


def _report(costs: dict[str, float], written: float) -> None:
    whole, half = costs[PERCH.name], costs[MERCURIUS.name] / 2
    parts = [
        costs[CONSTANT.name],
        costs[REQUESTS.name] - costs[CONSTANT.name],
        costs[REPLIES.name] - costs[REQUESTS.name],
        whole - costs[PAGES.name],
        costs[PAGES.name] - costs[REPLIES.name] - written,
        written,
    ]
    rows = [
        [name, f"{share * half:,.0f}", f"{cost:,.0f}", f"{cost / (share * half):.2f}", f"{cost / whole:.0%}"]
        for (name, share), cost in zip(BUDGET.items(), parts, strict=True)
    ]
    rows.append(["all", f"{half:,.0f}", f"{whole:,.0f}", f"{whole / half:.2f}", "100%"])
    print(
        "\n### What a home page of 30 may cost, and does\n\nIn µs of the server's processor time."
        f" {MERCURIUS.name} takes {costs[MERCURIUS.name]:,.0f}; the budget is half of that."
    )
    table(["part", "may cost", "costs", "costs / may", "share"], rows)
