"""The command line: `python -m benchmarks.capacity --help`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import logging
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import psutil
import structlog

from benchmarks import capacity
from benchmarks.capacity import checking, costs, measuring, page, report
from benchmarks.capacity.activity import Activity, Machines, options
from benchmarks.capacity.checking import Check
from benchmarks.capacity.costs import Costs
from benchmarks.capacity.plan import Plan
from benchmarks.capacity.processes import Effort
from benchmarks.capacity.shape import Shape, fit
from benchmarks.versus import contenders, processors
from benchmarks.versus.__main__ import Copied
from benchmarks.versus.contenders import BenchmarkError

EXPONENT, MOST_FOLLOWED = 1.10, 0.055  # of the retweet network "Higgs Twitter" (De Domenico et al., 2013): `--graph`

Kind = TypeVar("Kind", Activity, Machines)


async def main(asked: argparse.Namespace) -> None:
    """Measure, plan and check what was asked for."""
    found, checks = await _measured(asked)
    if asked.costs and not asked.costs.exists():
        costs.write(asked.costs, found)
    exponent, most = fit(asked.graph) if asked.graph else (EXPONENT, MOST_FOLLOWED)
    activity, machines = _chosen(Activity, asked), _chosen(Machines, asked)
    shapes = [Shape(int(members), activity.follows, exponent, most) for members in sorted(asked.members)]
    plans = [Plan(shape, activity, machines, found) for shape in shapes]
    print(
        f"{processors.model()}, {os.cpu_count()} processors, {platform.platform()}; Python {platform.python_version()}."
    )
    print(
        f"The site that was measured has {asked.size:,} members. Followers fall with rank by the power {exponent:.2f}."
    )
    print(f"The most followed member has {most:.1%} of all members.")
    report.plans(plans)
    report.bounds(plans)
    report.costs(found)
    report.checks(checks)
    report.assumptions(activity, machines)


async def _measured(asked: argparse.Namespace) -> tuple[Costs, list[Check]]:
    """Return the costs, from a file where there is one, and the checks."""
    contenders.need_node()
    fans = (min(asked.followers), max(asked.followers))
    effort = Effort(asked.size, asked.requests, asked.rounds, fans, asked.subscribers, asked.seed)
    processors.pin(psutil.Process(), processors.LOAD)
    with contenders.temporary_folder() as folder:
        scratch = Path(folder)
        known = asked.costs and asked.costs.exists()
        found = costs.read(asked.costs) if known else await measuring.measure(effort, scratch)
        checks = [
            one for size in asked.check for one in await checking.check(found, replace(effort, members=size), scratch)
        ]
    return found, checks


def _chosen(kind: type[Kind], asked: argparse.Namespace) -> Kind:
    return kind(**{name: getattr(asked, name) for name, _, _ in options(kind)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.capacity",
        description=capacity.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--members", type=float, nargs="+", default=[1e6, 1e7, 1e8], help="of the sites that are planned")
    add("--graph", type=Path, metavar="FILE", help="a list of edges, whose shape is assumed: follower TAB followed")
    for kind in (Activity, Machines):
        for name, default, meaning in options(kind):
            add(f"--{name.replace('_', '-')}", type=float, default=default, help=f"{meaning} ({default:g})")
    add("--size", type=int, default=3_000, help="members of the site that is measured")
    add("--check", type=int, nargs="*", default=[1_000, 6_000], help="members of the sites that are predicted")
    add("--requests", type=int, default=1_000, help="of one round")
    add("--rounds", type=int, default=3)
    add("--followers", type=int, nargs=2, default=[10, 2_000], help="of two authors, whose posts are compared")
    add("--subscribers", type=int, default=100, help="live homes")
    add("--seed", type=int, default=1)
    add(
        "--costs", type=Path, metavar="FILE", help="read what was measured there; measure and write it if there is none"
    )
    add("--page", type=Path, metavar="FILE", help="put the output between the marks of this page")
    return parser


def run(asked: argparse.Namespace) -> None:
    """Run what was asked for, and put the output into a page where that was asked for."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(Copied(sys.stdout, printed)):
        asyncio.run(main(asked))
    if asked.page:
        page.fill(asked.page, printed.getvalue())


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        run(_parser().parse_args())
    except BenchmarkError as error:
        sys.exit(f"capacity: {error}")
