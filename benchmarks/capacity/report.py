"""The tables of the output, in Markdown."""

import math
from collections.abc import Sequence

import msgspec

from benchmarks.capacity import limits
from benchmarks.capacity.activity import Activity, Machines, options
from benchmarks.capacity.checking import PredictionCheck
from benchmarks.capacity.costs import Costs, Cpu
from benchmarks.capacity.plan import Plan
from benchmarks.versus.tables import table

GIB = 2**30


def assumptions(activity: Activity, machines: Machines) -> None:
    """Print what was assumed."""
    print("\n### Assumptions\n\nEach is an option of the command.")
    rows = [
        [f"`--{name.replace('_', '-')}`", f"{getattr(chosen, name):,g}", meaning]
        for chosen in (activity, machines)
        for name, _, meaning in options(type(chosen))
    ]
    table(["option", "value", "meaning"], rows)


def costs(measured: Costs) -> None:
    """Print what was measured."""
    print("\n### Bytes of each unit\n\nThe last two are of the Perch process, the others of the store.")
    table(
        ["unit", "bytes"],
        [[_words(name), f"{value:,.0f}"] for name, value in msgspec.structs.asdict(measured.memory).items()],
    )
    print("\n### Processor time of each operation\n")
    timed: dict[str, Cpu] = msgspec.structs.asdict(measured.operations)
    rows = [[_words(name), f"{cpu.server:,.1f}", f"{cpu.store:,.1f}"] for name, cpu in timed.items()]
    rows += [
        [f"shared: {_words(name)}", "", f"{us:,.1f}"] for name, us in msgspec.structs.asdict(measured.shared).items()
    ]
    table(["operation", "server, µs", "store, µs"], rows)


def plans(made: Sequence[Plan]) -> None:
    """Print the plan for each number of members, and what binds first."""
    print("\n### The plan\n")
    table(
        ["", *(_members(plan.members) for plan in made)], [[name, *map(value, made)] for name, value in _ROWS.items()]
    )
    print("\n### Where the memory and the time go\n")
    kinds = [*made[0].memory]
    rows = [
        [f"memory of the store: {kind}", *(_share(p.memory[kind], sum(p.memory.values())) for p in made)]
        for kind in kinds
    ]
    for side in ("server", "store"):
        rows += [
            [f"time of the {side}: {what}", *(_share(getattr(p.cpu[what], side), _total(p, side)) for p in made)]
            for what in made[0].cpu
        ]
    table(["", *(_members(plan.members) for plan in made)], rows)


def bounds(made: Sequence[Plan]) -> None:
    """Print how much of each limit the plans use, from which number of members it binds, and what to do then."""
    print("\n### Limits that more nodes do not raise\n\nShare that is used; from 100 % on, the limit binds.")
    ordered = sorted(limits.LIMITS, key=lambda limit: limits.binds_at(made[-1], limit))
    rows = [
        [
            limit.name,
            *(f"{limit.used(plan):.1%}" for plan in made),
            _members(limits.binds_at(made[-1], limit)),
            limit.remedy,
        ]
        for limit in ordered
    ]
    table(["limit", *(_members(plan.members) for plan in made), "binds at", "what to do then"], rows)
    print(f"The first limit to bind is the {ordered[0].name}.\n" if not ordered[0].name.startswith("one") else "")


def checks(measured: Sequence[PredictionCheck]) -> None:
    """Print predictions beside measurements."""
    print("\n### Prediction and measurement\n\nOn sites of sizes that no unit was measured on.")
    rows = [
        [f"{one.members:,}", one.what, f"{one.predicted:,.1f}", f"{one.measured:,.1f}", f"{one.error:+.1%}"]
        for one in measured
    ]
    table(["members", "", "predicted", "measured", "error"], rows)


def _members(count: float) -> str:
    if count == math.inf:
        return "beyond 10 billion"
    return f"{count / 1e6:,.1f} million".replace(".0 ", " ") if count >= 1e6 else f"{count:,.0f}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else ""


def _total(plan: Plan, side: str) -> float:
    return float(sum(getattr(cpu, side) for cpu in plan.cpu.values()))


_ROWS = {
    "primaries": lambda p: f"{p.nodes:,}",
    "primaries for memory, for time": lambda p: f"{p.nodes_for_memory:,}, {p.nodes_for_cpu:,}",
    "store nodes with replicas": lambda p: f"{p.servers:,}",
    "memory of all primaries, GiB": lambda p: f"{sum(p.memory.values()) / GIB:,.1f}",
    "Perch processes": lambda p: f"{p.processes:,}" if p.processes < math.inf else "no number is enough",
    "memory of a process, MiB": lambda p: f"{p.process_bytes / 2**20:,.0f}",
    "processors of the store, busy": lambda p: f"{p.store_cpu:,.1f}",
    "home pages a second": lambda p: f"{p.rate(p.activity.home_pages):,.0f}",
    "posts a second": lambda p: f"{p.rate(p.activity.posts):,.1f}",
    "homes that a post is pushed to": lambda p: f"{p.fan_out:,.0f}",
    "big authors that a member follows": lambda p: f"{p.big_followed:,.1f}",
    "records found in the cache": lambda p: f"{p.hit_ratio:.0%}",
    "live subscribers": lambda p: f"{p.subscribers:,.0f}",
    "events delivered a second": lambda p: f"{p.deliveries:,.0f}",
    "first limit": lambda p: f"{limits.first(p).name}: {limits.first(p).used(p):.0%}",
}
