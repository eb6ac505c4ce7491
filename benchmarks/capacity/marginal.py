"""Measures what lies on one node, and what it costs a reader to pull the posts of a big author."""

import time
from dataclasses import replace
from pathlib import Path

from benchmarks.capacity.costs import Cpu, Shared
from benchmarks.capacity.metering import CpuMeter, SampleSize, commands, perch
from benchmarks.versus import queries
from benchmarks.versus.stage import HOUR, Stage
from resolvers.jobs.worker import Worker
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep.importing import network as imports
from resolvers.upkeep.importing.network import Network
from store import promotions, public_timelines, search
from store.client.database import Command, Database
from store.events import log
from store.events.log import EventContent
from store.keys.fields import PromotionField

BIG_AUTHORS = 20  # that some readers follow
BIG = 60  # followers that make one big
READERS = 25  # of each kind
POSTS = 40  # of each author
SCORE = 1e6  # less than that of the posts there are
PROMOTIONS = 100  # that run
SHOWN = 3  # of them on a page
TEXT = "to all of you, as long as most posts are, more or less"


async def measure(opened: Stage, size: SampleSize) -> Shared:
    """Return the costs of commands on keys that all members share."""
    db, ends = opened.db, time.time_ns() // 1_000_000 + 1000 * HOUR
    made = [await db.mint() for _ in range(size.requests)]
    for _ in range(PROMOTIONS):
        await promotions.create(db, sponsor=made[0], ends=ends, subject={PromotionField.MEMBER: made[0]})

    def listing(post: int) -> list[Command]:
        return public_timelines.add_commands(db, post, ["tea"], SCORE)

    def event(post: int) -> Command:
        return log.append_command(db, f"post:{post}", "post", post, EventContent(TEXT), post=post, is_public=1)

    return Shared(
        public=await commands(opened, [listing(post)[0] for post in made]),
        hashtag=await commands(opened, [listing(post)[1] for post in made]),
        append=await commands(opened, [event(post) for post in made]),
        names=await commands(opened, [search.write({new: search.state(0, [f"new{new}"])}) for new in made]),
        promotions=await commands(opened, [promotions.running(seed, SHOWN) for seed in made]),
    )


async def big_authors(opened: Stage, size: SampleSize, scratch: Path) -> Cpu:
    """Return what a home page costs more for each big author whose posts it pulls."""
    db = Database(opened.url, replace(opened.db.settings, big_author=BIG))
    try:
        network = _network()
        opened.members = await imports.create_members(db, network, NO_PASSWORD, _ignore)
        await imports.create_follows(db, network, opened.members, _ignore)
        while await Worker(db).run_once():
            pass
        await imports.create_posts(db, network, opened.members, _ignore)
        await imports.create_homes(db, list(opened.members.values()), _ignore)
    finally:
        await db.close()
    readers = {kind: [await opened.sign_in(f"{kind}{i}") for i in range(READERS)] for kind in ("pushed", "pulled")}
    pages = {
        kind: [queries.home(one.token) for one in some] * (size.requests // READERS or 1)
        for kind, some in readers.items()
    }
    async with perch(opened, BIG_AUTHOR=str(BIG)) as (server,):
        meter = CpuMeter(opened, server, scratch)
        await meter.send(pages["pushed"] + pages["pulled"])
        costs = {kind: await meter.median([some] * size.rounds) for kind, some in pages.items()}
    return (costs["pulled"] - costs["pushed"]) * (1 / BIG_AUTHORS)


def _network() -> Network:
    """Return readers of as many authors each, half of whom follow big ones."""
    big, small = ([f"{kind}{i}" for i in range(BIG_AUTHORS)] for kind in ("big", "small"))
    following = {f"pulled{i}": big for i in range(READERS)} | {f"pushed{i}": small for i in range(READERS)}
    following |= {f"fan{i}": big for i in range(BIG)}
    texts = [f"{TEXT} {i}" for i in range(POSTS)]
    return Network("big authors", [*big, *small, *following], following, texts, 2 * BIG_AUTHORS * POSTS, 1)


def _ignore(_: int) -> None:
    pass
