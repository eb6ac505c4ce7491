"""Proves that a rolling restart loses no request and no event.

Run it from a checkout with Perch installed: `python -m benchmarks.restarts`. It starts a server of two processes, with
an embedded store in a folder that is removed at the end. Clients send requests on connections that they keep open, and
never send one again. Every tenth request is a post, the others read a home. Half of the subscribers use websockets, and
half use event streams. Meanwhile SIGHUP replaces all processes, again and again.

A subscriber that the server disconnects subscribes again with its last cursor. Each must get each post once, in the
order of the log. The exit status is 1 where a request or a reconnection failed, or where an event was lost or repeated.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from aiohttp import ClientSession, ClientTimeout, TCPConnector

from benchmarks.cuts import SERVER, address, members, until
from benchmarks.unbroken import PATIENCE, Entrance, Load, Outcome, Requests, Subscriber

AUTHORS = 10
SETTINGS = {
    "PORT": "0",
    "PROCESSES": "2",
    "RATE_LIMIT": "0",
    "SIGN_UPS_PER_HOUR": "1000",
    "POSTS_PER_HOUR": "100000",
    "NEW_MEMBER_HOURS": "0",
    "SOCKETS_PER_MEMBER": "10000",
    "MAX_LIVE_COST": "1000000",
    "CONNECTIONS_PER_ADDRESS": "0",
    "PASSWORD_MEMORY_KIB": "8",
    "PASSWORD_PASSES": "1",
    "OVERLOAD_DELAY_MS": "0",  # clients may leave the server little of a processor
}


class Server:
    """The processes of Perch."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._replaced = 0
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stderr
        async for line in self._process.stderr:
            self._replaced += b'"processes_replaced"' in line
            if b'"warning"' in line or b'"error"' in line:
                print(line.decode(), end="", file=sys.stderr)

    async def restart(self) -> None:
        """Replace all processes."""
        before = self._replaced
        self._process.send_signal(signal.SIGHUP)

        async def is_done() -> bool:
            return self._replaced > before

        async with asyncio.timeout(PATIENCE):
            await until(is_done)


@contextlib.asynccontextmanager
async def serving(folder: Path, **settings: str) -> AsyncIterator[tuple[str, Server]]:
    """Run Perch; yields its address and the server."""
    chosen = {**SETTINGS, "DATA_DIR": str(folder), **settings}
    process = await asyncio.create_subprocess_exec(
        sys.executable, SERVER, "serve", stdout=PIPE, stderr=PIPE, env={**os.environ, **chosen}, limit=1 << 20
    )
    server = Server(process)
    try:
        async with asyncio.timeout(PATIENCE):
            url = await address(process)
        yield url, server
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@contextlib.contextmanager
def _running(*tasks: asyncio.Task[None]) -> Iterator[None]:
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def prove(url: str, server: Server, load: Load, entrance: Entrance | None = None) -> Outcome:
    """Send requests to a fresh server and subscribe while it restarts; return what the clients saw."""
    outcome, used = Outcome(), entrance or Entrance([url])
    tokens = await members(url, AUTHORS)
    subscribers = [Subscriber(used.url(n // 2), tokens[n % AUTHORS], outcome) for n in range(load.subscriptions)]
    async with ClientSession(connector=TCPConnector(limit=0, ssl=used.tls), timeout=ClientTimeout(None)) as session:
        tasks = [
            asyncio.create_task(each.run(session, over_socket=number % 2 == 0))
            for number, each in enumerate(subscribers)
        ]
        with _running(*tasks):
            requests = Requests(used, tokens, load.requests, outcome)
            sending = asyncio.create_task(requests.run(load.clients))
            for _ in range(load.restarts):
                await server.restart()
            await sending
            await _all_received(subscribers, len(outcome.posts))
        await asyncio.wait(tasks)
    order = subscribers[0].received
    for each in subscribers:
        outcome.missed += len(outcome.posts - set(each.received))
        outcome.repeated += len(each.received) - len(set(each.received))
        outcome.disordered += each.received != order
    return outcome


async def _all_received(subscribers: list[Subscriber], count: int) -> None:
    """Wait until all subscribers have got so many posts, or no more arrive."""
    received, since = -1, time.monotonic()
    while any(len(each.received) < count for each in subscribers) and time.monotonic() - since < PATIENCE:
        now = sum(len(each.received) for each in subscribers)
        received, since = now, time.monotonic() if now != received else since
        await asyncio.sleep(0.05)


async def _print(folder: Path, asked: argparse.Namespace) -> bool:
    async with serving(folder) as (url, server):
        began = time.monotonic()
        outcome = await prove(url, server, Load(**vars(asked)))
        seconds = time.monotonic() - began
    print(f"{asked.restarts} rolling restarts of 2 processes in {seconds:.0f} s")
    print(f"requests       {outcome.answered:,} answered, {dict(outcome.failed) or 'none'} failed")
    print(f"subscriptions  {asked.subscriptions:,}, half of them websockets and half event streams")
    print(f"  reconnections  {outcome.reconnections:,}, {dict(outcome.refused) or 'none'} refused")
    print(f"  events         {len(outcome.posts):,} posts to each: {outcome.missed:,} missed, ", end="")
    print(f"{outcome.repeated:,} repeated, {outcome.gaps:,} gaps, {outcome.disordered:,} subscribers out of order")
    return outcome.is_perfect()


def main() -> int:
    """Parse the arguments, run the benchmark, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for name, default in (("requests", 10_000), ("subscriptions", 500), ("restarts", 3), ("clients", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(_print(Path(folder), parser.parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
