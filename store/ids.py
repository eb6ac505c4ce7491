"""Ids: 41 bits of milliseconds since 2024, 8 of partition, 4 of sequence. 53 bits are exact in a score and in Lua."""

from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
PARTITIONS = 256
LARGEST = (1 << 53) - 1
CLOCK_SKEW = timedelta(minutes=1)  # the most by which the clocks of servers and processes may differ

SEQUENCE_BITS = 4
LAST_PARTITION = PARTITIONS - 1
_PARTITION_BITS = 8
_EPOCH_MS = int(EPOCH.timestamp() * 1000)
_DAY_MS = 86_400_000
_CLOCK_SHIFT = SEQUENCE_BITS + _PARTITION_BITS


def partition(entity_id: int) -> int:
    """Return the partition of an id, 0 to 255. The entity and all its keys lie in it."""
    return entity_id >> SEQUENCE_BITS & LAST_PARTITION


def instant(entity_id: int) -> datetime:
    """Return the creation time of an id, in UTC to the millisecond."""
    return datetime.fromtimestamp(made_at(entity_id) / 1000, UTC)


def made_at(entity_id: int) -> int:
    """Return the creation time of an id, in ms since 1970."""
    return _EPOCH_MS + (entity_id >> _CLOCK_SHIFT)


class Identified(Protocol):
    """A record whose id says when it was made."""

    @property
    def id(self) -> int: ...


def record_made_at(root: Identified) -> int:
    """Return the creation time of a record, in ms since 1970. It runs for every object of a page."""
    return _EPOCH_MS + (root.id >> _CLOCK_SHIFT)


def day_of(entity_id: int) -> int:
    """Return the day of an id, in UTC, counted from 2024."""
    return (entity_id >> _CLOCK_SHIFT) // _DAY_MS


def day_bounds(day: int) -> tuple[int, int]:
    """Return the lowest and the highest id of a day."""
    return day * _DAY_MS << _CLOCK_SHIFT, ((day + 1) * _DAY_MS << _CLOCK_SHIFT) - 1


def of_tick(tick: int, part: int) -> int:
    """Return the id that a partition minted at a tick: milliseconds and sequence, as stored in `minted`."""
    return tick >> SEQUENCE_BITS << _CLOCK_SHIFT | part << SEQUENCE_BITS | tick & ((1 << SEQUENCE_BITS) - 1)


def span(duration: timedelta) -> int:
    """Return the difference of two ids of one partition that are minted this long apart."""
    return duration // timedelta(milliseconds=1) << _CLOCK_SHIFT


def first_of(moment: datetime) -> int:
    """Return the smallest id that can be minted at a moment: a bound for searches by time."""
    return (moment - EPOCH) // timedelta(milliseconds=1) << _CLOCK_SHIFT
