"""The promotions that run now, read in an operation's own round trips."""

from collections.abc import Sequence

from resolvers.loading.batcher import Batcher
from resolvers.loading.dataloader import ANY
from resolvers.loading.loaders import DataLoaders
from store import promotions


def may_run(load: DataLoaders) -> bool:
    """Return whether a promotion may run, by what the process knows without a round trip."""
    last = load.promoted_until.find_cached([ANY]).get(ANY)
    return last is None or promotions.are_running(last)


async def run_now(load: DataLoaders) -> bool:
    """Return whether a promotion runs; one round trip, none where the process knows."""
    last = load.promoted_until.find_cached([ANY]).get(ANY, 0)
    return promotions.are_running(last) or promotions.are_running(await load.promoted_until.load(ANY))


async def read(batcher: Batcher, seed: int, count: int) -> Sequence[tuple[str, Sequence[str]]]:
    """Return the ids and fields of running promotions; if there are more, the seed selects them. One round trip."""
    (running,) = await batcher.run([promotions.running(seed, count)])
    return running  # type: ignore[no-any-return]
