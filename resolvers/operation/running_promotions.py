"""The promotions that run now, read in an operation's own round trips."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.operation.batcher import Batcher
from resolvers.operation.dataloader import ANY
from resolvers.operation.loaders import DataLoaders
from store import promotions


def may_run(load: DataLoaders) -> bool:
    """Return whether a promotion may run, by what the process knows without a round trip."""
    last = load.promoted_until.find_cached([ANY]).get(ANY)
    return last is None or promotions.are_running(last)


async def read(batcher: Batcher, load: DataLoaders, seed: int, count: int) -> Sequence[tuple[str, Sequence[str]]]:
    """Return the ids and fields of running promotions; if there are more, the seed selects them.

    At most two round trips; none of its own where no promotion runs.
    """
    last = load.promoted_until.find_cached([ANY]).get(ANY, 0)
    if not promotions.are_running(last) and not promotions.are_running(await load.promoted_until.load(ANY)):
        return []
    (found,) = await batcher.run([promotions.running(seed, count)])
    return found  # type: ignore[no-any-return]
