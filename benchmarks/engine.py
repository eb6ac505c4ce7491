"""Measures the timeline engine: posts by authors of any size, reads of homes of any kind, and memory.

Run it from a checkout with Perch installed: `python -m benchmarks.engine`. It starts a store of its own in a folder
that is removed at the end. Round trips and commands are exact. Times depend on the machine, so they are also given as
ratios to the first row of their table. All rows are measured in the same run, in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import structlog
from aiohttp.test_utils import TestClient, TestServer
from tqdm import tqdm

import schema
from resolvers.homes import build
from resolvers.jobs.worker import Worker
from resolvers.operation.context import Context
from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep.importing import network as imports
from serving.http.app import create_app
from store import jobs, keys, posts
from store.client.database import Command, Database
from store.embedded import attach
from store.events import log as events
from store.events.log import Content
from store.homes import stored
from store.ids import PARTITIONS
from store.posts import Draft
from store.secret import Secret
from store.sessions import Session, open_session
from store.settings import Settings

SECRET = "only benchmarks know it, long enough"  # noqa: S105  of a store that is removed
AUTHORS = (10, 1_000, 10_000, 100_000)  # followers
BIG, BIG_FOLLOWERS = 100, 50  # authors who are big in the second part, and the followers that make them so
ROUNDS = 15  # measurements a row
PAGE = """{ homeTimeline(first: 30) { edges { cursor repostedByCount repostedBy { user { login } } node {
  __typename ... on Post { id text createdAt likeCount repostCount commentCount viewerHasLiked viewerHasReposted
  author { id login name } } } } pageInfo { endCursor hasNextPage } } }"""
POST = 'mutation { post(input: { text: "measured" }) { status { id } } }'


class Counting(Database):
    """Counts the commands it sends."""

    commands = 0

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        self.commands += len(commands)
        return await super().run(commands)


class Site:
    """A whole application in this process, with a store of its own."""

    def __init__(self, url: str, **limits: Any) -> None:
        settings = replace(Settings(redis_url=url, secret_key=SECRET, rate_limit=0), **limits)
        self.db = Counting(url, settings)
        self.services = Services(settings, self.db, SECRET)
        self.client: TestClient[Any, Any]
        self.members: dict[str, int] = {}
        self._tokens: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        await self.services.start()
        self.client = TestClient(TestServer(create_app(schema.build(self.services.settings), self.services, Context)))
        await self.client.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        await self.services.close()
        await self.db.close()

    async def load(self, following: dict[str, list[str]], name: str) -> None:
        """Make members and follows."""
        logins = sorted({*following, *(followed for others in following.values() for followed in others)})
        network = imports.Network(name, logins, following, [], 0, 1)
        with tqdm(total=len(logins) + network.edges, desc=name, unit="", mininterval=0.5) as bar:
            self.members |= await imports.create_members(self.db, network, NO_PASSWORD, bar.update)
            await imports.create_follows(self.db, network, self.members, bar.update)
        await self.work_off()

    async def publish(self, author: str, count: int, originals: Sequence[tuple[int, int]] = ()) -> list[int]:
        """Make posts, or reposts of some, without delivering them; returns their ids."""
        drafts = [Draft(self.members[author], "", original=o, original_author=whose) for o, whose in originals]
        drafts = drafts or [
            Draft(self.members[author], f"post {i} of {author}, as long as most are") for i in range(count)
        ]
        made = [await posts.create(self.db, draft) for draft in drafts]
        for _, _, job in made:
            assert job
            await self.db.ask(jobs.finish(job))
        return [entity_id for _, entity_id, _ in made]

    async def ask(self, member: str, query: str) -> dict[str, Any]:
        """Return the response to a query over HTTP."""
        if member not in self._tokens:
            now = time.time_ns() // 1_000_000
            session = Session(f"s{member}", Secret("token"), now, now + 86_400_000, "benchmark")
            await open_session(self.db, self.members[member], session)
            token, _ = self.services.tokens.sign(self.members[member], session.id)
            self._tokens[member] = token.reveal()
        headers = {"Authorization": f"Bearer {self._tokens[member]}"}
        async with self.client.post("/graphql", json={"query": query}, headers=headers) as response:
            answer: dict[str, Any] = await response.json()
        assert "errors" not in answer, answer
        return answer

    async def work_off(self) -> None:
        """Do all deferred work."""
        while sum(await self.db.ask(*(("XLEN", keys.jobs(p)) for p in range(PARTITIONS)))):
            await Worker(self.db).run_once()


Act = Callable[[], Awaitable[Any]]


async def measure(rows: dict[str, tuple[Act, Act]]) -> dict[str, list[float]]:
    """Return the seconds of each act. Its preparation runs before it and is not measured. The rows take turns."""
    taken: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(ROUNDS + 1):
        for name, (prepare, act) in rows.items():
            await prepare()
            began = time.perf_counter()
            await act()
            taken[name].append(time.perf_counter() - began)
    return {name: seconds[1:] for name, seconds in taken.items()}  # the first round warms up


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table in Markdown."""
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(f"{cell:,.2f}" if isinstance(cell, float) else str(cell) for cell in row) + " |")


