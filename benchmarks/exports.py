"""Measures the export of a member with many posts, and reading it back: time, memory, and what others notice.

Run it from a checkout with Perch installed, on Linux: `python -m benchmarks.exports`. The server is a process of its
own on an embedded store in a folder that is removed at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.streams import table
from benchmarks.wire import SERVER, Poster, Server, serving, sign_up
from resolvers.operation.inputs import batches
from resolvers.rules import ranking
from store import jobs, kinds
from store.client.database import Database
from store.embedded import attach
from store.exports import lists
from store.homes import stored as homes
from store.ids import instant
from store.posts import Draft, create_command
from store.records.jobs import Job
from store.settings import Settings
from store.upkeep.copying import imports as stored
from store.upkeep.copying.imports import NewPost

POSTS = 100_000
PASSWORD = "correct horse battery"  # noqa: S105  of a member who is removed
TEXT = "a post as long as most are, number {}, about nothing that anybody has to know #tea"
BATCH = 500  # posts of one pipeline while the store is filled
PIECE = 1 << 16  # bytes read at a time
PAUSE = 0.02  # s between two looks at the server
EXPORT = "mutation($input: ExportDataInput!) { exportData(input: $input) { url userErrors { message } } }"
MIB = 1 << 20


class Watch(threading.Thread):
    """Looks at a server again and again: its memory, and how long it takes to say that it lives."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._ended = threading.Event()
        self.memory = server.memory
        self.delays: list[float] = []

    def run(self) -> None:
        """Look until `end` is called."""
        connection = HTTPConnection("127.0.0.1", self._server.port)
        while not self._ended.wait(PAUSE):
            began = time.perf_counter()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            self.delays.append(1000 * (time.perf_counter() - began))
            self.memory = max(self.memory, self._server.memory)

    def end(self) -> list[float]:
        """Stop looking; returns the delays in ms, shortest first."""
        self._ended.set()
        self.join()
        return sorted(self.delays)


async def _fill(folder: Path, member: int, count: int) -> None:
    """Write posts by one member, every third of which answers the one before, without delivering them."""
    held = await attach.attach(folder)
    db = Database(held.url, Settings())
    try:
        last = root = 0
        for numbers in batches(range(count), BATCH):
            drafts = [_draft(member, number, last, root) for number in numbers]
            made = [int(reply[1]) for reply in await db.ask(*(create_command(db, draft) for draft in drafts))]
            last, root = made[-1], root or made[0]
            await stored.list_publicly(db, [NewPost(post, ("tea",), ranking.score(instant(post))) for post in made])
            await db.ask(*(jobs.finish(Job(post, "post", {})) for post in made))
    finally:
        await db.close()
        await held.close()


def _draft(member: int, number: int, last: int, root: int) -> Draft:
    text = TEXT.format(number)
    if not last or number % 3:
        return Draft(member, text, hashtags=("tea",))
    return Draft(member, text, hashtags=("tea",), reply_to=last, reply_to_author=member, root=root)


async def _listed(folder: Path, member: int) -> list[list[str]]:
    """Return a member's profile and home as the store lists them."""
    held = await attach.attach(folder)
    db = Database(held.url, Settings())
    try:
        (profile,) = await db.ask(lists.page_command(kinds.PROFILE, member, 0, POSTS * 2))
        found = sorted((entry.place, entry.entity) for entry in await homes.home(db, member))
        home = [f"{entity} {place}" for place, entity in found[-db.settings.home_size :]]
        return [list(profile), home]
    finally:
        await db.close()
        await held.close()


def _fetch(server: Server, token: str, file: Path) -> list[object]:
    """Fetch the export into a file; returns a table row about it."""
    url = Poster(server.port, token).ask(EXPORT, input={"password": PASSWORD})["exportData"]["url"]
    server.wait_until_idle()
    before, cpu, watch, began = server.memory, server.cpu, Watch(server), time.perf_counter()
    watch.start()
    connection = HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", url)
    response = connection.getresponse()
    with file.open("wb") as opened:
        while piece := response.read(PIECE):
            opened.write(piece)
    seconds, delays = time.perf_counter() - began, watch.end()
    late = [delays[int(len(delays) * share)] for share in (0.5, 0.99)] if delays else [0.0, 0.0]
    size, growth = file.stat().st_size / MIB, (watch.memory - before) / MIB
    return ["export", seconds, server.cpu - cpu, size, before / MIB, growth, *late, max(delays, default=0.0)]


def _command(folder: Path, *arguments: str) -> list[object]:
    """Run a command; returns its last line, the seconds it took, and its most memory, MiB."""
    environment = os.environ | {"DATA_DIR": str(folder), "LOG_LEVEL": "WARNING"}
    began = time.perf_counter()
    command = [sys.executable, str(SERVER), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:  # noqa: S603  own script
        assert running.stdout
        line = running.stdout.read().strip().splitlines()[-1]
        _, running.returncode, used = os.wait4(running.pid, 0)
    return [line, time.perf_counter() - began, used.ru_maxrss / 1024]


def measure(folder: Path, counts: Sequence[int]) -> None:
    """Export members with so many posts, and read the last one back into an empty store; prints tables."""
    rows, file = [], folder / "export.zip"
    with serving(folder / "first") as server:
        tokens, ids = sign_up(server.port, len(counts))
        members = [int(one.rpartition("_")[2], 16) for one in ids]
        for token, member, count in zip(tokens, members, counts, strict=True):
            asyncio.run(_fill(folder / "first", member, count))
            rows.append([f"{count:,}", *_fetch(server, token, file)[1:]])
        before = asyncio.run(_listed(folder / "first", members[-1]))
    columns = ["time, s", "CPU, s", "file, MiB", "memory before, MiB", "growth, MiB"]
    table(["posts", *columns, "healthz p50, ms", "p99, ms", "most, ms"], rows)
    commands = (("import-account", str(file)), ("verify",))
    table(["read back", "time, s", "peak memory, MiB"], [_command(folder / "second", *one) for one in commands])
    with serving(folder / "second"):
        after = asyncio.run(_listed(folder / "second", members[-1]))
    print(f"profile equal: {before[0] == after[0]}; home equal: {before[1] == after[1]}")


def main() -> None:
    """Measure members with a hundredth, a tenth, and all of the posts."""
    parser = argparse.ArgumentParser(description="Measures exports.")
    parser.add_argument("--posts", type=int, default=POSTS, help=f"of the largest member (default {POSTS:,})")
    most = parser.parse_args().posts
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), [most // 100, most // 10, most])


if __name__ == "__main__":
    main()
