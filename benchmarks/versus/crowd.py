"""A site whose readers fit no cache: many members, who read by Zipf's law."""

import asyncio
import itertools
import random

from benchmarks.clients import SignedIn
from benchmarks.versus import graph, queries
from benchmarks.versus.stage import BATCH, Stage
from resolvers.operation.inputs import batches
from resolvers.upkeep.importing.network import Network
from store import keys

FOLLOWING = 6  # median of members that one follows
POSTS_PER_MEMBER = 1
REQUESTS = 60_000  # drawn among all readers, sent in turn
ZIPF = 1.0  # exponent of how often members read


def network(members: int, seed: int) -> Network:
    """Return the network of the site."""
    return graph.generated(members, members * POSTS_PER_MEMBER, seed, FOLLOWING)


async def draw(stage: Stage, seed: int) -> list[SignedIn]:
    """Return the readers of so many requests, signed in, each in their turn; members read by Zipf's law."""
    dice = random.Random(seed)  # noqa: S311
    logins = list(stage.members)
    sizes = await stage.db.ask(*(("LLEN", keys.home(stage.members[login])) for login in logins))
    fit = [login for login, size in zip(logins, sizes, strict=True) if size > queries.PAGE]
    dice.shuffle(fit)  # how often members read has nothing to do with who follows them
    weights = list(itertools.accumulate((rank + 1) ** -ZIPF for rank in range(len(fit))))
    drawn = dice.choices(fit, cum_weights=weights, k=REQUESTS)
    signed_in: dict[str, SignedIn] = {}
    for some in batches([*dict.fromkeys(drawn)], BATCH):
        signed_in |= zip(some, await asyncio.gather(*map(stage.sign_in, some)), strict=True)
    return [signed_in[login] for login in drawn]
