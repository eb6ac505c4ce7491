"""The stage of all contenders: one store with one network in it, and signed-in readers."""

import asyncio
import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.clients import SignedIn
from benchmarks.versus import processors
from resolvers.jobs.worker import Worker
from resolvers.operation.inputs import batches
from resolvers.process.tokens import NO_PASSWORD, Tokens
from resolvers.upkeep.importing import network as imports
from resolvers.upkeep.importing.network import Network
from resolvers.upkeep.pipeline import run_all
from store import keys, likes_and_comments
from store.client.database import Database
from store.embedded import attach
from store.layout import versions
from store.secret import Secret
from store.sessions import Session, open_session
from store.settings import Settings

SECRET = "only benchmarks know it, long enough"  # noqa: S105  of a store that is removed
LIKES_PER_POST = 2
BATCH = 100  # likes at a time
HOUR = 3600  # s: longer than any run
ALL_PUSHED = 10_000_000  # followers: no author is so big that readers would have to merge


@dataclass(slots=True)
class Stage:
    """A store, with what is in it."""

    url: str
    socket: str
    db: Database
    process: psutil.Process
    tokens: Tokens
    python: str = sys.executable  # that runs Perch
    network: Network | None = None
    members: dict[str, int] = field(default_factory=dict)
    _looks: int = 0  # of this process at the count of commands

    async def load(self, network: Network) -> Network:
        """Put a network and some likes into the store, in place of another network. Returns it."""
        if network == self.network:
            return network
        await self.db.each_node(("FLUSHDB",))
        await versions.check(self.db)
        await imports.load(self.db, network, NO_PASSWORD)
        self.members = await imports.create_members(self.db, network, NO_PASSWORD, lambda _: None)
        dice = random.Random(network.seed)  # noqa: S311
        members = list(self.members.values())
        public = await self.public_posts()
        await self.like([(post, dice.choice(members)) for post in dice.choices(public, k=LIKES_PER_POST * len(public))])
        self.network = network
        print(f"\nThe site: {len(network.members):,} members, {network.edges:,} follows, {network.total:,} posts.")
        return network

    async def public_posts(self) -> list[int]:
        """Return the posts of the public timeline, the oldest first."""
        return [int(post) for post in await self.db.one("ZRANGE", keys.public(), 0, -1)]

    async def like(self, likes: Sequence[tuple[int, int]]) -> None:
        """Make likes: posts and members."""
        await run_all((self._like(some) for some in batches(likes, BATCH)), lambda _: None)
        await self.work_off()

    async def _like(self, likes: Sequence[tuple[int, int]]) -> None:
        await asyncio.gather(*(likes_and_comments.like(self.db, post, member) for post, member in likes))

    async def work_off(self) -> None:
        """Do all deferred work."""
        while await Worker(self.db).run_once():
            pass

    async def used_cpu(self) -> float:
        """Return the processor time that the store has had, s."""
        info = _facts(await self.db.one("INFO", "cpu"))
        return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])

    async def commands(self) -> int:
        """Return how many commands all nodes of the store have executed, without those of this method."""
        nodes = await self.db.each_node(("INFO", "stats"))
        self._looks += len(nodes)
        return sum(int(_facts(said)["total_commands_processed"]) for (said,) in nodes) - self._looks

    async def sign_in(self, login: str) -> SignedIn:
        """Return a member with a session that outlasts the run."""
        member, now = self.members[login], time.time_ns() // 1_000_000
        session = Session("benchmark", Secret("token"), now, now + HOUR * 24_000, "benchmark")
        await open_session(self.db, member, session)
        token, _ = self.tokens.sign(member, session.id)
        return SignedIn(member, login, token.reveal())

    async def readers(self, count: int, entries: int, seed: int) -> list[SignedIn]:
        """Sign members in, drawn among those whose homes hold more than some entries."""
        logins = list(self.members)
        sizes = await self.db.ask(*(("LLEN", keys.home(self.members[login])) for login in logins))
        fit = [login for login, size in zip(logins, sizes, strict=True) if size > entries]
        chosen = random.Random(seed).sample(fit, min(count, len(fit)))  # noqa: S311
        return [await self.sign_in(login) for login in chosen]


@asynccontextmanager
async def opened(folder: Path, python: str = sys.executable) -> AsyncIterator[Stage]:
    """Start a store in a folder, on the processor that the contenders leave free."""
    settings = Settings(secret_key=SECRET, access_token_seconds=24 * HOUR, big_author=ALL_PUSHED)
    held = await attach.attach(folder)
    db = Database(held.url, settings)
    try:
        process = psutil.Process(int(_facts(await db.one("INFO", "server"))["process_id"]))
        processors.pin(process, processors.LOAD)
        yield Stage(held.url, str(held.socket), db, process, Tokens(settings, SECRET), python)
    finally:
        await db.close()
        await held.close()


def _facts(text: str) -> dict[str, str]:
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
