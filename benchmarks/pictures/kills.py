"""Proves that pictures survive `kill -9`, at random moments, of the server, the worker and the object store.

Run it from a checkout with Perch and its extra `dev` installed: `python -m benchmarks.pictures.kills`. Members upload
pictures, attach them to posts, messages and profiles, and delete some. After each round of kills they pause, and the
worker finishes its jobs. Then each picture of an acknowledged mutation must be shown, `verify` must find nothing, and
after `repair --yes` the objects must be exactly those of the records. The exit status is 1 otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import structlog
from aiohttp import ClientSession, ClientTimeout

from benchmarks.pictures.lives import Clients
from benchmarks.pictures.site import Site, running
from benchmarks.streams import table
from resolvers.upkeep import commands, verify
from resolvers.upkeep.commands import Bar
from store import jobs, kinds
from store.client.database import Database
from store.embedded import attach
from store.media.objects import Form
from store.settings import Settings
from store.upkeep import objects, scanning

KILLS = 200
ROUND = 10  # kills between two checks
MEMBERS = 6
LONGEST = 0.8  # seconds at most from a sign of work to a kill
DOWN = 0.3  # seconds at most that a process is gone
IDLE_SECONDS = 120  # in which the worker has to finish what the kills have left
PAUSE = 0.05
STORES = ["folder", "bucket"]
HEAD = [
    "store",
    "killed",
    "kills",
    "pictures",
    "asked again",
    "missing",
    "refused",
    "findings",
    "orphans",
    "left after repair",
]


@dataclass
class Tally:
    """What the kills of one kind have led to."""

    kills: int = 0
    pictures: int = 0  # attached by acknowledged mutations
    asked_again: int = 0
    missing: list[str] = field(default_factory=list)  # what was acknowledged and is not shown
    refused: list[str] = field(default_factory=list)  # what was asked for again and again, and never done
    findings: list[str] = field(default_factory=list)  # of `verify`, before `repair`
    orphans: int = 0  # objects without a record, which `repair --yes` has removed
    left: list[str] = field(default_factory=list)  # what is wrong after that

    @property
    def wrong(self) -> list[str]:
        """All that should not be."""
        return self.missing + self.refused + self.findings + self.left


async def trouble(site: Site, clients: Clients, kind: str, count: int, dice: random.Random) -> None:
    """Kill a process again and again while clients go on, each time when it has done some work since the last."""
    stop = asyncio.Event()

    def work() -> int:
        return clients.answers if kind == "server" else clients.ready

    async def client(number: int) -> None:
        while not stop.is_set():
            await clients.live(clients.authors[number])

    working = [asyncio.create_task(client(number)) for number in range(len(clients.authors))]
    for _ in range(count):
        seen = work()
        while work() == seen:  # noqa: ASYNC110  many count
            await asyncio.sleep(PAUSE)
        await asyncio.sleep(dice.uniform(0, LONGEST))
        await asyncio.to_thread(site.kill, kind)
        await asyncio.sleep(dice.uniform(0, DOWN))
        await asyncio.to_thread(site.start, kind)
        if kind == "server":
            await asyncio.to_thread(site.wait_for_server)
    stop.set()
    await asyncio.gather(*working)


async def check(db: Database, clients: Clients, tally: Tally) -> None:
    """Look for what is lost, mend what may be mended, and note both."""
    since = time.monotonic()
    while (left := await jobs.backlog(db)) != (0, 0) and time.monotonic() - since < IDLE_SECONDS:  # noqa: ASYNC110
        await asyncio.sleep(PAUSE)
    if left != (0, 0):
        tally.left.append(f"jobs unfinished and dead: {left}")
    tally.missing += await clients.missing()
    tally.refused += clients.refused
    clients.refused.clear()
    report = await verify.verify(db, homes=1, seed=1, progress=lambda _: None)
    tally.findings += [f"{finding.key}: {finding.message}" for finding in report.findings]
    tally.orphans += len(report.objects.orphans) + report.objects.young
    answer = await commands.repair(db, _show, homes=1, all_homes=False, seed=1, yes=True)
    if answer.status:
        tally.left += answer.lines
    tally.left += await _differences(db)


async def _differences(db: Database) -> list[str]:
    """Return how the stored objects differ from those that the records need."""
    needed: set[str] = set()
    async for batch in scanning.scan(db):
        for record in await objects.records(db, batch.of(kinds.IMAGE)):
            forms = objects.SHOWN if record.state.value == "READY" else (Form.ORIGINAL,)
            needed |= {f"{record.object}/{form.value}" for form in forms if record.object and not record.error}
    there = {one.path async for chunk in db.media.listing() for one in chunk}
    lost = [f"no object {path}" for path in needed - there]
    return lost + [f"no record of {path}" for path in there - needed]


@contextlib.contextmanager
def _show(_: str, __: int) -> Iterator[Bar]:
    class Silent:
        def update(self, n: float | None = 1) -> bool | None:
            return None if n else False

    yield Silent()


async def rounds(site: Site, store: str, kinds: dict[str, int], seed: int) -> list[tuple[str, str, Tally]]:
    """Kill each kind of process so often, and return what that has led to."""
    held = await attach.attach(site.folder)
    db = Database(held.url, Settings(data_dir=site.folder, media_store=site.media_store))
    dice, tallies = random.Random(seed), []  # noqa: S311  no secret
    async with ClientSession(timeout=ClientTimeout(total=30)) as session:
        clients = Clients(session, site.url, dice)
        await clients.sign_up(MEMBERS)
        for kind, count in kinds.items():
            tally = Tally()
            tallies.append((store, kind, tally))
            while tally.kills < count:
                pictures, again = clients.pictures, clients.asked_again.total()
                now = min(ROUND, count - tally.kills)
                seen = len(tally.wrong)
                await trouble(site, clients, kind, now, dice)
                tally.kills += now
                tally.pictures += clients.pictures - pictures
                tally.asked_again += clients.asked_again.total() - again
                await check(db, clients, tally)
                print(*_row(store, kind, tally), sep=" | ", file=sys.stderr)
                print(*tally.wrong[seen:], sep="\n", end="", file=sys.stderr, flush=True)
        print(f"{store}: asked again {dict(clients.asked_again)}", file=sys.stderr)
    await db.close()
    await held.close()
    return tallies


def main() -> int:
    """Parse the arguments, kill, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=KILLS, help=f"of all kinds together (default {KILLS})")
    parser.add_argument("--seed", type=int, default=1, help="chooses other moments (default 1)")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES, help="where pictures are (default both)")
    asked = parser.parse_args()
    objects.ORPHAN_AGE = -timedelta(days=1)  # nothing is being written during a check: no object is too young
    kinds = [
        ("folder", "server"),
        ("folder", "worker"),
        ("bucket", "server"),
        ("bucket", "worker"),
        ("bucket", "bucket"),
    ]
    shares = {pair: asked.kills // len(kinds) + (n < asked.kills % len(kinds)) for n, pair in enumerate(kinds)}
    found: list[tuple[str, str, Tally]] = []
    for store in asked.stores:
        with tempfile.TemporaryDirectory() as folder, running(Path(folder), store) as site:
            some = {kind: count for (where, kind), count in shares.items() if where == store}
            found += asyncio.run(rounds(site, store, some, asked.seed))
    table(HEAD, [_row(*one) for one in found])
    return 1 if any(tally.wrong for _, _, tally in found) else 0


def _row(store: str, kind: str, tally: Tally) -> list[object]:
    counts = tally.kills, tally.pictures, tally.asked_again, len(tally.missing)
    return [store, kind, *counts, len(tally.refused), len(tally.findings), tally.orphans, len(tally.left)]


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    sys.exit(main())
