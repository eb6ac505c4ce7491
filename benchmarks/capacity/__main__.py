"""The command line: `python -m benchmarks.capacity --help`."""

import argparse
import asyncio
import logging
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import psutil
import structlog

from benchmarks import capacity, pages
from benchmarks.capacity import checking, costs, measuring, report
from benchmarks.capacity.activity import Activity, Machines, options
from benchmarks.capacity.checking import PredictionCheck
from benchmarks.capacity.costs import Costs
from benchmarks.capacity.metering import SampleSize
from benchmarks.capacity.plan import Plan
from benchmarks.capacity.shape import Shape
from benchmarks.pages import PageError
from benchmarks.versus import contenders, processors
from benchmarks.versus.contenders import BenchmarkError

EXPONENT, MOST_FOLLOWED = 1.10, 0.055  # of the retweet network "Higgs Twitter" (De Domenico et al., 2013)

Assumptions = TypeVar("Assumptions", Activity, Machines)


async def main(asked: argparse.Namespace) -> None:
    """Measure, plan and check what was asked for."""
    measured, checks = await _measured(asked)
    if asked.costs and not asked.costs.exists():
        costs.write(asked.costs, measured)
    activity, machines = _chosen(Activity, asked), _chosen(Machines, asked)
    shapes = [Shape(int(members), activity.follows, EXPONENT, MOST_FOLLOWED) for members in sorted(asked.members)]
    plans = [Plan(shape, activity, machines, measured) for shape in shapes]
    print(
        f"{processors.model()}, {os.cpu_count()} processors, {platform.platform()}; Python {platform.python_version()}."
    )
    print(
        f"The site that was measured has {asked.size:,} members. Followers fall with rank by the power {EXPONENT:.2f}."
    )
    print(f"The most followed member has {MOST_FOLLOWED:.1%} of all members.")
    report.plans(plans)
    report.bounds(plans)
    report.costs(measured)
    report.checks(checks)
    report.assumptions(activity, machines)


async def _measured(asked: argparse.Namespace) -> tuple[Costs, list[PredictionCheck]]:
    """Return the costs, from a file where there is one, and the checks."""
    fans = (min(asked.followers), max(asked.followers))
    size = SampleSize(asked.size, asked.requests, asked.rounds, fans, asked.subscribers, asked.seed)
    processors.pin(psutil.Process(), processors.LOAD)
    with contenders.temporary_folder() as folder:
        scratch = Path(folder)
        known = asked.costs and asked.costs.exists()
        measured = costs.read(asked.costs) if known else await measuring.measure(size, scratch)
        checks = [
            one
            for members in asked.check
            for one in await checking.check(measured, replace(size, members=members), scratch)
        ]
    return measured, checks


def _chosen(kind: type[Assumptions], asked: argparse.Namespace) -> Assumptions:
    return kind(**{name: getattr(asked, name) for name, _, _ in options(kind)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.capacity",
        description=capacity.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--members", type=float, nargs="+", default=[1e6, 1e7, 1e8], help="of the sites that are planned")
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
    with pages.filling(asked.page, "benchmarks.capacity"):
        asyncio.run(main(asked))


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        run(_parser().parse_args())
    except (BenchmarkError, PageError) as error:
        sys.exit(f"capacity: {error}")
