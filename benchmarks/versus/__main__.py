"""The command line: `python -m benchmarks.versus --help`."""

import argparse
import asyncio
import logging
import os
import platform
import sys
from pathlib import Path

import psutil
import structlog

from benchmarks import pages, versus
from benchmarks.pages import PageError
from benchmarks.versus import contenders, processors, stage
from benchmarks.versus.contenders import BenchmarkError
from benchmarks.versus.parts import PARTS, VersusRun

COMMAND, FIGURES = "benchmarks.versus", "figures"


async def main(asked: argparse.Namespace) -> None:
    """Run what was asked for."""
    processors.pin(psutil.Process(), processors.LOAD)
    chosen = [name for name in PARTS if name in asked.parts or not asked.parts]  # in an order in which none disturbs
    for name in [*chosen, FIGURES] if asked.page else ():
        pages.divide(asked.page, f"{COMMAND} {name}")
    with contenders.temporary_folder() as folder:
        scratch = Path(folder)
        async with stage.opened(scratch, asked.python) as opened:
            run = VersusRun(opened, asked, scratch)
            with pages.filling(asked.page, COMMAND):
                print(f"{processors.model()}, {os.cpu_count()} processors, {platform.platform()};")
                print(f"Node {contenders.need_node()};")
                for kind in run.kinds(contenders.CHECKOUT):
                    print(f"{kind.name} on Python {contenders.python_of(kind, asked.python)};")
                print("servers on one, store and load on another;" if processors.can_pin() else "NOT PINNED;")
                print(f"{asked.rounds} turns of {asked.seconds:g} s", flush=True)
            for name in chosen:
                with pages.filling(asked.page, f"{COMMAND} {name}"):
                    await PARTS[name](run)
            with pages.filling(asked.page, f"{COMMAND} {FIGURES}"):
                run.figures.print()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        f"python -m {COMMAND}", description=versus.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    listed = "; ".join(f"{name}: {part.__doc__}" for name, part in PARTS.items())
    add("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=f"all of them by default. {listed}")
    add("--rounds", type=int, default=3, help="turns that each contender has")
    add("--seconds", type=float, default=8, help="length of a turn")
    add("--warmup", type=float, default=2, help="seconds before it that are not measured")
    add("--connections", type=int, default=32)
    add("--contenders", nargs="+", choices=contenders.ALL, default=[*contenders.ALL])
    add("--python", default=sys.executable, metavar="FILE", help="that runs Perch, such as one of a newer version")
    beside = "measure another checkout of Perch, too, such as an older one; on the Python of its .venv, if it has one"
    add("--beside", type=Path, metavar="FOLDER", help=beside)
    add("--members", type=int, default=2_000, help="of the invented network")
    add("--posts", type=int, default=20_000)
    add("--seed", type=int, default=1)
    add("--followers", type=int, nargs="+", default=[10, 1_000, 10_000, 100_000], help="of the authors of `writes`")
    add("--requests", type=int, default=200_000, help="of `memory`")
    add("--subscribers", type=int, default=900, help="of `events`")
    add("--crowd", type=int, default=200_000, help="members of the site of `many_members`")
    add("--page", type=Path, metavar="FILE", help="put the output between the marks of this page")
    return parser


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        asyncio.run(main(_parser().parse_args()))
    except (BenchmarkError, PageError) as error:
        sys.exit(f"versus: {error}")