def timed(seconds: Sequence[float], first: Sequence[float]) -> list[object]:
    """Return median, spread and ratio to the first row, in ms."""
    low, middle, high = statistics.quantiles(seconds, n=4)
    return [middle * 1000, f"{low * 1000:.2f} to {high * 1000:.2f}", middle / statistics.median(first)]


# ---------------------------------------------------------------- parts


async def answers(url: str) -> None:
    """Measure how long the response to a post takes, for pushed and pulled posts."""
    for big_author, what in ((1_000_000, "pushed to all"), (10_000, "pulled from 10,000 on")):
        async with Site(url, big_author=big_author) as site:
            await site.db.each_node(("FLUSHDB",))
            following = {f"f{i}": [f"author{n}" for n in AUTHORS if i < n] for i in range(max(AUTHORS))}
            await site.load(following, what)
            rows: dict[str, tuple[Act, Act]] = {}
            rows |= {f"{n:,}": (site.work_off, partial(site.ask, f"author{n}", POST)) for n in AUTHORS}
            taken = await measure(rows)
            first = taken[f"{AUTHORS[1]:,}"]
            print(f"\nA post is answered, {what}; ratio to 1,000 followers")
            table(["followers", "ms", "middle half", "ratio"], [[n, *timed(s, first)] for n, s in taken.items()])


async def reads(url: str) -> None:
    """Measure reads of homes: pushed ones, ones with big authors, and those of returning members."""
    async with Site(url, big_author=BIG_FOLLOWERS) as site:
        await site.db.each_node(("FLUSHDB",))
        small, big = [f"small{i}" for i in range(100)], [f"big{i}" for i in range(BIG)]
        many = [*small, *(f"many{i}" for i in range(4_900))]
        readers = {"pushed only": small, "1 big author": [*small, *big[:1]], "10 big authors": [*small, *big[:10]]}
        readers |= {"100 big authors": [*small, *big], "rebuilt from 100": small, "rebuilt from 5,000": many}
        following = {f"reader{i}": followed for i, followed in enumerate(readers.values())}
        following |= {f"fan{i}": big for i in range(BIG_FOLLOWERS)}
        await site.load(following, "readers")
        for author in tqdm([*many, *big], desc="posts", mininterval=0.5):
            await site.publish(author, 10 if author in {*small, *big} else 1)
        rows: dict[str, tuple[Act, Act]] = {}
        for i, name in enumerate(readers):
            member = site.members[f"reader{i}"]
            await build.rebuild(site.db, member)
            drop = stored.drop_home(member) if "rebuilt" in name else ("PING",)
            rows[name] = (partial(site.db.one, *drop), partial(site.ask, f"reader{i}", PAGE))
        taken = await measure(rows)
        lines = []
        for name, (prepare, act) in rows.items():
            await prepare()
            site.db.round_trips = site.db.commands = 0
            await act()
            costs = [site.db.round_trips, site.db.commands]
            lines.append([name, *costs, *timed(taken[name], taken["pushed only"])])
        print("\nA page of 30 of the home; ratio to a home that was pushed")
        table(["home", "round trips", "commands", "ms", "middle half", "ratio"], lines)


