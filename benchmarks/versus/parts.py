"""The parts of the benchmark. Each runs the contenders through one kind of work and prints its tables."""

import argparse
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.clients import SignedIn
from benchmarks.versus import (
    alike,
    contenders,
    crowd,
    events,
    feeding,
    graph,
    memory,
    mixing,
    processors,
    queries,
    reading,
    writing,
)
from benchmarks.versus.contenders import ContenderKind
from benchmarks.versus.figures import Figures
from benchmarks.versus.generator import LoadPlan
from benchmarks.versus.queries import Request
from benchmarks.versus.reading import Effort, Measured
from benchmarks.versus.stage import Stage
from resolvers.upkeep.importing.network import Network

READERS = 500  # whose tokens take turns
PROFILES = 500  # asked for in turn
CHECKED = 1_000  # requests whose answers are compared, of a part that has more
WARM = 15_000  # requests of the site that fits no cache, before it is measured


@dataclass(frozen=True, slots=True)
class VersusRun:
    """The options of a run, the store that it measures on, and the figures that it has found."""

    stage: Stage
    asked: argparse.Namespace
    scratch: Path
    figures: Figures = field(default_factory=Figures)

    @property
    def effort(self) -> Effort:
        return Effort(self.asked.rounds, self.asked.seconds, self.asked.warmup, self.asked.connections)

    def kinds(self, able: Sequence[ContenderKind] = tuple(contenders.ALL.values())) -> list[ContenderKind]:
        """Return the chosen contenders among those that are able to do something, and another checkout of Perch."""
        kinds = [kind for name in self.asked.contenders if (kind := contenders.ALL[name]) in able]
        return [*kinds, contenders.of_checkout(self.asked.beside)] if self.asked.beside else kinds

    async def usual(self) -> Network:
        """Return the network of the usual site, which is in the store then."""
        return await self.stage.load(graph.generated(self.asked.members, self.asked.posts, self.asked.seed))

    async def alike(self) -> tuple[Network, list[ContenderKind]]:
        """Return the network where everybody is alike, which is in the store then, and who is measured on it."""
        return await self.stage.load(alike.network(self.asked.seed)), self.kinds(contenders.AS_SHIPPED)

    async def readers(self) -> list[SignedIn]:
        """Return signed-in members who have more than a page at home."""
        return await self.stage.readers(READERS, queries.PAGE, self.asked.seed)

    async def measure(
        self, title: str, kinds: Sequence[ContenderKind], requests: Sequence[Request], *, least: int = 0, at_half: bool
    ) -> Measured:
        """Measure requests at saturation, and perhaps at half of it."""
        effort = replace(self.effort, least=least)
        return await reading.measure(title, self.stage, kinds, requests, effort, self.scratch, at_half=at_half)

    async def check(self, kinds: Sequence[ContenderKind], requests: Sequence[Request], *, posts: bool = False) -> None:
        """Check that contenders answer alike, and that what they post is delivered."""
        async with contenders.running(self.stage, kinds) as running:
            compared = requests[:CHECKED]
            size = contenders.check_equal(running, compared) / len(compared)
            print(f"\n{len(requests):,} reads, {size:,.0f} bytes an answer: all contenders answer the same bytes.")
            if posts:
                await mixing.check_posts(self.stage, running, await self.readers())


async def home(run: VersusRun) -> None:
    """The first page of the home."""
    await run.usual()
    requests = [queries.home(reader.token) for reader in await run.readers()]
    await run.check(run.kinds(), requests)
    await run.measure("A home page of 30", run.kinds(), requests, at_half=True)


async def profile(run: VersusRun) -> None:
    """A member and the first page of their posts."""
    requests = mixing.profiles(await run.usual(), await run.readers(), PROFILES)
    await run.check(run.kinds(), requests)
    await run.measure("A profile page of 30", run.kinds(), requests, at_half=False)


async def memory_over_requests(run: VersusRun) -> None:
    """Memory of Perch over very many home pages, in steps."""
    await run.usual()
    requests = [queries.home(reader.token) for reader in await run.readers()]
    plan = LoadPlan(run.asked.connections, 0, 0, amount=run.asked.requests)
    seen = await memory.measure(run.stage, run.kinds([contenders.PERCH]), requests, plan, run.scratch)
    run.figures.add(f"memory at half of {plan.amount:,} requests, and at the end", seen.get("Perch", ""), seen, {})


async def mixed(run: VersusRun) -> None:
    """Home pages, profile pages and posts."""
    network, readers = await run.usual(), await run.readers()
    await run.check(run.kinds(), mixing.profiles(network, readers, PROFILES), posts=True)
    title = "60 % home pages, 30 % profile pages, 10 % posts"
    measured = await run.measure(title, run.kinds(), mixing.mixed(network, readers, mixing.Pages()), at_half=True)
    run.figures.add_cpu("60 % homes, 30 % profiles, 10 % posts", measured)
    run.figures.add_tail("60 % homes, 30 % profiles, 10 % posts", measured)


