"""Counters of records. Each is the size of a list, as `store.kinds` declares it."""

from collections.abc import Sequence

from msgspec import Struct

from store import kinds
from store.client.database import Command, Database, script
from store.kinds import List, Record

COUNTING = tuple(record for record in kinds.KINDS if isinstance(record, Record) and kinds.counted(record))


class Count(Struct, frozen=True):
    """A counter of a record, as it is stored and as its list is long."""

    of: List
    owner: int
    stored: int
    total: int


async def counts(db: Database, record: Record, owners: Sequence[int]) -> list[Count]:
    """Return the counters of those of some owners who have a record. Two round trips."""
    counted = list(kinds.counted(record).values())
    fields = [of.counter for of in counted]
    stored = await db.ask(*(("HMGET", record.key(owner), *fields) for owner in owners))
    exist = await db.ask(*(("EXISTS", record.key(owner)) for owner in owners))
    there = [(owner, row) for owner, row, exists in zip(owners, stored, exist, strict=True) if exists]
    found = [(of, owner, int(number or 0)) for owner, row in there for of, number in zip(counted, row, strict=True)]
    sizes = await db.ask(*(("ZCARD", of.key(owner)) for of, owner, _ in found))
    without = await db.ask(*(("ZCARD", of.uncounted.key(owner)) for of, owner, _ in found if of.uncounted))
    less = iter(without)
    return [Count(*one, size - (next(less) if one[0].uncounted else 0)) for one, size in zip(found, sizes, strict=True)]


def recount(record: Record, owner: int) -> list[Command]:
    """Return the commands that set all counters of a record to their totals; each replies 1 if it was wrong."""
    return [command for of in kinds.counted(record).values() for command in recount_list(of, owner)]


def recount_list(of: List, owner: int) -> list[Command]:
    """Return the commands that set the counters that a list of an owner changes, none if it changes none."""
    counted = [one for one in kinds.counted(of.of).values() if of in {one, one.uncounted}]
    return [_recount(one, owner) for one in counted]


def _recount(of: List, owner: int) -> Command:
    uncounted = {"uncounted": of.uncounted.key(owner)} if of.uncounted else {}
    return script("recount", record=of.of.key(owner), counted=of.key(owner), **uncounted, counter=of.counter)
