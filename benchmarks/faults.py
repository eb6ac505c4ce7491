"""Makes the faults of an operator's year for real, behind HAProxy, and counts what was refused, how long, and lost.

    python -m benchmarks.faults
    python -m benchmarks.faults --code ../other-checkout "killed (SIGKILL)"

Each fault has a store, Perch and HAProxy of its own, with the configuration of `docs/deployment`. Clients read homes
and write posts before, during and after the fault. `--code` names another checkout, whose Perch and configuration are
used.

The longest answer is given twice: of all requests, and of those that began more than `FIRST_SECONDS` after the fault.
Posts that were answered are read again at the end: one that is missing then was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector

from benchmarks.versus.tables import table
from store.client.database import Database
from store.ids import EPOCH, PARTITIONS
from store.keys import minted
from tests.support.people import PASSWORD
from tests.support.servers import forking, outages, processes, proxies
from tests.support.servers.cluster import cluster, slot
from tests.support.servers.processes import REDIS, VALKEY, Redis

READERS, WRITERS = 20, 5
PAUSE_SECONDS = 0.1  # of a client between two requests
CALM_SECONDS = 3.0  # before a fault, and without a failure after it
FIRST_SECONDS = 11.0  # the first time-out is over by then
LATEST_SECONDS = 90.0  # after a fault, when clients give up
READ = "{ homeTimeline(first: 10) { nodes { ... on Post { id text author { login } } } } }"
WRITE = 'mutation { post(input: {text: "a post"}) { status { id } userErrors { code } } }'
SIGN_UP = "mutation($input: SignUpInput!) { signUp(input: $input) { accessToken userErrors { message } } }"
EXISTS = "query($id: ID!) { node(id: $id) { id } }"
SETTINGS: dict[str, Any] = {
    "posts_per_hour": 100_000,
    "new_member_hours": 0,
    "sign_ups_per_hour": 1_000,
    "overload_delay_ms": 1_000,
    "trusted_proxies": "127.0.0.1/32",
}


@dataclass
class Answer:
    """One request: when it began, how long it took, and what came of it."""

    kind: str
    began: float
    took: float
    outcome: str  # "", the code of Perch's error, or "proxy" for an answer that is not Perch's
    data: dict[str, Any]


@dataclass
class Site:
    """A store, with Perch and HAProxy before it."""

    session: ClientSession
    store: Redis | None
    db: Database
    perch: processes.Perch
    answers: list[Answer] = field(default_factory=list)

    async def ask(self, kind: str, query: str, token: str = "", **variables: object) -> Answer:
        """Send a query, and keep what came of it."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        began, outcome = time.monotonic(), "proxy"
        body: dict[str, Any] = {}
        with contextlib.suppress(ClientError, ValueError, TimeoutError):
            async with self.session.post(
                "/graphql", json={"query": query, "variables": variables}, headers=headers
            ) as response:
                body = json.loads(await response.text())
                outcome = body["errors"][0]["extensions"]["code"] if "errors" in body else ""
        self.answers.append(Answer(kind, began, time.monotonic() - began, outcome, body.get("data") or {}))
        return self.answers[-1]

    async def sign_up(self, login: str) -> str:
        """Return the access token of a new member."""
        fields = {"login": login, "name": login, "email": f"{login}@example.org", "password": PASSWORD}
        answer = await self.ask("sign up", SIGN_UP, input=fields)
        return str((answer.data.get("signUp") or {}).get("accessToken"))

    def last_failure(self, since: float) -> float:
        """Return when the latest request that has failed since a moment was answered, at least that moment."""
        return max((one.began + one.took for one in self.answers if one.outcome and one.began >= since), default=since)


@dataclass(frozen=True)
class Fault:
    """A fault: how it is made, and for how long it lasts."""

    during: Callable[[Site], AsyncIterator[None]]
    seconds: float = 15.0
    server: str = VALKEY