async def feed(run: VersusRun) -> None:
    """The first page of the home as the web client asks for it."""
    await run.usual()
    readers, kinds = await run.readers(), run.kinds()
    await feeding.prepare(run.stage, readers, run.asked.seed)
    requests = [queries.feed(reader.token) for reader in readers]
    title = "A home page of 30 with flags, reposters and quoted posts"
    await run.check(kinds, requests)
    measured = await run.measure(title, kinds, requests, at_half=True)
    run.figures.add_cpu("the home page of front ends, cached", measured)
    run.figures.add_tail("the home page of front ends, cached", measured)
    run.figures.add_cpu("the home page of front ends, nothing kept", measured, contenders.PERCH_ANEW.name)


async def live(run: VersusRun) -> None:
    """Events that reach many subscribers of Perch."""
    await run.usual()
    kinds = run.kinds([contenders.PERCH])
    await events.measure(run.stage, kinds, await run.readers(), run.asked.subscribers, run.effort, run.scratch)


async def writes(run: VersusRun) -> None:
    """Posts to many followers."""
    await run.usual()
    await writing.load(run.stage, run.asked.followers)
    by_book = await writing.posts(run.stage, run.kinds([contenders.PERCH]), run.asked.followers, run.asked.rounds)
    for size, share in by_book.items():
        run.figures.add(
            f"fan-out to {size:,} followers, entries for each second of the store", f"{share} by the book", {}, {}
        )


async def alike_profile(run: VersusRun) -> None:
    """A profile of ten posts, seen by somebody new, where everybody is alike."""
    network, kinds = await run.alike()
    requests = mixing.profiles(network, await run.readers(), alike.REQUESTS, queries.visit)
    await run.check(kinds, requests)
    measured = await run.measure("A profile of ten posts, seen by somebody new", kinds, requests, at_half=False)
    run.figures.add_cpu("a profile of ten posts, seen by somebody new", measured)


async def alike_post(run: VersusRun) -> None:
    """A post to 25 followers, where everybody is alike."""
    network, kinds = await run.alike()
    readers = await run.readers()
    await run.check(kinds, mixing.profiles(network, readers, PROFILES, queries.visit), posts=True)
    requests = mixing.posts(readers, alike.REQUESTS, network.seed)
    measured = await run.measure("A post to 25 followers", kinds, requests, at_half=False)
    run.figures.add_cpu("a post to 25 followers", measured)


async def alike_mixed(run: VersusRun) -> None:
    """Homes, profiles of ten posts, and posts, where everybody is alike."""
    network, kinds = await run.alike()
    readers = await run.readers()
    await run.check(kinds, mixing.profiles(network, readers, PROFILES, queries.visit), posts=True)
    requests = mixing.mixed(network, readers, mixing.Pages(queries.feed, queries.visit, alike.REQUESTS))
    measured = await run.measure(
        "60 % homes, 30 % profiles, 10 % posts, everybody alike", kinds, requests, at_half=True
    )
    run.figures.add_cpu("60 % homes, 30 % profiles, 10 % posts, everybody drawn alike", measured)
    run.figures.add_tail("60 % homes, 30 % profiles, 10 % posts, everybody drawn alike", measured)


async def many_members(run: VersusRun) -> None:
    """The page of the web client on a site that fits no cache."""
    with processors.moved(processors.SERVER):  # no server runs yet, and the store has the other one
        await run.stage.load(crowd.network(run.asked.crowd, run.asked.seed))
    kinds, readers = run.kinds(contenders.AS_SHIPPED), await crowd.draw(run.stage, run.asked.seed)
    distinct = {reader.member: reader for reader in readers}
    await feeding.prepare(run.stage, [*distinct.values()], run.asked.seed)
    print(f"\n{len(distinct):,} of {len(run.stage.members):,} members read.")
    requests = [queries.feed(reader.token) for reader in readers]
    await run.check(kinds, requests)
    title = "The same page, read by Zipf among many members"
    measured = await run.measure(title, kinds, requests, least=WARM, at_half=False)
    run.figures.add_cpu(f"the same page on a site of {run.asked.crowd:,} members, which fits no cache", measured)


# In this order, parts do not disturb each other: `mixed` and `events` add posts, `feed` adds reposts, `writes` adds
# members whose homes list posts that don't exist. The others have sites of their own, in place of the usual one.
PARTS: dict[str, Callable[[VersusRun], Awaitable[None]]] = {
    "home": home,
    "profile": profile,
    "memory": memory_over_requests,
    "mixed": mixed,
    "feed": feed,
    "events": live,
    "writes": writes,
    "alike_profile": alike_profile,
    "alike_mixed": alike_mixed,
    "alike_post": alike_post,
    "many_members": many_members,
}
