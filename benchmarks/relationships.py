"""Proves that no change of a relationship is lost or late while connections to the store are killed.

Run it from a checkout with Perch installed: `python -m benchmarks.relationships`. It starts a server of its own, a
process with an embedded store in a folder that is removed at the end. Pairs of members follow, ask, approve, block and
mute each other, go private and public, and post. Each change begins as soon as the one before is acknowledged. A
request whose answer is lost is sent again. Meanwhile all connections of the server to its store are killed several
times a second, those of Pub/Sub included.

After some of the changes, and at the end, both members are asked what they see: relationships, counts, requests and
homes. Another process of Perch answers that, whose connections last. All of it must be what a plain model of the pair
says. A change is late if that takes more than two seconds, and gone if it takes more than thirty. At the end, `verify`
has to find nothing. The exit status is 1 if anything is gone or late.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import sys
import tempfile
import time
from pathlib import Path

import redis.asyncio as redis
import structlog
from aiohttp import ClientSession, TCPConnector
from tqdm import tqdm

from benchmarks.cuts import SIGN_UP, ask, serving, until
from benchmarks.engine import SECRET, Site
from benchmarks.pairs import LATE_SECONDS, Pair, Place, Side, Tally
from resolvers.upkeep import verify
from store import jobs
from store.client import tasks
from store.client.database import Database
from store.embedded import attach

PASSWORD = "correct horse battery"  # noqa: S105  of members that are removed
SHOWN = 5  # Examples of what is gone or wrong.
LOOKING = "looking"  # Name of the connections that are not killed.
CHOSEN = {"SECRET_KEY": SECRET, "FOLLOWS_PER_HOUR": "1000000", "POSTS_PER_HOUR": "1000000", "NEW_MEMBER_HOURS": "0"}


async def pairs(place: Place, count: int, seed: int, tally: Tally) -> list[Pair]:
    """Sign up the members of so many pairs."""

    async def side(n: int) -> Side:
        fields = {"login": f"member{n}", "name": "M", "email": f"m{n}@example.org", "password": PASSWORD}
        payload = (await ask(place.session, place.url, SIGN_UP, None, fields))["data"]["signUp"]
        return Side(payload["accessToken"], payload["viewer"]["user"]["id"], f"member{n}")

    sides = [await side(n) for n in range(2 * count)]
    return [Pair(place, (sides[2 * n], sides[2 * n + 1]), seed + n, tally) for n in range(count)]


class Killing:
    """Kills all connections to a store, again and again, but for those that look."""

    def __init__(self, url: str, each: float) -> None:
        self._client = redis.Redis.from_url(url, decode_responses=True, single_connection_client=True)
        self._each = each
        self.count = 0  # connections killed

    async def run(self) -> None:
        """Kill until cancelled. Without an interval, kill nothing."""
        while self._each:
            await asyncio.sleep(self._each)
            for client in await self._client.client_list():
                if client["name"] != LOOKING and client["id"] != str(await self._client.client_id()):
                    self.count += await self._client.client_kill_filter(_id=client["id"])

    async def close(self) -> None:
        """Disconnect."""
        await self._client.aclose()


async def findings(db: Database) -> list[str]:
    """Return what `verify` finds once no job is left."""

    async def is_finished() -> bool:
        return await jobs.backlog(db) == (0, 0)

    await until(is_finished)
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    return [str(finding) for finding in report.findings]


def report(tally: Tally, kills: int, seconds: float, found: list[str]) -> bool:
    """Print the results; returns whether nothing was gone, late or wrong."""
    total = sum(tally.changes.values())
    print(f"\n\n{total:,} changes acknowledged in {seconds:.0f} s: {dict(tally.changes.most_common())}")
    print(f"{kills:,} connections killed, {tally.repeated:,} requests sent again, {tally.refused:,} rightly refused")
    print(f"{tally.looks:,} looks, the slowest change was seen after {tally.slowest:.2f} s")
    late = f"late by more than {LATE_SECONDS:g} s"
    for name, cases in (
        (late, tally.late),
        ("gone", tally.gone),
        ("wrongly accepted", tally.wrong),
        ("findings of verify", found),
    ):
        print(f"{name}: {len(cases)}")
        for case in cases[:SHOWN]:
            print(f"  {case}")
    return total > 0 and not (tally.late or tally.gone or tally.wrong or found)


async def prove(folder: Path, asked: argparse.Namespace) -> bool:
    """Run the benchmark, print its results, and return whether it succeeded."""
    os.environ.update(CHOSEN)
    tally = Tally()
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(folder))
        held = await attach.attach(folder)
        stack.push_async_callback(held.close)
        looking = await stack.enter_async_context(
            Site(f"{held.url}{'&' if '?' in held.url else '?'}client_name={LOOKING}")
        )
        session = await stack.enter_async_context(ClientSession(connector=TCPConnector(limit=0)))
        place = Place(session, url, str(looking.client.make_url("/")).rstrip("/"))
        killing = Killing(held.url, asked.each)
        stack.push_async_callback(killing.close)
        made = await pairs(place, asked.pairs, asked.seed, tally)
        bar = tqdm(total=asked.changes, desc="changes", unit="", mininterval=0.5)
        began, task = time.monotonic(), asyncio.create_task(killing.run())
        each = asked.changes // asked.pairs
        await asyncio.gather(*(pair.run(each, bar.update) for pair in made))
        await asyncio.gather(*(pair.look() for pair in made))
        seconds = time.monotonic() - began
        await tasks.stop(task)
        bar.close()
        found = await findings(looking.db)
        await asyncio.gather(*(pair.look() for pair in made))
    return report(tally, killing.count, seconds, found)


def main() -> int:
    """Parse the arguments, run the benchmark, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--changes", type=int, default=12_000, help="tries; some of them are refused")
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--each", type=float, default=0.2, help="seconds between two kills, 0 for none")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(prove(Path(folder), asked)) else 1


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    sys.exit(main())
