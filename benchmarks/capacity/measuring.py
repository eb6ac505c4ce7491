"""Measures what each unit costs, on one small site."""

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

from benchmarks.capacity import live, marginal, sites
from benchmarks.capacity.costs import Costs, Cpu, Memory, Operations
from benchmarks.capacity.metering import CpuMeter, SampleSize, perch
from benchmarks.capacity.sites import LoadedSite
from benchmarks.clients import SignedIn
from benchmarks.versus import mixing, queries, stage, writing
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from resolvers.reading import global_ids
from store import keys

FOLLOW = """mutation Follow($user: ID!) { follow(input: { userIds: [$user] }) {
  users { followerCount viewerIsFollowing } userErrors { message } } }"""
WARM_UP = 0.2  # share of the readers who read before anything is measured


async def measure(size: SampleSize, scratch: Path) -> Costs:
    """Return all costs."""
    async with stage.opened(scratch / "units") as opened:
        site = await sites.load(opened, size.members, size.seed)
        before = await opened.db.used_memory()
        readers = await opened.readers(size.requests, queries.PAGE, size.seed)
        session = (await opened.db.used_memory() - before) / len(readers)
        cold, uncached, profile_cold = await _cold(opened, readers, site, scratch)
        async with perch(opened) as (server,):
            process = server.memory
            meter = CpuMeter(opened, server, scratch)
            operations = await _operations(meter, readers, site, size)
            process = max(process, server.memory)
        await writing.load(opened, size.fans)
        posted = await live.measure(opened, size, scratch)
        long_side = await _long_side(opened, size)
        shared = await marginal.measure(opened, size)
    async with stage.opened(scratch / "big") as opened:
        big_author = await marginal.big_authors(opened, size, scratch)
    return Costs(
        _memory(site, session, long_side, process, posted.subscriber),
        Operations(
            **operations,
            home_uncached=uncached,
            home_cold=cold,
            profile_cold=profile_cold,
            big_author=big_author,
            post=posted.post,
            follower=posted.follower,
            delivery=posted.delivery,
            event=posted.event,
        ),
        shared,
    )


async def _cold(opened: Stage, readers: Sequence[SignedIn], site: LoadedSite, scratch: Path) -> tuple[Cpu, Cpu, Cpu]:
    """Return the costs of a home page that nobody has read, of one that its viewer has, and of such a profile."""
    homes = [queries.home(reader.token) for reader in readers]
    first = int(len(homes) * WARM_UP)
    profiles = mixing.profiles(site.network, readers, len(homes))
    async with perch(opened, RECORDS_KEPT="1") as (server,):
        meter = CpuMeter(opened, server, scratch)
        await meter.send(homes[:first])
        cold = await meter.cost(homes[first:])
        uncached = await meter.median([homes[first:]] * 3)
        return cold, uncached, await meter.median([profiles] * 3)


async def _operations(
    meter: CpuMeter, readers: Sequence[SignedIn], site: LoadedSite, size: SampleSize
) -> dict[str, Cpu]:
    """Return the costs of pages whose records are cached, and of likes and follows."""
    homes = [queries.home(reader.token) for reader in readers]
    profiles = mixing.profiles(site.network, readers, len(homes))
    await meter.send(homes + profiles)
    rounds = size.rounds
    liked, followed = likes(await meter.stage.public_posts(), readers, size), follows(meter.stage, site, readers, size)
    return {
        "home": await meter.median([homes] * rounds),
        "profile": await meter.median([profiles] * rounds),
        "like": await meter.median(_dealt(liked, rounds)),
        "follow": await meter.median(_dealt(followed, rounds)),
    }


def likes(posts: Sequence[int], readers: Sequence[SignedIn], size: SampleSize) -> list[Request]:
    """Return requests that like posts, each another one by another reader."""
    dice = random.Random(size.seed + 1)  # noqa: S311  chance that can be repeated, no secret
    turns = zip(itertools.cycle(readers), dice.choices(posts, k=size.requests), strict=False)
    return [queries.like(reader.token, global_ids.post_id(post, is_repost=False)) for reader, post in turns]


def follows(opened: Stage, site: LoadedSite, readers: Sequence[SignedIn], size: SampleSize) -> list[Request]:
    """Return requests that follow members whom the readers do not follow yet."""
    dice = random.Random(size.seed + 2)  # noqa: S311  chance that can be repeated, no secret
    requests = []
    for reader in itertools.islice(itertools.cycle(readers), size.requests):
        known = {reader.login, *site.network.following[reader.login]}
        other = next(login for login in iter(lambda: dice.choice(site.network.members), None) if login not in known)
        requests.append(_follow(reader, opened.members[other]))
    return requests


def _follow(reader: SignedIn, other: int) -> Request:
    return Request(reader.token, FOLLOW, {"user": global_ids.user_id(other)})


def _dealt(requests: Sequence[Request], rounds: int) -> list[Sequence[Request]]:
    size = len(requests) // rounds
    return [requests[i * size : (i + 1) * size] for i in range(rounds)]


async def _long_side(opened: Stage, size: SampleSize) -> float:
    """Return the bytes of a follower in a list that is long."""
    most = max(size.fans)
    key = keys.followers(opened.members[f"author{most}"])
    return float(await opened.db.one("MEMORY", "USAGE", key, "SAMPLES", 0)) / most


def _memory(site: LoadedSite, session: float, long_side: float, process: float, subscriber: float) -> Memory:
    long = site.long
    return Memory(
        empty=site.bytes["empty"],
        partitions=site.partitions,
        member=(site.bytes["members"] - site.names - site.partitions) / site.members,
        names=site.names / site.members,
        follow=(site.bytes["follows"] - long * long_side) / (site.network.edges - long / 2),
        long_side=long_side,
        post=site.each("posts"),
        like=site.each("likes"),
        entry=site.each("entries"),
        session=session,
        process=process,
        subscriber=subscriber,
    )
