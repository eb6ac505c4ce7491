"""Proves that no change of a relationship is lost or late while connections to the store are killed.

Run it from a checkout with the development packages: `python -m benchmarks.relationships`. It starts a server of its
own, a process with an embedded store in a folder that is removed at the end. Pairs of members follow, ask, approve,
block and mute each other, go private and public, and post. Each change begins as soon as the one before is
acknowledged. A request whose answer is lost is sent again. Meanwhile all connections of the server to its store are
killed several times a second, those of Pub/Sub included.

After some of the changes, and at the end, both members are asked what they see: relationships, counts, requests and
homes. Another process of Perch answers that, whose connections last. All of it must be what a plain model of the pair
says. A change is late if that takes more than two seconds, and gone if it takes more than thirty. At the end, `verify`
has to find nothing. The exit status is 1 if anything is gone or late.
"""

import argparse
import asyncio
import contextlib
import sys
import tempfile
import time
from pathlib import Path

import redis.asyncio as redis
from aiohttp import ClientSession, TCPConnector
from tqdm import tqdm

from benchmarks.clients import UNLIMITED, sign_up, until_no_job_is_left
from benchmarks.pairs import LATE_SECONDS, Pair, Place, Side, Tally
from resolvers.upkeep import verify
from store.client import tasks
from store.client.database import Database
from tests.support.people import SECRET
from tests.support.servers import processes

SHOWN = 5  # examples of what is gone or wrong
LOOKING = "looking"  # name of the connections that are not killed


async def pairs(place: Place, count: int, seed: int, tally: Tally) -> list[Pair]:
    """Sign up the members of so many pairs."""
    sides = [Side(member) for member in await sign_up(place.session, place.url, 2 * count)]
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
    await until_no_job_is_left(db)
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    return [str(finding) for finding in report.findings]


def report(tally: Tally, kills: int, seconds: float, unmended: list[str]) -> bool:
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
        ("findings of verify", unmended),
    ):
        print(f"{name}: {len(cases)}")
        for case in cases[:SHOWN]:
            print(f"  {case}")
    return total > 0 and not (tally.late or tally.gone or tally.wrong or unmended)


async def prove(folder: Path, asked: argparse.Namespace) -> bool:
    """Run the benchmark, print its results, and return whether it succeeded."""
    tally = Tally()
    async with contextlib.AsyncExitStack() as stack:
        settings = {"secret_key": SECRET, **UNLIMITED}
        server = await stack.enter_async_context(processes.perch(folder, "serve", **settings))
        url = await server.url()
        db = await stack.enter_async_context(processes.opened(folder))
        store = db.nodes[0].url
        named = f"{store}{'&' if '?' in store else '?'}client_name={LOOKING}"
        looking = await stack.enter_async_context(
            processes.perch(folder, "serve", redis_url=named, run_worker=False, **settings)
        )
        session = await stack.enter_async_context(ClientSession(connector=TCPConnector(limit=0)))
        place = Place(session, url, await looking.url())
        killing = Killing(store, asked.each)
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
        unmended = await findings(db)
        await asyncio.gather(*(pair.look() for pair in made))
        await looking.stop()
        await server.stop()
    return report(tally, killing.count, seconds, unmended)


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
    sys.exit(main())