async def memory(url: str) -> None:
    """Measure the memory of the store for a home entry and for a member."""
    async with Site(url) as site:
        await site.db.each_node(("FLUSHDB",))
        empty = await site.db.used_memory()
        readers = {f"reader{i}": ["author"] for i in range(200)}
        others = {f"other{i}": ["reposter"] for i in range(200)}
        idle: dict[str, list[str]] = {f"idle{i}": ["author"] for i in range(20_000)}
        await site.load({**readers, **others, "stranger": ["author"]}, "readers")
        size = site.db.settings.home_size
        made = await site.publish("author", size)
        stranger = await site.publish("stranger", size)
        await site.publish("reposter", size, [(post, site.members["stranger"]) for post in stranger])
        rows = []
        for names, what in ((readers, "a home entry by its author"), (others, "a home entry by a repost")):
            before = await site.db.used_memory()
            for name in names:
                await build.rebuild(site.db, site.members[name])
            rows.append([what, (await site.db.used_memory() - before) / (len(names) * size)])
        before = await site.db.used_memory()
        await site.load(idle, "idle members")
        await site.db.ask(*(stored.drop_home(site.members[name]) for name in idle))
        each = (await site.db.used_memory() - before) / len(idle)
        rows += [["an idle member who follows one", each], ["a million of them, MiB", each * 1_000_000 / 2**20]]
        rows.append(["a post", float(await site.db.one("MEMORY", "USAGE", keys.status(made[0])))])
        table(["memory", "bytes"], [*rows, ["the empty store", float(empty)]])


WORDS = {"posts": "the quick brown fox jumps over a lazy dog", "follows": ""}  # the texts of the events' posts
KEPT, TIMES = 2_000, 10  # events kept here, and how many times as many are appended
APPENDED = 500  # in one round trip


async def log(url: str) -> None:
    """Measure size and cost of the event log and of the names of its events, after it was filled many times over."""
    async with Site(url, events_kept=KEPT) as site:
        rows: list[list[object]] = []
        for what, words in WORDS.items():
            await site.db.each_node(("FLUSHDB",))
            for multiple in range(TIMES):
                for first in range(multiple * KEPT, (multiple + 1) * KEPT, APPENDED):
                    await asyncio.gather(*(_happen(site.db, first + i, words) for i in range(APPENDED)))
                if multiple + 1 in {1, 2, TIMES}:
                    rows.append([what, f"{(multiple + 1) * KEPT:,}", *await _log_memory(site.db)])
        head = ["events", "appended", "kept", "names", "log, bytes an event", "names, bytes an event", "MiB at 100,000"]
        print(f"\nThe event log with EVENTS_KEPT={KEPT:,}")
        table(head, rows)


async def _happen(db: Database, number: int, words: str) -> None:
    entity_id = (60_000_000_000 + number) << 12  # as long as ids are
    if words:
        await events.append(db, f"post:{entity_id}", "post", entity_id, Content(words), post=entity_id, is_public=1)
    else:
        await events.append(db, f"follow:{entity_id}", "follow", entity_id, member=entity_id)


async def _log_memory(db: Database) -> list[object]:
    log, names = keys.events(), keys.event_ids()
    sizes = await db.ask(("XLEN", log), ("ZCARD", names))
    used = await db.ask(*(("MEMORY", "USAGE", key, "SAMPLES", 0) for key in (log, names)))
    each = [size / KEPT for size in used]
    return [*(f"{size:,}" for size in sizes), *each, sum(each) * 100_000 / 2**20]


PARTS = {"log": log, "answers": answers, "reads": reads, "memory": memory}


async def main(wanted: Sequence[str]) -> None:
    """Run some parts, each on an empty database."""
    with tempfile.TemporaryDirectory() as folder:
        held = await attach.attach(Path(folder))
        try:
            for name in wanted:
                await PARTS[name](held.url)
        finally:
            await held.close()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all of them by default")
    asyncio.run(main(parser.parse_args().parts or [*PARTS]))
