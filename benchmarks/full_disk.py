"""Fills the disk of an embedded store under load, kills the store, and counts the answered posts that are lost.

Run it from a checkout with the development packages, where a disk may be mounted: `python -m benchmarks.full_disk`.
Each round has a fresh disk in memory. Clients post without a pause, while the disk is filled. A moment after a post was
refused, the store is killed with SIGKILL. Reads are tried until one is answered. Then the disk gets room again, and
writes are tried.

`--least 0` shows what happens when writes are refused too late, below 64 KiB. The store answers a write whose append to
the log fails, and loses it if it is killed before it has tried again.
The exit status is 1 if an answered post was lost.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import ClientError

from benchmarks.clients import UNLIMITED, until
from benchmarks.versus.tables import table
from tests.support.people import Member, sign_up
from tests.support.servers.disks import MIB, Disk, small_disk
from tests.support.servers.processes import visiting

DISK_MIB = 64
PIECE_BYTES = 256 << 10  # by which the disk is filled at a time
PAUSE_SECONDS = 0.01  # between two such pieces
LATER_SECONDS = 0.3  # from the first refusal to the kill
POST = "mutation($text: String!) { post(input: {text: $text}) { status { id } } }"
FOUND = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Post { id } } }"
IDS = 100  # read at a time
TEXT = "so that the log grows " * 20


class Round(NamedTuple):
    """What happened to one store."""

    answered: int  # posts
    lost: int  # of them
    left_mib: float  # free when the first post was refused
    reads: float  # from the kill until a read was answered, s
    writes: float  # from there being room again until a post was answered, s


class Posters:
    """Clients of one member that post until they are stopped."""

    def __init__(self, author: Member) -> None:
        self.author = author
        self.answered: list[str] = []
        self.refused = asyncio.Event()

    async def post(self) -> bool:
        """Post once; returns whether the post was answered."""
        try:
            answer = await self.author.send(POST, text=TEXT)
        except ClientError:
            return False
        if "errors" in answer:
            self.refused.set()
            return False
        self.answered.append(answer["data"]["post"]["status"]["id"])
        return True

    async def run(self) -> None:
        """Post until cancelled."""
        while True:
            await self.post()

    async def reads(self) -> bool:
        """Return whether a read is answered."""
        return "errors" not in await self.author.send(FOUND, ids=self.answered[:1])

    async def lost(self) -> int:
        """Return how many answered posts are gone."""
        gone = 0
        for at in range(0, len(self.answered), IDS):
            ids = self.answered[at : at + IDS]
            gone += (await self.author.ask(FOUND, ids=ids)).count(None)
        return gone


async def fill(disk: Disk) -> None:
    """Fill a disk a piece at a time, until nothing more fits."""
    while left := disk.free_bytes():
        disk.fill(leave=max(0, left - PIECE_BYTES))
        await asyncio.sleep(PAUSE_SECONDS)


async def one_round(folder: Path, clients: int, settings: dict[str, Any]) -> Round:
    async with (
        small_disk(folder, DISK_MIB) as disk,
        disk.serving(**UNLIMITED, **settings) as running,
        visiting(await running.url()) as anonymous,
    ):
        posting = Posters(await sign_up(anonymous, "author"))
        tasks = [asyncio.create_task(posting.run()) for _ in range(clients)]
        filling = asyncio.create_task(fill(disk))
        await posting.refused.wait()
        left = disk.free_bytes()
        await asyncio.sleep(LATER_SECONDS)
        disk.kill_store()
        reads = await until(posting.reads)
        await filling
        disk.free()
        writes = await until(posting.post)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return Round(len(posting.answered), await posting.lost(), left / MIB, reads, writes)


async def main(asked: argparse.Namespace) -> int:
    """Run all rounds and print them; returns the exit status."""
    settings = {"min_free_disk": asked.least, "appendfsync": asked.appendfsync}
    rounds = []
    for _ in range(asked.rounds):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(await one_round(Path(folder) / "disk", asked.clients, settings))
    head = ["answered", "lost", "MiB left at the first refusal", "reads again, s", "writes again, s"]
    table(
        head,
        [[f"{r.answered:,}", f"{r.lost:,}", f"{r.left_mib:.1f}", f"{r.reads:.2f}", f"{r.writes:.2f}"] for r in rounds],
    )
    return 1 if any(r.lost for r in rounds) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--least", type=int, default=16, help="MIN_FREE_DISK, MiB")
    parser.add_argument("--appendfsync", default="everysec", choices=("everysec", "always"))
    sys.exit(asyncio.run(main(parser.parse_args())))
