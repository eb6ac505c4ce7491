"""Processes that use the store, each with the newest layout that it knows: a migration has to know of older ones."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator

from redis.exceptions import RedisError

from store import keys
from store.client.database import Command, Database, Unavailable
from store.client.tasks import stop
from store.ids import CLOCK_SKEW
from store.layout.versions import NEWEST

RENEW_SECONDS = 5  # between two announcements of a process
ALIVE_SECONDS = 15 + 2 * CLOCK_SKEW.total_seconds()  # after which a silent process is gone, by any clock


@contextlib.asynccontextmanager
async def announced(db: Database, layout: int = NEWEST) -> AsyncIterator[None]:
    """Announce a process as long as the context lasts. An outage keeps neither the process nor the context waiting."""
    name = f"{layout}:{secrets.token_hex(8)}"
    with contextlib.suppress(RedisError, Unavailable):
        await db.ask(*_announcement(name))
    renewing = asyncio.create_task(_renew(db, name))
    try:
        yield
    finally:
        await stop(renewing)
        with contextlib.suppress(RedisError, Unavailable):
            await db.one("ZREM", keys.processes(), name)


async def _renew(db: Database, name: str) -> None:
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        with contextlib.suppress(RedisError, Unavailable):
            await db.ask(*_announcement(name))


def _announcement(name: str) -> list[Command]:
    now = time.time()
    return [
        ("ZADD", keys.processes(), round((now + ALIVE_SECONDS) * 1000), name),
        ("ZREMRANGEBYSCORE", keys.processes(), "-inf", round(now * 1000)),
    ]


async def older(db: Database, layout: int) -> int:
    """Return how many running processes do not know a layout. One round trip.

    Processes of the first layout never announce themselves.
    """
    entries = await db.one("ZRANGE", keys.processes(), round(time.time() * 1000), "+inf", "BYSCORE")
    return sum(int(name.partition(":")[0]) < layout for name in entries)


async def running(db: Database) -> int:
    """Return how many processes use the store, this one among them. One round trip."""
    return int(await db.one("ZCOUNT", keys.processes(), round(time.time() * 1000), "+inf"))
