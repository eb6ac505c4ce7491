"""The promotions that run now, read in an operation's own round trips."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.operation.batcher import Batcher
from resolvers.operation.dataloader import ANY, DataLoader
from store import promotions


class RunningPromotions:
    """Reads running promotions in one operation. `until` loads the end of the last one."""

    def __init__(self, batcher: Batcher, until: DataLoader[int]) -> None:
        self._batcher = batcher
        self._until = until

    @property
    def may_run(self) -> bool:
        """Whether a promotion may run, by what the process knows without a round trip."""
        last = self._until.find_cached([ANY]).get(ANY)
        return last is None or promotions.are_running(last)

    async def read(self, seed: int, count: int) -> Sequence[tuple[str, Sequence[str]]]:
        """Return the ids and fields of running promotions; if there are more, the seed selects them.

        At most two round trips; none of its own where no promotion runs.
        """
        last = self._until.find_cached([ANY]).get(ANY, 0)
        if not promotions.are_running(last) and not promotions.are_running(await self._until.load(ANY)):
            return []
        (found,) = await self._batcher.run([promotions.running(seed, count)])
        return found  # type: ignore[no-any-return]
