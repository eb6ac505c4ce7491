"""The parts of the benchmark. Each runs the contenders through one kind of work and prints its tables."""

import argparse
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clients import SignedIn
from benchmarks.versus import contenders, crowd, events, feeding, memory, mixing, queries, reading, writing
from benchmarks.versus.contenders import Contender, ContenderKind
from benchmarks.versus.load import LoadPlan
from benchmarks.versus.queries import Request
from benchmarks.versus.reading import Effort
from benchmarks.versus.stage import Stage
from resolvers.upkeep.importing.network import Network

READERS = 500  # whose tokens take turns
PROFILES = 500  # asked for in turn
CHECKED = 1_000  # requests of `many_members` whose answers are compared


@dataclass(frozen=True, slots=True)
class VersusRun:
    """The options of a run, and the store that it measures on."""

    stage: Stage
    network: Network
    asked: argparse.Namespace
    scratch: Path

    @property
    def effort(self) -> Effort:
        return Effort(self.asked.rounds, self.asked.seconds, self.asked.warmup, self.asked.connections)

    def kinds(self, able: Sequence[ContenderKind] = tuple(contenders.ALL.values())) -> list[ContenderKind]:
        """Return the chosen contenders among those that are able to do something, and another checkout of Perch."""
        kinds = [kind for name in self.asked.contenders if (kind := contenders.ALL[name]) in able]
        return [*kinds, contenders.of_checkout(self.asked.beside)] if self.asked.beside else kinds

    async def readers(self) -> list[SignedIn]:
        """Return signed-in members who have more than a page at home."""
        return await self.stage.readers(READERS, queries.PAGE, self.asked.seed)

    async def measure(self, title: str, running: Sequence[Contender], requests: Sequence[Request]) -> None:
        """Measure requests at saturation and at half of it."""
        await reading.measure(title, self.stage, running, requests, self.effort, self.scratch)

    async def compare(self, title: str, kinds: Sequence[ContenderKind], requests: Sequence[Request]) -> None:
        """Check that contenders answer alike, and measure them."""
        async with contenders.running(self.stage, kinds) as running:
            compared = requests[:CHECKED]
            size = contenders.check_equal(running, compared) / len(compared)
            print(f"\n{len(requests):,} requests, {size:,.0f} bytes an answer: all contenders answer the same bytes.")
            await self.measure(title, running, requests)


async def home(run: VersusRun) -> None:
    """The first page of the home."""
    requests = [queries.home(reader.token) for reader in await run.readers()]
    await run.compare("A home page of 30", run.kinds(), requests)


async def profile(run: VersusRun) -> None:
    """A member and the first page of their posts."""
    requests = mixing.profiles(run.network, await run.readers(), PROFILES)
    await run.compare("A profile page of 30", run.kinds(), requests)


async def memory_over_requests(run: VersusRun) -> None:
    """Memory of each server over very many home pages, in steps."""
    requests = [queries.home(reader.token) for reader in await run.readers()]
    plan = LoadPlan(run.asked.connections, 0, 0, amount=run.asked.requests)
    async with contenders.running(run.stage, run.kinds()) as running:
        await memory.measure(run.stage, running, requests, plan, run.scratch)


async def mixed(run: VersusRun) -> None:
    """Home pages, profile pages and posts."""
    readers = await run.readers()
    async with contenders.running(run.stage, run.kinds()) as running:
        contenders.check_equal(running, mixing.profiles(run.network, readers, PROFILES))
        await mixing.check_posts(run.stage, running, readers)
        requests = mixing.mixed(run.network, readers)
        await run.measure("60 % home pages, 30 % profile pages, 10 % posts", running, requests)


async def feed(run: VersusRun) -> None:
    """The first page of the home as the web client asks for it."""
    readers = await run.readers()
    await feeding.prepare(run.stage, readers, run.asked.seed)
    requests = [queries.feed(reader.token) for reader in readers]
    title = "A home page of 30 with flags, reposters and quoted posts"
    await run.compare(title, run.kinds(contenders.WHOLE_PAGE), requests)


async def live(run: VersusRun) -> None:
    """Events that reach many subscribers of Perch."""
    kinds = run.kinds([contenders.PERCH])
    await events.measure(run.stage, kinds, await run.readers(), run.asked.subscribers, run.effort, run.scratch)


async def writes(run: VersusRun) -> None:
    """Posts to many followers."""
    await writing.load(run.stage, run.asked.followers)
    async with contenders.running(run.stage, run.kinds([contenders.PERCH])) as running:
        await writing.posts(run.stage, running, run.asked.followers, run.asked.rounds)


async def many_members(run: VersusRun) -> None:
    """The page of the web client on a site that fits no cache; empties the store."""
    await run.stage.db.each_node(("FLUSHDB",))
    await run.stage.load(crowd.network(run.asked.crowd, run.asked.seed))
    readers = await crowd.draw(run.stage, run.asked.seed)
    distinct = {reader.member: reader for reader in readers}
    await feeding.prepare(run.stage, [*distinct.values()], run.asked.seed)
    print(f"\n{len(distinct):,} of {len(run.stage.members):,} members read.")
    requests = [queries.feed(reader.token) for reader in readers]
    await run.compare("The same page, read by Zipf among many members", run.kinds(contenders.WHOLE_PAGE), requests)


# In this order, parts do not disturb each other: `mixed` and `events` add posts, `feed` adds reposts, `writes` adds
# members whose homes list posts that don't exist, and `many_members` empties the store.
PARTS: dict[str, Callable[[VersusRun], Awaitable[None]]] = {
    "home": home,
    "profile": profile,
    "memory": memory_over_requests,
    "mixed": mixed,
    "feed": feed,
    "events": live,
    "writes": writes,
    "many_members": many_members,
}
