"""Compares clocks: that of each server of the store with this machine's, and the newest id with this machine's."""

import asyncio
import contextlib
import time
from collections.abc import Mapping

import structlog
from redis.exceptions import RedisError

from store.client import health
from store.client.database import Database, Unavailable
from store.ids import CLOCK_SKEW, PARTITIONS, made_at, of_tick
from store.keys import minted

COMPARE_SECONDS = 60.0  # between two comparisons
NEWEST_ID = "newest id"  # what differs, beside the clocks of servers

log = structlog.get_logger(__name__)


async def newest_id_ahead(db: Database) -> float:
    """Return by how much the newest id is ahead of this machine's clock, s; 0 if it is behind. One round trip.

    Ids come from the clocks of servers, and never go back. So they stay ahead after such a clock was put right.
    Raises Unavailable, and redis-py's RedisError.
    """
    replies = await db.ask(*(("GET", minted(partition)) for partition in range(PARTITIONS)))
    newest = max((made_at(of_tick(int(tick), p)) for p, tick in enumerate(replies) if tick), default=0)
    return max(newest / 1000 - time.time(), 0.0)


async def differences(db: Database) -> dict[str, float]:
    """Return what differs from this machine's clock by more than `CLOCK_SKEW`: by how much it is ahead, s.

    The names are those of servers, and `NEWEST_ID`. Raises nothing.
    """
    clocks = {server.server: server.clock for server in await health.look(db.servers) if server.clock is not None}
    with contextlib.suppress(Unavailable, RedisError):
        clocks[NEWEST_ID] = await newest_id_ahead(db)
    return {name: ahead for name, ahead in clocks.items() if abs(ahead) > CLOCK_SKEW.total_seconds()}


class ClockLog:
    """Logs a difference of clocks when it begins, and when it has ended."""

    def __init__(self) -> None:
        self._known: Mapping[str, float] = {}

    def note(self, found: Mapping[str, float]) -> None:
        """Note what differs now."""
        for name in found.keys() - self._known.keys():
            log.warning("clock_differs", of=name, ahead_seconds=round(found[name], 1))
        for name in self._known.keys() - found.keys():
            log.warning("clock_agrees", of=name)
        self._known = found


async def keep_comparing(db: Database) -> None:
    """Compare and log at once and then every minute, until cancelled."""
    noted = ClockLog()
    while True:
        noted.note(await differences(db))
        await asyncio.sleep(COMPARE_SECONDS)
