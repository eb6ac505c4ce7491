"""Makes the faults of an operator's year for real, behind HAProxy, and counts what was refused, how long, and lost.

    python -m benchmarks.faults
    python -m benchmarks.faults "killed (SIGKILL)"

Run it from a checkout with the development packages and HAProxy. Each fault has a store, Perch and HAProxy of its own,
with the configuration of `docs/deployment`. Clients read homes and write posts before, during and after the fault.

The longest answer is given twice: of all requests, and of those that began more than `FIRST_SECONDS` after the fault.
Posts that were answered are read again at the end: one that is missing then was lost.
"""

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

from benchmarks.clients import POST, SIGN_UP, UNLIMITED
from benchmarks.versus.tables import table
from store.client import tasks
from tests.support.people import PASSWORD
from tests.support.servers import outages, processes, proxies
from tests.support.servers.cluster import cluster, slot
from tests.support.servers.processes import REDIS, VALKEY, Redis

READERS, WRITERS = 20, 5
PAUSE_SECONDS = 0.1  # of a client between two requests
CALM_SECONDS = 3.0  # before a fault, and without a failure after it
FIRST_SECONDS = 11.0  # the first time-out is over by then
LATEST_SECONDS = 90.0  # after a fault, when clients give up
READ = "{ homeTimeline(first: 10) { nodes { ... on Post { id text author { login } } } } }"
TEXT = {"text": "a post"}
EXISTS = "query($id: ID!) { node(id: $id) { id } }"
SETTINGS: dict[str, Any] = {**UNLIMITED, "overload_delay_ms": 1_000, "trusted_proxies": "127.0.0.1/32"}


@dataclass
class ProxiedAnswer:
    """One request: when it began, how long it took, and what came of it."""

    kind: str
    began: float
    took: float
    outcome: str  # "", the code of Perch's error, or "proxy" for an answer that is not Perch's
    data: dict[str, Any]

    @property
    def ended(self) -> float:
        return self.began + self.took


