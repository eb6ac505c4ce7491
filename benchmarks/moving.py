"""Moves a site into a cluster while members post, like and read; counts what was written, refused and lost.

Run it from a checkout with Perch and its extra `bench` installed:

    python -m benchmarks.moving --graph FILE --posts 20000

It starts a server and an embedded cluster in folders that are removed at the end. The members' requests go on from the
first key that is copied until Perch has been started with the cluster, and are repeated there. So the longest time
without a write includes the start of that process, and `verify`, which runs while writes are refused.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from aiohttp import ClientError, ClientSession

from benchmarks.versus import contenders, graph, queries, stage
from benchmarks.versus.contenders import ROOT, BenchmarkError
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import ALL_PUSHED, SECRET, Reader, Stage
from benchmarks.versus.tables import table
from benchmarks.versus.writing import identity
from store import keys
from store.client.database import Command, Database
from store.embedded.cluster import attach_cluster
from store.settings import Settings

READERS = 200  # members who send requests
SHARES = {"home": 0.6, "post": 0.2, "like": 0.2}  # of the requests
PAUSE = 0.05  # s before a request that was refused is repeated
AFTER_SECONDS = 3  # of load on the cluster
UNAVAILABLE = 503


@dataclass
class Load:
    """Members who send requests, and repeat each until it is answered."""

    readers: Sequence[Reader]
    posts: Sequence[int]  # that can be liked
    seed: int
    port: int = 0
    made: list[int] = field(default_factory=list)  # posts
    liked: set[tuple[int, int]] = field(default_factory=set)  # post and member
    refused: int = 0
    longest: float = 0.0  # s without a write
    _last: float = field(default_factory=time.monotonic)

    async def run(self, clients: int) -> None:
        """Send requests until cancelled."""
        async with ClientSession() as session, asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(self._send_on(session, random.Random(self.seed + number)))  # noqa: S311

    async def _send_on(self, session: ClientSession, dice: random.Random) -> None:
        while True:
            reader, (kind,) = dice.choice(self.readers), dice.choices([*SHARES], [*SHARES.values()])
            liked = dice.choice(self.posts)
            match kind:
                case "home":
                    request = queries.home(reader.token)
                case "post":
                    request = queries.post(reader.token, "posted during the move")
                case _:
                    request = queries.like(reader.token, identity(liked))
            while (data := await self._answer(session, request)) is None:
                self.refused += 1
                await asyncio.sleep(PAUSE)
            if kind == "post":
                self.made.append(int(data["post"]["status"]["id"].removeprefix("status_"), 16))
            elif kind == "like":
                self.liked.add((liked, reader.member))
            if kind != "home":
                self._written()

    async def _answer(self, session: ClientSession, request: Request) -> dict[str, Any] | None:
        """Return the data of an answer, None where the request has to be repeated."""
        body = {"query": request.document, "variables": request.variables}
        headers = {"Authorization": f"Bearer {request.token}"}
        try:
            url = f"http://127.0.0.1:{self.port}/graphql"
            async with session.post(url, json=body, headers=headers) as response:
                answer = await response.json()
                if response.status == UNAVAILABLE:
                    return None
        except ClientError:
            return None
        if "errors" in answer:
            raise BenchmarkError(str(answer)[:600])
        data: dict[str, Any] = answer["data"]
        return data

    def _written(self) -> None:
        now = time.monotonic()
        self.longest, self._last = max(self.longest, now - self._last), now


async def main(asked: argparse.Namespace) -> None:
    """Load a site, move it under load, and print what has happened."""
    with contenders.temporary_folder() as folder:
        scratch = Path(folder)
        network = (
            graph.read(asked.graph, asked.posts, asked.seed, scratch)
            if asked.graph
            else graph.generated(asked.members, asked.posts, asked.seed)
        )
        async with stage.opened(scratch / "source") as source, _cluster(scratch / "target", asked.nodes) as url:
            await source.load(network)
            readers = await source.readers(READERS, 0, asked.seed)
            posts = [int(post) for post in await source.db.one("ZRANGE", keys.public(), 0, -1)]
            await _measure(source, url, Load(readers, posts, asked.seed), asked)


@asynccontextmanager
async def _cluster(folder: Path, nodes: int) -> AsyncIterator[str]:
    held = await attach_cluster(folder, nodes)
    try:
        yield held.url
    finally:
        await held.close()


async def _measure(source: Stage, url: str, load: Load, asked: argparse.Namespace) -> None:
    perch = contenders.PERCH
    async with contenders.running(source, [perch], which=None) as (old,):
        load.port = old.port
        sending = asyncio.create_task(load.run(asked.clients))
        began = time.monotonic()
        output = await _move(source.url, url, asked)
        seconds, during = time.monotonic() - began, (len(load.made), len(load.liked), load.refused)
        async with contenders.running(source, [perch], which=None, url=url) as (new,):
            load.port = new.port
            await asyncio.sleep(AFTER_SECONDS)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
    lost = await _lost(url, load)
    print(f"\n{output}\n")
    rows = [
        ["members, keys", f"{len(source.members):,}, {await source.db.one('DBSIZE'):,}"],
        ["seconds", f"{seconds:,.1f}"],
        ["posts and likes answered during the move", f"{during[0]:,} and {during[1]:,}"],
        ["requests refused, and repeated", f"{load.refused:,}"],
        ["the same after the switch", f"{len(load.made) - during[0]:,} and {len(load.liked) - during[1]:,}"],
        ["longest time without a write, s", f"{load.longest:,.1f}"],
        ["answered, and lost", f"{lost:,}"],
    ]
    table(["", ""], rows)


async def _move(source: str, target: str, asked: argparse.Namespace) -> str:
    """Run the command, and return its output; raises BenchmarkError if it does not succeed."""
    command = [sys.executable, "server.py", "move", target, *(["--skip-verify"] if asked.skip_verify else [])]
    environment = {**os.environ, "REDIS_URL": source, "SECRET_KEY": SECRET, "LOG_LEVEL": "ERROR"}
    environment["BIG_AUTHOR"] = str(ALL_PUSHED)  # as the server has it
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    if process.returncode:
        raise BenchmarkError(f"the move did not succeed: {output.decode()}")
    return output.decode().strip()


async def _lost(url: str, load: Load) -> int:
    """Return how many answered posts and likes the cluster does not have."""
    db = Database(url, Settings(secret_key=SECRET))
    try:
        looks: list[Command] = [("EXISTS", keys.status(post)) for post in load.made]
        looks += [("ZSCORE", keys.likes(post), member) for post, member in load.liked]
        return sum(not found for found in await db.ask(*looks))
    finally:
        await db.close()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--graph", type=Path, metavar="FILE", help="a list of edges; else a network is invented")
    parser.add_argument("--members", type=int, default=2_000, help="of the invented network")
    parser.add_argument("--posts", type=int, default=20_000)
    parser.add_argument("--nodes", type=int, default=3, help="of the cluster")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip-verify", action="store_true")
    asyncio.run(main(parser.parse_args()))
