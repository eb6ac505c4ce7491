"""Proves that a rolling restart loses no request and no event.

Run it from a checkout with the development packages: `python -m benchmarks.restarts`. It starts a server of two
processes, with an embedded store in a folder that is removed at the end. Clients send requests on connections that they
keep open, and never send one again. Every tenth request is a post, the others read a home. Half of the subscribers use
websockets, and half use event streams. Meanwhile SIGHUP replaces all processes, again and again.

A subscriber that the server disconnects subscribes again with its last cursor. Each must get each post once, in the
order of the log. The exit status is 1 where a request or a reconnection failed, or where an event was lost or repeated.
"""

import argparse
import asyncio
import contextlib
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector

from benchmarks.clients import POST, UNLIMITED, SignedIn, ask, sign_up, until
from benchmarks.subscribers import QUERIES, EventStreamClient, Losses, SubscribedClient, losses, until_received
from store.settings import Settings
from tests.support.servers import processes
from tests.support.servers.processes import Perch

AUTHORS = 10
HOME = "{ homeTimeline(first: 10) { nodes { ... on Post { id text author { login } } } } }"
POSTS_SHARE = 10  # one of so many requests is a post
BUSY, IDLE = 0.02, 1.5  # mean seconds between two requests of a client: most are busy, and every fifth is idle
ANSWER_SECONDS = 60
SETTINGS: dict[str, Any] = {
    **UNLIMITED,
    "processes": 2,
    "sockets_per_member": 10_000,
    "max_live_cost": 1_000_000,
    "drain_seconds": Settings().drain_seconds,
}

Entrance = tuple[Sequence[str], SSLContext | bool]  # addresses that clients use in turn, and what they trust


@dataclass(frozen=True)
class RestartLoad:
    """What the clients do, and how often the processes are replaced meanwhile."""

    requests: int
    subscriptions: int
    restarts: int
    clients: int  # that send requests


@dataclass
class RestartOutcome:
    """What the clients saw."""

    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)  # requests, by the error in place of an answer
    posts: set[str] = field(default_factory=set)
    reconnections: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # subscriptions that the server did not begin, by error
    losses: Losses = Losses(0, 0, 0, 0)

    def is_perfect(self) -> bool:
        """Return whether nothing was lost, refused or repeated."""
        return not (self.failed or self.refused.total() or any(self.losses))


class Requests:
    """Clients that send requests on connections of their own, each request once."""

    def __init__(self, entrance: Entrance, authors: list[SignedIn], total: int, outcome: RestartOutcome) -> None:
        (self._urls, self._tls), self._authors, self._outcome = entrance, authors, outcome
        self._left = iter(range(total))

    async def run(self, clients: int) -> None:
        """Send all requests."""
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(self._client(number))

    async def _client(self, number: int) -> None:
        chance, mean = random.Random(number), BUSY if number % 5 else IDLE  # noqa: S311  no secret
        connector = TCPConnector(limit=1, ssl=self._tls)
        async with ClientSession(connector=connector, timeout=ClientTimeout(ANSWER_SECONDS)) as session:
            for turn in self._left:
                await self._send(session, self._urls[number % len(self._urls)], turn)
                await asyncio.sleep(chance.expovariate(1 / mean))

    async def _send(self, session: ClientSession, url: str, turn: int) -> None:
        token = self._authors[turn % len(self._authors)].token
        query, variables = (HOME, {}) if turn % POSTS_SHARE else (POST, {"input": {"text": f"post {turn}"}})
        try:
            answer = await ask(session, url, query, token, variables)
        except (ClientError, ConnectionError, TimeoutError) as error:
            self._outcome.failed[type(error).__name__] += 1
            return
        if "errors" in answer:
            self._outcome.failed[answer["errors"][0]["extensions"]["code"]] += 1
            return
        self._outcome.answered += 1
        if query is POST:
            self._outcome.posts.add(answer["data"]["post"]["status"]["id"])


@contextlib.asynccontextmanager
async def serving(folder: Path, **settings: object) -> AsyncIterator[Perch]:
    """Run Perch with two processes."""
    async with processes.perch(folder, "serve", **{**SETTINGS, **settings}) as server:
        yield server
        await server.stop()


async def replace_processes(server: Perch) -> None:
    """Have a server replace its processes, and wait until it has done so."""

    def replaced() -> int:
        return sum('"processes_replaced"' in line for line in server.err.lines)

    before = replaced()
    server.process.send_signal(signal.SIGHUP)

    async def is_done() -> bool:
        return replaced() > before

    await until(is_done)


async def prove(server: Perch, load: RestartLoad, entrance: Entrance | None = None) -> RestartOutcome:
    """Send requests to a fresh server and subscribe while it restarts; return what the clients saw."""
    url = await server.url()
    outcome = RestartOutcome()
    urls, tls = entrance or ([url], True)
    async with ClientSession() as session:
        authors = await sign_up(session, url, AUTHORS)
    subscribers = [
        (EventStreamClient if n % 2 else SubscribedClient)("", QUERIES["stream"], authors[n % AUTHORS].token)
        for n in range(load.subscriptions)
    ]
    tasks = [asyncio.create_task(one.run(urls[n // 2 % len(urls)], tls)) for n, one in enumerate(subscribers)]
    try:
        sending = asyncio.create_task(Requests((urls, tls), authors, load.requests, outcome).run(load.clients))
        for _ in range(load.restarts):
            await replace_processes(server)
        await sending
        await until_received(subscribers, len(outcome.posts))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    outcome.reconnections = sum(one.ended.total() for one in subscribers)
    outcome.refused = sum((one.refused for one in subscribers), Counter())
    outcome.losses = losses(subscribers, outcome.posts, subscribers[0].received)
    return outcome


async def _print(folder: Path, load: RestartLoad) -> bool:
    async with serving(folder) as server:
        began = time.monotonic()
        outcome = await prove(server, load)
        seconds = time.monotonic() - began
    lost = outcome.losses
    print(f"{load.restarts} rolling restarts of 2 processes in {seconds:.0f} s")
    print(f"requests       {outcome.answered:,} answered, {dict(outcome.failed) or 'none'} failed")
    print(f"subscriptions  {load.subscriptions:,}, half of them websockets and half event streams")
    print(f"  reconnections  {outcome.reconnections:,}, {dict(outcome.refused) or 'none'} refused")
    print(f"  events         {len(outcome.posts):,} posts to each: {lost.missed:,} missed, ", end="")
    print(f"{lost.repeated:,} repeated, {lost.gaps:,} gaps, {lost.disordered:,} subscribers out of order")
    return outcome.is_perfect()


def main() -> int:
    """Parse the arguments, run the benchmark, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for name, default in (("requests", 10_000), ("subscriptions", 500), ("restarts", 3), ("clients", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(_print(Path(folder), RestartLoad(**vars(parser.parse_args())))) else 1


if __name__ == "__main__":
    sys.exit(main())