async def _silent(site: Site) -> AsyncIterator[None]:
    assert site.store
    with site.store.frozen():
        yield


async def _killed(site: Site) -> AsyncIterator[None]:
    assert site.store
    await site.store.kill()
    yield
    await site.store.start()


def _refusing(state: str) -> Callable[[Site], AsyncIterator[None]]:
    async def during(site: Site) -> AsyncIterator[None]:
        async with outages.outage(state, site.db.nodes[0].url):
            yield

    return during


FAULTS = {
    "out of memory": Fault(_refusing("OOM")),
    "full disk (snapshot fails)": Fault(_refusing("MISCONF")),
    "read-only replica": Fault(_refusing("READONLY")),
    "no permission to write": Fault(_refusing("NOPERM")),
    "no permission, Redis 7.0": Fault(_refusing("NOPERM"), server=REDIS),
    "hangs (SIGSTOP)": Fault(_silent, seconds=30.0),
    "killed (SIGKILL)": Fault(_killed, seconds=5.0),
}
LONELY, CLOCK = "primary without replica", "clock a day ahead"
NAMES = [*FAULTS, LONELY, CLOCK]


@contextlib.asynccontextmanager
async def before(folder: Path, store: Redis | None, **settings: Any) -> AsyncIterator[Site]:
    """Run Perch and HAProxy before a store."""
    url = str(settings["redis_url"])
    async with contextlib.AsyncExitStack() as stack:
        perch = await stack.enter_async_context(processes.perch(folder / "data", "serve", **SETTINGS | settings))
        proxy = await stack.enter_async_context(
            proxies.before("haproxy", folder, await perch.url(), proxies.Certificate.made(folder))
        )
        timeout, connector = ClientTimeout(total=120), TCPConnector(ssl=proxy.tls, limit=0)
        session = await stack.enter_async_context(ClientSession(proxy.url, timeout=timeout, connector=connector))
        db = await stack.enter_async_context(processes.connected(url))
        await db.find_out()
        yield Site(session, store, db, perch)
        await perch.stop()


async def endure(site: Site, during: AsyncIterator[None], seconds: float) -> list[str]:
    """Load a site before, during and after a fault; returns a row of the table."""
    tokens = [await site.sign_up(f"member{i}") for i in range(READERS + WRITERS)]
    kinds = [("read", READ)] * READERS + [("write", WRITE)] * WRITERS
    clients = [asyncio.create_task(_client(site, *kind, token)) for kind, token in zip(kinds, tokens, strict=True)]
    await asyncio.sleep(CALM_SECONDS)
    await anext(during)
    began = time.monotonic()
    joining = asyncio.create_task(site.sign_up("late"))
    await asyncio.sleep(seconds)
    await anext(during, None)
    ended = time.monotonic()
    while time.monotonic() < min(site.last_failure(ended) + CALM_SECONDS, ended + LATEST_SECONDS):  # noqa: ASYNC110
        await asyncio.sleep(PAUSE_SECONDS)
    await asyncio.gather(*(_stopped(client) for client in clients), joining)
    within = [one for one in site.answers if began <= one.began < ended]
    row = []
    for kind in ("read", "write"):
        own = [one for one in within if one.kind == kind]
        failed = [one for one in own if one.outcome]
        proxied = sum(one.outcome == "proxy" for one in failed)
        internal = sum(one.outcome == "INTERNAL" for one in failed)
        notes = [f"{proxied:,} by the proxy"] * bool(proxied) + [f"{internal:,} INTERNAL"] * bool(internal)
        row.append(f"{len(failed):,} of {len(own):,}" + (f" ({', '.join(notes)})" if notes else ""))
    late = [one.took for one in within if one.began > began + FIRST_SECONDS]
    row += [f"{max(one.took for one in within):.1f}", f"{max(late, default=0):.1f}"]
    row += [f"{_until_answered(site, kind, ended):.1f}" for kind in ("read", "write")]
    return [*row, await _lost(site, tokens[0])]


