"""The command line: `python -m benchmarks.versus --help`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import platform
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import structlog

from benchmarks import versus
from benchmarks.versus import contenders, graph, mixing, processors, queries, reading, stage, writing
from benchmarks.versus.contenders import BenchmarkError
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Stage
from resolvers.imports import Network

READERS = 500  # whose tokens take turns
PAGE = 30
PROFILES_CHECKED = 300


@dataclass(frozen=True, slots=True)
class Run:
    """What was asked for, and the store it is measured on."""

    stage: Stage
    network: Network
    asked: argparse.Namespace
    scratch: Path

    @property
    def effort(self) -> Effort:
        return Effort(self.asked.rounds, self.asked.seconds, self.asked.warmup, self.asked.connections)

    @property
    def kinds(self) -> list[contenders.Kind]:
        return [contenders.ALL[name] for name in self.asked.contenders]


async def home(run: Run) -> None:
    """Measure the first page of the home."""
    readers = await run.stage.readers(READERS, PAGE, run.asked.seed)
    requests = [queries.home(reader.token) for reader in readers]
    async with contenders.running(run.stage, run.kinds) as running:
        size = contenders.check_equal(running, requests)
        print(f"\n{len(requests)} homes, {size / len(requests):,.0f} bytes each: all contenders answer the same bytes.")
        await reading.measure("A home page of 30", run.stage, running, requests, run.effort, run.scratch)


async def mixed(run: Run) -> None:
    """Measure home pages, profile pages and posts mixed."""
    readers = await run.stage.readers(READERS, PAGE, run.asked.seed)
    requests = mixing.mixed(run.network, readers)
    async with contenders.running(run.stage, run.kinds) as running:
        contenders.check_equal(running, mixing.profiles(run.network, readers, PROFILES_CHECKED))
        await mixing.check_posts(run.stage, running, readers)
        await reading.measure(
            "60 % home pages, 30 % profile pages, 10 % posts", run.stage, running, requests, run.effort, run.scratch
        )


async def writes(run: Run) -> None:
    """Measure posts to many followers, and likes."""
    await writing.load(run.stage, run.asked.followers)
    readers = await run.stage.readers(READERS, PAGE, run.asked.seed)
    async with contenders.running(run.stage, [contenders.PERCH]) as (perch,):
        await writing.posts(run.stage, perch, run.asked.followers, run.asked.rounds)
        await writing.likes(run.stage, perch, readers, run.asked.rounds)


PARTS: dict[str, Callable[[Run], Awaitable[None]]] = {"home": home, "mixed": mixed, "writes": writes}


async def main(asked: argparse.Namespace) -> None:
    """Run what was asked for."""
    contenders.need_node()
    processors.pin(psutil.Process(), processors.LOAD)
    with contenders.temporary_folder() as folder:
        scratch = Path(folder)
        if asked.graph:
            network = graph.read(asked.graph, asked.posts, asked.seed, scratch)
        else:
            network = graph.generated(asked.members, asked.posts, asked.seed)
        print(f"{platform.platform()}, {os.cpu_count()} processors, Python {platform.python_version()}")
        print("servers on one, store and load on another" if processors.can_pin() else "NOT PINNED", flush=True)
        async with stage.opened(scratch) as opened:
            await opened.load(network)
            print(f"{len(network.members):,} members, {network.edges:,} follows, {network.total:,} posts")
            for part in asked.parts or PARTS:
                await PARTS[part](Run(opened, network, asked, scratch))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.versus", description=versus.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all of them by default")
    parser.add_argument("--rounds", type=int, default=5, help="turns that each contender has")
    parser.add_argument("--seconds", type=float, default=10, help="length of a turn")
    parser.add_argument("--warmup", type=float, default=2, help="seconds before it that are not measured")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--contenders", nargs="+", choices=contenders.ALL, default=[*contenders.ALL])
    parser.add_argument(
        "--graph", type=Path, help="a list of edges as `server.py import` takes it, not an invented one"
    )
    parser.add_argument("--members", type=int, default=4_000, help="of the invented network")
    parser.add_argument("--posts", type=int, default=20_000)
    parser.add_argument(
        "--followers", type=int, nargs="+", default=[10, 1_000, 10_000, 100_000], help="of the authors of `writes`"
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        asyncio.run(main(_parser().parse_args()))
    except BenchmarkError as error:
        sys.exit(f"versus: {error}")
