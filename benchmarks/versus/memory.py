"""The memory of servers over very many requests."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from benchmarks.versus import contenders, load
from benchmarks.versus.contenders import ContenderKind
from benchmarks.versus.generator import LoadPlan
from benchmarks.versus.load import MIB
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import table

STEPS = 10


async def measure(
    stage: Stage, kinds: Sequence[ContenderKind], requests: Sequence[Request], plan: LoadPlan, scratch: Path
) -> dict[str, str]:
    """Send the plan's amount of requests to each contender in steps, and print its memory after each.

    Returns the memory half way and at the end, by contender.
    """
    step = replace(plan, amount=plan.amount // STEPS)
    resident: dict[str, list[float]] = {}
    for kind in tqdm(kinds, desc="memory", leave=False):
        async with contenders.alone(stage, kind) as contender:
            resident[kind.name] = [contender.memory / MIB]
            for _ in range(STEPS):
                await load.run(contender, stage, requests, step, scratch)
                resident[kind.name].append(contender.memory / MIB)
    print("\n### Memory of a server over its requests\n\nResident, MiB, after so many home pages.")
    rows = [[name, *(f"{mib:.1f}" for mib in all_of_it)] for name, all_of_it in resident.items()]
    table(["", *(f"{step.amount * i:,}" for i in range(STEPS + 1))], rows)
    return {name: f"{mib[STEPS // 2]:.0f}, {mib[-1]:.0f} MiB" for name, mib in resident.items()}