async def _client(site: Site, kind: str, query: str, token: str) -> None:
    while True:
        await site.ask(kind, query, token)
        await asyncio.sleep(PAUSE_SECONDS)


async def _stopped(client: asyncio.Task[None]) -> None:
    client.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await client


def _until_answered(site: Site, kind: str, ended: float) -> float:
    """Return how long after the end of the fault the last request of a kind failed, or the first was answered."""
    own = [one for one in site.answers if one.kind == kind and one.began + one.took >= ended]
    failed = max((one.began + one.took for one in own if one.outcome), default=0.0)
    return max(failed, min((one.began + one.took for one in own if not one.outcome), default=float("inf"))) - ended


async def _lost(site: Site, token: str) -> str:
    answered = [one.data for one in site.answers if one.kind == "write" and not one.outcome]
    posts = [data["post"]["status"]["id"] for data in answered]
    missing = 0
    for post in posts:
        found = await site.ask("check", EXISTS, token, id=post)
        missing += found.data.get("node") is None
    return f"{missing} of {len(posts):,}"


async def run(name: str) -> list[str]:
    """Make a fault; returns its row of the table."""
    with tempfile.TemporaryDirectory(prefix="perch-faults-") as made:
        folder = Path(made)
        if name == LONELY:
            return await _run_lonely(folder)
        fault = FAULTS[name]
        async with processes.own_store(folder, fault.server) as store, before(folder, store, **store.settings) as site:
            return await endure(site, fault.during(site), fault.seconds)


async def _run_lonely(folder: Path) -> list[str]:
    async with (
        cluster(folder / "cluster", replicas=1, cluster_node_timeout=5_000) as made,
        before(folder, None, replicas_acknowledge=1, **made.settings) as site,
    ):

        async def during(_: Site) -> AsyncIterator[None]:
            (replica,) = await made.replicas_of(await made.owner(slot(7)))
            replica.kill()
            yield
            await made.start_again(replica)

        return await endure(site, during(site), 15.0)


async def notice_clock() -> str:
    """Return how long a serving process takes to say that ids are a day ahead, s."""
    with tempfile.TemporaryDirectory(prefix="perch-faults-") as made:
        folder = Path(made)
        async with processes.own_store(folder) as store, before(folder, store, **store.settings) as site:
            tick = int((time.time() + 86_400 - EPOCH.timestamp()) * 1000) << 4
            await site.db.ask(*(("SET", minted(partition), tick) for partition in range(PARTITIONS)))
            began = time.monotonic()
            while time.monotonic() < began + LATEST_SECONDS:
                if any("clock_differs" in line for line in site.perch.err.lines):
                    return f"noticed after {time.monotonic() - began:.0f} s"
                await asyncio.sleep(PAUSE_SECONDS)
            return f"not noticed within {LATEST_SECONDS:.0f} s"


async def report(names: Sequence[str]) -> None:
    """Make some faults, and print a table."""
    rows = [[name, *await run(name)] for name in names if name != CLOCK]
    head = ["fault", "reads refused", "writes refused", "longest answer, s", "longest after 11 s, s"]
    table([*head, "reads answered after, s", "writes answered after, s", "answered posts lost"], rows)
    if CLOCK in names:
        print(f"{CLOCK}: {await notice_clock()}")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", default=NAMES, metavar="FAULT", help=", ".join(NAMES))
    parser.add_argument("--code", type=Path, default=Path(__file__).parents[1], help="checkout whose Perch is run")
    asked = parser.parse_args()
    if unknown := set(asked.faults) - set(NAMES):
        parser.error(f"unknown: {', '.join(unknown)}")
    code = asked.code.resolve()
    forking.SERVER, proxies.FOLDER = code / "server.py", code / "docs/deployment"
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    asyncio.run(report(asked.faults))


if __name__ == "__main__":
    main()
