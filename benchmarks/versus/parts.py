"""The parts of the benchmark. Each runs the contenders through one kind of work and prints its tables."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.versus import (
    budgeting,
    contenders,
    crowd,
    feeding,
    graph,
    growing,
    lasting,
    liking,
    mixing,
    observing,
    pictured,
    queries,
    reading,
    replaying,
    scaling,
    stepping,
    writing,
)
from benchmarks.versus.load import Plan
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Reader, Stage
from resolvers.upkeep.importing.network import Network

READERS = 500  # whose tokens take turns
PROFILES = 500  # asked for in turn
POSTS_PER_MEMBER = 5
MANY_CONNECTIONS = 100


@dataclass(frozen=True, slots=True)
class Run:
    """The options of a run, and the store that it measures on."""

    stage: Stage
    network: Network
    asked: argparse.Namespace
    scratch: Path

    @property
    def effort(self) -> Effort:
        return Effort(self.asked.rounds, self.asked.seconds, self.asked.warmup, self.asked.connections)

    @property
    def kinds(self) -> list[contenders.Kind]:
        kinds = [contenders.ALL[name] for name in self.asked.contenders]
        return [*kinds, contenders.of_checkout(self.asked.beside)] if self.asked.beside else kinds

    async def readers(self) -> list[Reader]:
        """Return signed-in members who have more than a page at home."""
        return await self.stage.readers(READERS, queries.PAGE, self.asked.seed)

    async def homes(self) -> list[queries.Request]:
        """Return what asks for a page of each of their homes."""
        return [queries.home(reader.token) for reader in await self.readers()]

    async def measure(
        self, title: str, running: Sequence[contenders.Contender], requests: Sequence[queries.Request]
    ) -> None:
        """Measure requests at saturation and at half of it."""
        await reading.measure(title, self.stage, running, requests, self.effort, self.scratch)


async def home(run: Run) -> None:
    """The first page of the home."""
    requests = await run.homes()
    async with contenders.running(run.stage, run.kinds) as running:
        size = contenders.check_equal(running, requests)
        print(f"\n{len(requests)} homes, {size / len(requests):,.0f} bytes each: all contenders answer the same bytes.")
        await run.measure("A home page of 30", running, requests)


async def feed(run: Run) -> None:
    """The first page of the home as the web client asks for it."""
    readers = await run.readers()
    await feeding.prepare(run.stage, readers, run.asked.seed)
    requests = [queries.feed(reader.token) for reader in readers]
    kinds = [kind for kind in run.kinds if kind.folder == run.asked.beside or kind in contenders.WHOLE_PAGE]
    async with contenders.running(run.stage, kinds) as running:
        size = contenders.check_equal(running, requests)
        print(f"\n{len(requests)} homes, {size / len(requests):,.0f} bytes each: all contenders answer the same bytes.")
        await run.measure("A home page of 30 with flags, reposters and quoted posts", running, requests)


async def many_members(run: Run) -> None:
    """The same page on a site that fits no cache; empties the store."""
    await run.stage.db.each_node(("FLUSHDB",))
    await run.stage.load(crowd.network(run.asked.crowd, run.asked.seed))
    readers = await crowd.draw(run.stage, run.asked.seed)
    distinct = {reader.member: reader for reader in readers}
    await feeding.prepare(run.stage, [*distinct.values()], run.asked.seed)
    requests = [queries.feed(reader.token) for reader in readers]
    kinds = [kind for kind in run.kinds if kind.folder == run.asked.beside or kind in contenders.WHOLE_PAGE]
    async with contenders.running(run.stage, kinds) as running:
        contenders.check_equal(running, requests[: crowd.HOT // 10])
        print(f"\n{len(requests):,} requests by {len(distinct):,} of {len(run.stage.members):,} members.")
        await run.measure("The same page, read by Zipf among many members", running, requests)
    await crowd.hot(run.stage, kinds, requests)


async def pictures(run: Run) -> None:
    """The first page of the home of Perch, with pictures and without."""
    readers = await run.readers()
    plain, asking = pictured.plain(readers), pictured.with_images(readers)
    kinds = [kind for kind in run.kinds if kind.command == contenders.PERCH.command]
    async with contenders.running(run.stage, kinds) as running:
        await run.measure("A home page of 30 without pictures", running, plain)
        await run.measure("The same, pictures asked for, none there", running, asking)
        async with pictured.pictures(run.stage) as count:
            size = contenders.check_equal(running, asking) / len(asking)
            print(f"\n{count:,} posts have a picture each: a page has {size:,.0f} bytes.")
            await run.measure("The same, a picture in each post", running, asking)


async def profile(run: Run) -> None:
    """A member and the first page of their posts."""
    requests = mixing.profiles(run.network, await run.readers(), PROFILES)
    async with contenders.running(run.stage, run.kinds) as running:
        contenders.check_equal(running, requests)
        await run.measure("A profile page of 30", running, requests)


async def mixed(run: Run) -> None:
    """Home pages, profile pages and posts."""
    await _mixed(run, "60 % home pages, 30 % profile pages, 10 % posts", (60, 30, 10))


async def alternating(run: Run) -> None:
    """As many posts as home pages."""
    await _mixed(run, "A home page for each post", (50, 0, 50))


async def _mixed(run: Run, title: str, shares: tuple[int, int, int]) -> None:
    readers = await run.readers()
    async with contenders.running(run.stage, run.kinds) as running:
        contenders.check_equal(running, mixing.profiles(run.network, readers, PROFILES))
        await mixing.check_posts(run.stage, running, readers)
        await run.measure(title, running, mixing.mixed(run.network, readers, shares))


async def writes(run: Run) -> None:
    """Posts to many followers, and likes."""
    await writing.load(run.stage, run.asked.followers)
    readers = await run.readers()
    async with contenders.running(run.stage, [contenders.PERCH]) as (perch,):
        await writing.posts(run.stage, perch, run.asked.followers, run.asked.rounds, run.asked.charts)
        await liking.measure(run.stage, perch, readers, run.asked.rounds, run.asked.connections, run.scratch)


async def first(run: Run) -> None:
    """A query text that is new."""
    async with contenders.running(run.stage, run.kinds) as running:
        lasting.first_and_later(running, await run.readers())


async def many(run: Run) -> None:
    """Very many home pages, and memory meanwhile."""
    requests = await run.homes()
    plan = Plan(MANY_CONNECTIONS, run.asked.warmup, 0, amount=run.asked.amount)
    async with contenders.running(run.stage, run.kinds) as running:
        await lasting.many(run.stage, running, requests, plan, run.scratch)


async def memory(run: Run) -> None:
    """Memory of each server over very many home pages, in steps."""
    requests = await run.homes()
    plan = Plan(run.asked.connections, 0, 0, amount=run.asked.requests)
    async with contenders.running(run.stage, run.kinds) as running:
        await lasting.memory(run.stage, running, requests, plan, run.scratch, run.asked.charts)


async def limit(run: Run) -> None:
    """How many home pages the store itself could serve."""
    await replaying.measure(run.stage, run.kinds, await run.homes(), run.effort, run.scratch)


async def steps(run: Run) -> None:
    """The gain of each step, from plain Strawberry on."""
    await stepping.measure(run.stage, await run.homes(), run.effort, run.scratch)


async def budget(run: Run) -> None:
    """The cost of each part of a home page, and its budget."""
    await budgeting.measure(run.stage, await run.homes(), run.effort, run.scratch)


async def processes(run: Run) -> None:
    """Home pages by several server processes, nothing pinned."""
    await scaling.measure(run.stage, run.asked.processes, await run.homes(), run.effort, run.scratch)


async def observed(run: Run) -> None:
    """Home pages with metrics and traces, from cached answers and made anew."""
    requests = await run.homes()
    async with observing.collector() as url:
        for title, settings in (("A home page from a cached answer", {}), ("Made anew", {"ANSWERS_KEPT_MIB": "0"})):
            async with contenders.running(run.stage, observing.kinds(url, settings)) as running:
                await run.measure(title, running, requests)


async def growth(run: Run) -> None:
    """Home pages by their size, by the length of the home, and by the depth of the query."""
    readers = await run.readers()
    asked = (run.effort, run.scratch, run.asked.charts)
    async with contenders.running(run.stage, run.kinds) as running:
        await growing.measure(run.stage, running, growing.pages(readers), *asked)
        await growing.measure(run.stage, running, await growing.lengths(run.stage, run.asked.seed), *asked)
    async with contenders.running(run.stage, [contenders.PERCH]) as running:
        await growing.measure(run.stage, running, growing.nesting(readers), *asked)


async def members(run: Run) -> None:
    """Home pages by the members of the site; empties the store for each size."""
    found: growing.Found = {}
    for size in run.asked.sizes:
        await run.stage.db.each_node(("FLUSHDB",))
        await run.stage.load(graph.generated(size, size * POSTS_PER_MEMBER, run.asked.seed))
        requests = await run.homes()
        async with contenders.running(run.stage, run.kinds) as running:
            contenders.check_equal(running, requests)
            found[size] = [
                await growing.turn(run.stage, running, requests, run.effort, run.scratch)
                for _ in range(run.effort.rounds)
            ]
    growing.report(growing.MEMBERS, found, run.asked.charts)


# In this order, parts do not disturb each other: `mixed` and `alternating` add posts, `feed` adds reposts, `growth`
# truncates homes, `writes` adds members whose homes list posts that don't exist, `many_members` and `members` empty
# the store.
_ORDERED = (
    home,
    observed,
    pictures,
    profile,
    first,
    memory,
    many,
    limit,
    steps,
    budget,
    processes,
    mixed,
    alternating,
    feed,
)
PARTS: dict[str, Callable[[Run], Awaitable[None]]] = {
    part.__name__: part for part in (*_ORDERED, growth, writes, many_members, members)
}
USUAL = ("home", "mixed", "writes")
