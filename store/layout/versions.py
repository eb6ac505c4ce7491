"""The version of the store's layout. A migration raises it, partition by partition, while Perch serves."""

import time

import structlog
from redis.exceptions import ResponseError

from store import keys
from store.client.database import CommandRefused, Database
from store.ids import PARTITIONS
from store.keys.fields import LayoutField
from store.records.lists import read_pairs

FIRST = 1  # of stores that do not say which layout they have
NEWEST = 6  # that this Perch knows; it also works with those before

log = structlog.get_logger()


class UnsupportedLayout(Exception):
    """The store has a layout that this Perch does not know. The message is one line that says what to do."""


async def check(db: Database) -> int:
    """Return the store's layout; a store without members gets the newest. One round trip, or three for an empty store.

    Raises UnsupportedLayout if a partition has a newer layout than this Perch knows.
    """
    try:
        found = read_pairs(await db.one("HGETALL", keys.layout()))
        highest = max(map(int, found.values()), default=FIRST)
    except (ResponseError, ValueError) as error:
        raise UnsupportedLayout(f"the key {keys.layout()} is malformed, so the store's layout is unknown") from error
    if not found and await _is_empty(db):
        found = await _begin(db)
    layout = int(found.get(LayoutField.VERSION, FIRST))
    if highest > NEWEST:
        raise UnsupportedLayout(
            f"the store has layout {highest}, and this Perch knows layouts up to {NEWEST}: run a newer Perch"
        )
    if layout < NEWEST:
        log.warning("layout_is_older", layout=layout, newest=NEWEST, command="migrate")
    return layout


async def _is_empty(db: Database) -> bool:
    """Return whether no member was ever created: creating one commits a job in the member's partition."""
    return not any(await db.ask(*(("EXISTS", keys.jobs(p)) for p in range(PARTITIONS))))


async def _begin(db: Database) -> dict[str, str]:
    """Label a store without members with the newest layout; returns what its label then is."""
    key = keys.layout()
    try:
        _, found = await db.ask(("HSETNX", key, LayoutField.VERSION, NEWEST), ("HGETALL", key))
    except CommandRefused:  # such as on a full disk: the next start labels it
        return {LayoutField.VERSION: str(NEWEST)}
    return read_pairs(found)


async def current(db: Database) -> int:
    """Return the layout that all partitions have. One round trip."""
    return int(await db.one("HGET", keys.layout(), LayoutField.VERSION) or FIRST)


async def migrated(db: Database, layout: int) -> set[int]:
    """Return the partitions that a migration to a layout has finished. One round trip."""
    found = read_pairs(await db.one("HGETALL", keys.layout()))
    return {int(name) for name, reached in found.items() if name.isdigit() and int(reached) >= layout}


async def finish_partition(db: Database, p: int, layout: int) -> int:
    """Note that a partition has a layout, unless older processes run; returns their number. One round trip."""
    names = {"layout": keys.layout(), "processes": keys.processes()}
    now = round(time.time() * 1000)
    return int(await db.call("finish_partition", partition=p, **names, version=layout, now=now))


async def finish(db: Database, layout: int) -> bool:
    """Raise the layout once all partitions have it; returns whether it was lower. One round trip."""
    return bool(await db.call("finish_layout", layout=keys.layout(), version=layout))
