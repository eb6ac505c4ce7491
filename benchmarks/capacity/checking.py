"""Predicts the memory and processor time of sites of other sizes, and measures both."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.capacity import measuring, sites
from benchmarks.capacity.costs import Costs, Cpu
from benchmarks.capacity.metering import CpuMeter, SampleSize, perch
from benchmarks.capacity.plan import SETTINGS, follow_bytes, hits, home_page, profile_page
from benchmarks.capacity.shape import Shape, capped
from benchmarks.capacity.sites import LoadedSite
from benchmarks.clients import SignedIn
from benchmarks.versus import graph, mixing, queries, stage
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage

HOMES, PROFILES, POSTS, LIKES, FOLLOWS = SHARES = (0.60, 0.28, 0.05, 0.05, 0.02)  # of the requests
KEPT = 4  # records that exist, by those that a process caches: so that it cannot cache all


@dataclass(frozen=True, slots=True)
class PredictionCheck:
    """A prediction and the measurement, for a site of some members."""

    members: int
    what: str
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1 if self.measured else math.inf


async def check(costs: Costs, size: SampleSize, scratch: Path) -> list[PredictionCheck]:
    """Return the checks on a site of a size."""
    members = size.members
    async with stage.opened(scratch / f"check{members}") as opened:
        site = await sites.load(opened, members, size.seed)
        shape = Shape(members, site.follows, graph.POPULARITY)
        readers = await opened.readers(size.requests, queries.PAGE, size.seed)
        measured = await _measured(opened, site, readers, size, scratch)
    predicted = mixed(costs, shape, members // KEPT, len(readers))
    return [
        PredictionCheck(members, "store, MiB", stored(costs, site, shape) / 2**20, site.total / 2**20),
        PredictionCheck(members, "server CPU, µs a request", predicted.server, measured.server),
        PredictionCheck(members, "store CPU, µs a request", predicted.store, measured.store),
    ]


def stored(costs: Costs, site: LoadedSite, shape: Shape) -> float:
    """Return the bytes that a site should take. The import deals posts out in proportion to followers."""
    each, count = costs.memory, site.counts
    received = count["posts"] * (shape.fan_out(math.inf, 1) + 1) / site.members
    entries = site.members * capped(received, SETTINGS.home_size)
    people = site.members * (each.member + each.names + follow_bytes(shape, costs))
    return (
        each.empty
        + each.partitions
        + people
        + count["posts"] * each.post
        + entries * each.entry
        + count["likes"] * each.like
    )


def mixed(costs: Costs, shape: Shape, kept: int, readers: int) -> Cpu:
    """Return what a request of the mixed load should cost, when a process caches so many records of each kind.

    On a small site, posts change a reader's home between two of their pages. The more readers, the longer these wait.
    """
    of = costs.operations
    cached, profiles = hits(shape, kept, PROFILES / (HOMES + PROFILES))
    changes = readers / HOMES * (POSTS * shape.fan_out(math.inf, 0) / shape.members + FOLLOWS / readers)
    post = of.post + of.follower * shape.fan_out(math.inf, 0)
    pages = home_page(costs, cached, math.exp(-changes)) * HOMES + profile_page(costs, profiles) * PROFILES
    return pages + post * POSTS + of.like * LIKES + of.follow * FOLLOWS


async def _measured(
    opened: Stage, site: LoadedSite, readers: Sequence[SignedIn], size: SampleSize, scratch: Path
) -> Cpu:
    async with perch(opened, RECORDS_KEPT=str(size.members // KEPT)) as (server,):
        meter = CpuMeter(opened, server, scratch)
        first, *rounds = await _requests(opened, site, readers, size)
        await meter.send(first)
        return await meter.median(rounds)


async def _requests(
    opened: Stage, site: LoadedSite, readers: Sequence[SignedIn], size: SampleSize
) -> list[list[Request]]:
    """Return the requests of the warm-up and of each round. No like or follow is repeated."""
    dice = random.Random(size.seed + 3)  # noqa: S311  chance that can be repeated, no secret
    rounds, texts = size.rounds + 1, graph.texts(dice)
    whole = replace(size, requests=size.requests * rounds)
    likes = measuring.likes(await opened.public_posts(), readers, whole)
    follows = measuring.follows(opened, site, readers, whole)
    rounds_made = []
    for i in range(rounds):
        homes, profiles, *writes = (int(size.requests * share) for share in SHARES)
        requests = [queries.home(dice.choice(readers).token) for _ in range(homes)]
        requests += mixing.profiles(site.network, dice.sample(readers, len(readers)), profiles)
        requests += [queries.post(dice.choice(readers).token, dice.choice(texts)) for _ in range(writes[0])]
        requests += likes[i * writes[1] : (i + 1) * writes[1]] + follows[i * writes[2] : (i + 1) * writes[2]]
        dice.shuffle(requests)
        rounds_made.append(requests)
    return rounds_made
