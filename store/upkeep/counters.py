"""Counters of records. Each is the size of a list, as `store.kinds` declares it."""

from store import kinds
from store.client.database import Command, script
from store.kinds import List, Record

COUNTING = tuple(record for record in kinds.KINDS if isinstance(record, Record) and kinds.counted(record))


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
