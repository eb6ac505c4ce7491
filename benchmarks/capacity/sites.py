"""Sites of a size, loaded in phases, so that each phase shows what its kind of data takes."""

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from benchmarks.capacity.activity import Activity
from benchmarks.versus import graph
from benchmarks.versus.stage import Stage
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep.importing import network as imports
from resolvers.upkeep.importing.network import Network
from store import keys
from store.search import MAGNITUDES

POSTS_PER_MEMBER = 10
USUAL = Activity()
LIKES_PER_POST = USUAL.likes / USUAL.posts  # as the plan assumes: the first like of a post takes more than others
LONG_LIST = 850  # entries above which the store keeps a sorted set as a skip list, by the settings that Perch asks for


@dataclass(frozen=True, slots=True)
class LoadedSite:
    """A site that has been loaded: what it has, and the bytes that each kind has taken."""

    network: Network
    counts: dict[str, int]
    bytes: dict[str, float]
    names: float  # bytes of all entries in the index of names
    partitions: float  # bytes that the partitions take once they have members: what the first half takes more
    total: float  # bytes of the store, with what it takes when it is empty

    @property
    def members(self) -> int:
        return len(self.network.members)

    @property
    def follows(self) -> float:
        """Follows per member."""
        return self.network.edges / self.members

    @property
    def long(self) -> int:
        """Follows whose followed member has a long list of followers."""
        counted = Counter(chain.from_iterable(self.network.following.values()))
        return sum(count for count in counted.values() if count > LONG_LIST)

    def each(self, kind: str) -> float:
        """Return the bytes of one of a kind."""
        return self.bytes[kind] / max(1, self.counts[kind])


async def load(stage: Stage, members: int, seed: int) -> LoadedSite:
    """Load a site of a size into an empty store."""
    network = graph.generated(members, members * POSTS_PER_MEMBER, seed)
    await stage.db.load_scripts()
    used = [await stage.db.used_memory()]
    half = replace(network, members=network.members[: members // 2])
    await imports.create_members(stage.db, half, NO_PASSWORD, _ignore)
    first = await stage.db.used_memory()
    stage.members = await imports.create_members(stage.db, network, NO_PASSWORD, _ignore)
    used.append(await stage.db.used_memory())
    later = (used[1] - first) / (members - len(half.members))
    partitions = max(0.0, first - used[0] - later * len(half.members))
    await imports.create_follows(stage.db, network, stage.members, _ignore)
    used.append(await stage.db.used_memory())
    await imports.create_posts(stage.db, network, stage.members, _ignore)
    used.append(await stage.db.used_memory())
    await stage.work_off()
    entries = await imports.create_homes(stage.db, list(stage.members.values()), _ignore)
    used.append(await stage.db.used_memory())
    likes = await _like(stage, network)
    used.append(await stage.db.used_memory())
    kinds = ("members", "follows", "posts", "entries", "likes")
    taken = [float(after - before) for before, after in itertools.pairwise(used)]
    counts = [members, network.edges, network.total, entries, likes]
    names = await _size(stage, [keys.indexed(), *map(keys.names, range(MAGNITUDES))])
    return LoadedSite(
        network,
        dict(zip(kinds, counts, strict=True)),
        {"empty": float(used[0]), **dict(zip(kinds, taken, strict=True))},
        names,
        partitions,
        float(used[-1]),
    )


def _ignore(_: int) -> None:
    pass


async def _like(stage: Stage, network: Network) -> int:
    """Let members like public posts, as chance has it; returns how many likes there are."""
    dice = random.Random(network.seed)  # noqa: S311  chance that can be repeated, no secret
    members = list(stage.members.values())
    public = await stage.public_posts()
    chosen = {(dice.choice(public), dice.choice(members)) for _ in range(round(LIKES_PER_POST * len(public)))}
    await stage.like(sorted(chosen))
    return len(chosen)


async def _size(stage: Stage, names: Sequence[str]) -> float:
    """Return the bytes of some keys."""
    sizes = await stage.db.ask(*(("MEMORY", "USAGE", name, "SAMPLES", 0) for name in names))
    return float(sum(size or 0 for size in sizes))