@dataclass
class ProxiedSite:
    """Perch behind HAProxy, and what its clients were answered."""

    session: ClientSession
    answers: list[ProxiedAnswer] = field(default_factory=list)

    async def ask(self, kind: str, query: str, token: str = "", **variables: object) -> ProxiedAnswer:
        """Send a query, and keep what came of it."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        began, outcome = time.monotonic(), "proxy"
        body: dict[str, Any] = {}
        with contextlib.suppress(ClientError, ValueError, TimeoutError):
            asked = {"query": query, "variables": variables}
            async with self.session.post("/graphql", json=asked, headers=headers) as response:
                body = json.loads(await response.text())
                outcome = body["errors"][0]["extensions"]["code"] if "errors" in body else ""
        self.answers.append(ProxiedAnswer(kind, began, time.monotonic() - began, outcome, body.get("data") or {}))
        return self.answers[-1]

    async def sign_up(self, login: str) -> str:
        """Return the access token of a new member."""
        fields = {"login": login, "name": login, "email": f"{login}@example.org", "password": PASSWORD}
        answer = await self.ask("sign up", SIGN_UP, input=fields)
        return str((answer.data.get("signUp") or {}).get("accessToken"))

    async def client(self, kind: str, token: str) -> None:
        """Read or write again and again."""
        while True:
            await (self.ask(kind, READ, token) if kind == "read" else self.ask(kind, POST, token, input=TEXT))
            await asyncio.sleep(PAUSE_SECONDS)

    def last_failure(self, since: float) -> float:
        """Return when the latest request that has failed since a moment was answered, at least that moment."""
        return max((one.ended for one in self.answers if one.outcome and one.began >= since), default=since)

    async def lost(self, token: str) -> str:
        """Return how many of the posts that were answered are gone."""
        answered = [one.data for one in self.answers if one.kind == "write" and not one.outcome]
        checks = [await self.ask("check", EXISTS, token, id=data["post"]["status"]["id"]) for data in answered]
        return f"{sum(check.data.get('node') is None for check in checks)} of {len(checks):,}"


During = Callable[[Redis], AsyncIterator[None]]


@dataclass(frozen=True)
class Fault:
    """A fault of a store: how it is made, and for how long it lasts."""

    during: During
    seconds: float = 15.0
    server: str = VALKEY


async def _silent(store: Redis) -> AsyncIterator[None]:
    with store.frozen():
        yield


async def _killed(store: Redis) -> AsyncIterator[None]:
    await store.kill()
    yield
    await store.start()


def _refusing(state: str) -> During:
    async def during(store: Redis) -> AsyncIterator[None]:
        async with outages.outage(state, store.settings["redis_url"]):
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
LONELY, LONELY_SECONDS = "primary without replica", 15.0
NAMES = [*FAULTS, LONELY]


@contextlib.asynccontextmanager
async def proxied(folder: Path, **settings: Any) -> AsyncIterator[ProxiedSite]:
    """Run Perch and HAProxy before a store."""
    async with contextlib.AsyncExitStack() as stack:
        perch = await stack.enter_async_context(processes.perch(folder / "data", "serve", **SETTINGS | settings))
        certificate = proxies.Certificate.made(folder)
        proxy = await stack.enter_async_context(proxies.before("haproxy", folder, await perch.url(), certificate))
        timeout, connector = ClientTimeout(total=120), TCPConnector(ssl=proxy.tls, limit=0)
        yield ProxiedSite(
            await stack.enter_async_context(ClientSession(proxy.url, timeout=timeout, connector=connector))
        )
        await perch.stop()


async def endure(site: ProxiedSite, during: AsyncIterator[None], seconds: float) -> list[str]:
    """Load a site before, during and after a fault; returns a row of the table."""
    tokens = [await site.sign_up(f"member{i}") for i in range(READERS + WRITERS)]
    kinds = ["read"] * READERS + ["write"] * WRITERS
    clients = [asyncio.create_task(site.client(kind, token)) for kind, token in zip(kinds, tokens, strict=True)]
    await asyncio.sleep(CALM_SECONDS)
    await anext(during)
    began = time.monotonic()
    joining = asyncio.create_task(site.sign_up("late"))
    await asyncio.sleep(seconds)
    await anext(during, None)
    ended = time.monotonic()
    while time.monotonic() < min(site.last_failure(ended) + CALM_SECONDS, ended + LATEST_SECONDS):  # noqa: ASYNC110
        await asyncio.sleep(PAUSE_SECONDS)
    await asyncio.gather(*map(tasks.stop, clients), joining)
    within = [one for one in site.answers if began <= one.began < ended]
    late = [one.took for one in within if one.began > began + FIRST_SECONDS]
    return [
        *(_refused([one for one in within if one.kind == kind]) for kind in ("read", "write")),
        f"{max(one.took for one in within):.1f}",
        f"{max(late, default=0):.1f}",
        *(f"{_until_answered(site, kind, ended):.1f}" for kind in ("read", "write")),
        await site.lost(tokens[0]),
    ]


def _refused(answers: Sequence[ProxiedAnswer]) -> str:
    failed = [one.outcome for one in answers if one.outcome]
    by_proxy, internal = failed.count("proxy"), failed.count("INTERNAL")
    notes = [f"{by_proxy:,} by the proxy"] * bool(by_proxy) + [f"{internal:,} INTERNAL"] * bool(internal)
    return f"{len(failed):,} of {len(answers):,}" + (f" ({', '.join(notes)})" if notes else "")


def _until_answered(site: ProxiedSite, kind: str, ended: float) -> float:
    """Return how long after the end of the fault the last request of a kind failed, or the first was answered."""
    own = [one for one in site.answers if one.kind == kind and one.ended >= ended]
    failed = max((one.ended for one in own if one.outcome), default=0.0)
    return max(failed, min((one.ended for one in own if not one.outcome), default=float("inf"))) - ended


async def run(name: str) -> list[str]:
    """Make a fault; returns its row of the table."""
    with tempfile.TemporaryDirectory(prefix="perch-faults-") as made:
        folder = Path(made)
        if name == LONELY:
            return await _run_lonely(folder)
        fault = FAULTS[name]
        async with processes.own_store(folder, fault.server) as store, proxied(folder, **store.settings) as site:
            return await endure(site, fault.during(store), fault.seconds)


async def _run_lonely(folder: Path) -> list[str]:
    async with (
        cluster(folder / "cluster", replicas=1, cluster_node_timeout=5_000) as made,
        proxied(folder, replicas_acknowledge=1, **made.settings) as site,
    ):

        async def during() -> AsyncIterator[None]:
            (replica,) = await made.replicas_of(await made.owner(slot(7)))
            replica.kill()
            yield
            await made.start_again(replica)

        return await endure(site, during(), LONELY_SECONDS)


async def report(names: Sequence[str]) -> None:
    """Make some faults, and print a table."""
    rows = [[name, *await run(name)] for name in names]
    head = ["fault", "reads refused", "writes refused", "longest answer, s", "longest after 11 s, s"]
    table([*head, "reads answered after, s", "writes answered after, s", "answered posts lost"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", choices=[*NAMES, []], metavar="FAULT", help=", ".join(NAMES))
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    asyncio.run(report(parser.parse_args().faults or NAMES))
