"""The command line: `python -m benchmarks.versus --help`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import logging
import os
import platform
import sys
from pathlib import Path
from typing import TextIO

import psutil
import structlog

from benchmarks import versus
from benchmarks.versus import contenders, graph, processors, stage
from benchmarks.versus.contenders import BenchmarkError
from benchmarks.versus.parts import PARTS, USUAL, Run

ALL = "all"


async def main(asked: argparse.Namespace) -> None:
    """Run what was asked for."""
    processors.pin(psutil.Process(), processors.LOAD)
    with contenders.temporary_folder() as folder:
        scratch = Path(folder)
        if asked.graph:
            network = graph.read(asked.graph, asked.posts, asked.seed, scratch)
        else:
            network = graph.generated(asked.members, asked.posts, asked.seed)
        print("## Perch beside other ways to build it\n")
        print(f"{processors.model()}, {os.cpu_count()} processors, {platform.platform()};")
        print(f"Python {platform.python_version()}, Node {contenders.need_node()};")
        print("servers on one, store and load on another" if processors.can_pin() else "NOT PINNED", flush=True)
        async with stage.opened(scratch) as opened:
            await opened.load(network)
            print(f"{len(network.members):,} members, {network.edges:,} follows, {network.total:,} posts")
            chosen = asked.parts or USUAL
            for name, part in PARTS.items():  # always in the same order, since some disturb others
                if ALL in chosen or name in chosen:
                    await part(Run(opened, network, asked, scratch))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.versus", description=versus.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    listed = "; ".join(f"{name}: {part.__doc__}" for name, part in PARTS.items())
    said = f"{' '.join(USUAL)} by default, {ALL} for all. {listed}"
    add("parts", nargs="*", choices=[*PARTS, ALL, []], metavar="PART", help=said)
    add("--rounds", type=int, default=5, help="turns that each contender has")
    add("--seconds", type=float, default=10, help="length of a turn")
    add("--warmup", type=float, default=2, help="seconds before it that are not measured")
    add("--connections", type=int, default=32)
    add("--contenders", nargs="+", choices=contenders.ALL, default=[*contenders.ALL])
    add("--beside", type=Path, metavar="FOLDER", help="measure another checkout of Perch, too, such as an older one")
    add(
        "--graph", type=Path, metavar="FILE", help="a list of edges as `server.py import` takes it, not an invented one"
    )
    add("--members", type=int, default=2_000, help="of the invented network")
    add("--posts", type=int, default=20_000)
    add("--seed", type=int, default=1)
    add("--followers", type=int, nargs="+", default=[10, 1_000, 10_000, 100_000], help="of the authors of `writes`")
    add("--amount", type=int, default=200_000, help="requests of `many`")
    add("--requests", type=int, default=200_000, help="of `memory`")
    add("--processes", type=int, nargs="+", default=[1, 2], help="server processes of `processes`")
    add("--sizes", type=int, nargs="+", default=[500, 2_000, 8_000], help="members of the sites of `members`")
    add("--crowd", type=int, default=200_000, help="members of the site of `many_members`")
    add("--charts", type=Path, metavar="FOLDER", help="draw curves as SVG there")
    add("--markdown", type=Path, metavar="FILE", help="write there, too, what is printed")
    return parser


class Copied(io.TextIOBase):
    """Writes to standard output and to a file."""

    def __init__(self, *files: TextIO) -> None:
        self._files = files

    def write(self, text: str) -> int:
        """Write to both."""
        for file in self._files:
            file.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush both."""
        for file in self._files:
            file.flush()


def run(asked: argparse.Namespace) -> None:
    """Run what was asked for, and keep what is printed where that was asked for."""
    with contextlib.ExitStack() as stack:
        if asked.markdown:
            file = stack.enter_context(asked.markdown.open("w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(Copied(sys.stdout, file)))
        asyncio.run(main(asked))


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        run(_parser().parse_args())
    except BenchmarkError as error:
        sys.exit(f"versus: {error}")
