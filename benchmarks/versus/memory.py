"""The memory of servers over very many requests."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from benchmarks.versus import contenders, load
from benchmarks.versus.contenders import Contender
from benchmarks.versus.load import MIB, LoadPlan
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import table

STEPS = 10


async def measure(
    stage: Stage, running: Sequence[Contender], requests: Sequence[Request], plan: LoadPlan, scratch: Path
) -> None:
    """Send the plan's amount of requests to each contender in steps, and print its memory after each."""
    step = replace(plan, amount=plan.amount // STEPS)
    rows = []
    for contender in tqdm(contenders.in_turn(running), total=len(running), desc="memory", leave=False):
        resident = [contender.memory / MIB]
        for _ in range(STEPS):
            await load.run(contender, stage, requests, step, scratch)
            resident.append(contender.memory / MIB)
        grown = resident[-1] - resident[STEPS // 2]
        rows.append([contender.kind.name, *(f"{mib:.1f}" for mib in resident), f"{grown:+.1f}"])
    print("\n### Memory of a server over its requests\n\nResident, MiB, after so many home pages.")
    table(["", *(f"{step.amount * i:,}" for i in range(STEPS + 1)), "growth, last half"], rows)
