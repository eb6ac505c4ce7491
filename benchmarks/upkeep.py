"""What a migration, a backup and a restore take, and what members notice of them: a mixed load runs meanwhile.

    python -m benchmarks.upkeep --members 5000 --posts 50000

The store is of the first layout, whose homes do not follow the rule by which reposts lift posts. Requests are due at
random moments. One that fails ends the benchmark. The last command, `verify`, looks at the restored copy.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import structlog

from benchmarks.versus import contenders, feeding, graph, load, mixing, stage
from benchmarks.versus.contenders import PERCH, ROOT, BenchmarkError, Contender
from benchmarks.versus.load import Plan, Result
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import ALL_PUSHED, SECRET, Stage
from benchmarks.versus.tables import table
from store import keys

SHARES = (60, 30, 10)  # home pages, profile pages and posts, of a hundred
READERS = 300
CONNECTIONS = 64
WARMUP_SECONDS = 2.0
LIFTED = {"REPOST_LIFT_HOURS": "0.0001"}  # the reposts of this site come too soon to lift anything by default


class Site:
    """A served site, and the load on it."""

    def __init__(self, opened: Stage, perch: Contender, requests: Sequence[Request], plan: Plan, folder: Path) -> None:
        self._opened, self._perch, self._requests, self._plan, self._folder = opened, perch, requests, plan, folder
        self._rows: list[list[str]] = []

    async def beside(self, *words: str) -> None:
        """Run a command of Perch under load, and take down what both took. Without words, the load runs alone."""
        loading = asyncio.create_task(
            load.run(
                self._perch, self._opened, self._requests, replace(self._plan, first=len(self._rows) / 8), self._folder
            )
        )
        await asyncio.sleep(self._plan.warmup)
        seconds, said = await command(*words, url=self._opened.url) if words else (0.0, "")
        result = await loading
        if seconds > self._plan.seconds:
            raise BenchmarkError(f"`{words[0]}` took {seconds:.0f} s, the load less: use --seconds")
        self._rows.append([words[0] if words else "nothing", f"{seconds:.1f}", *_figures(result), said])

    async def alone(self, *words: str, folder: Path) -> None:
        """Run a command of Perch on a store of its own, without load."""
        seconds, said = await command(*words, folder=folder)
        self._rows.append([words[0], f"{seconds:.1f}", "", "", "", said])

    def report(self) -> None:
        """Print a table of all that ran."""
        table(["command", "s", "requests answered meanwhile", "p50 ms", "p99 ms", "it says"], self._rows)


def _figures(result: Result) -> list[str]:
    return [f"{result.answered:,}, none failed", f"{result.p50:.1f}", f"{result.p99:.1f}"]


async def command(*words: str, url: str = "", folder: Path | None = None) -> tuple[float, str]:
    """Run a command of Perch on a store; returns the seconds that it took, and what it says in short."""
    place = {"REDIS_URL": url, "SECRET_KEY": SECRET} if url else {"DATA_DIR": str(folder)}
    environment = {**os.environ, **place, **LIFTED, "BIG_AUTHOR": str(ALL_PUSHED), "LOG_LEVEL": "ERROR"}
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "server.py", *words, "--json"),
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    if process.returncode:
        raise BenchmarkError(f"`{words[0]}` ends with status {process.returncode}: {(out + err).decode()[-600:]}")
    said: dict[str, Any] = json.loads(out)
    shown = {name: value for name, value in said.items() if isinstance(value, (int, float, str))}
    return time.perf_counter() - began, ", ".join(f"{name} {value}" for name, value in shown.items())


async def main(asked: argparse.Namespace) -> None:
    """Run the benchmark and print its table."""
    with contenders.temporary_folder() as name:
        folder = Path(name)
        network = graph.generated(asked.members, asked.posts, asked.seed)
        async with stage.opened(folder / "store") as opened:
            await opened.load(network)
            readers = await opened.readers(READERS, 0, asked.seed)
            await feeding.prepare(opened, readers, asked.seed)
            await opened.db.one("DEL", keys.layout())
            print(f"{len(network.members):,} members, {await opened.db.one('DBSIZE'):,} keys, {asked.rate} requests/s")
            async with contenders.running(opened, [replace(PERCH, settings=LIFTED)]) as (perch,):
                plan = Plan(CONNECTIONS, WARMUP_SECONDS, asked.seconds, rate=asked.rate)
                site = Site(opened, perch, mixing.mixed(network, readers, SHARES), plan, folder)
                await site.beside()
                await site.beside("migrate")
                await site.beside("backup", str(folder / "backup"))
                await site.alone("restore", str(folder / "backup"), folder=folder / "restored")
                await site.alone("verify", folder=folder / "restored")
                site.report()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    parser = argparse.ArgumentParser(
        "python -m benchmarks.upkeep", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--members", type=int, default=5_000)
    parser.add_argument("--posts", type=int, default=50_000)
    parser.add_argument("--rate", type=float, default=300, help="requests a second")
    parser.add_argument("--seconds", type=float, default=60, help="of load beside each command")
    parser.add_argument("--seed", type=int, default=1)
    try:
        asyncio.run(main(parser.parse_args()))
    except BenchmarkError as error:
        sys.exit(f"upkeep: {error}")
