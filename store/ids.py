"""Ids: 41 bits of milliseconds since 2024, 8 of partition, 4 of sequence; together 53, exact in a score and in Lua."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
PARTITIONS = 256
LARGEST = (1 << 53) - 1
CLOCK_SKEW = timedelta(minutes=1)  # by which the clocks of servers and processes may differ

_SEQUENCE_BITS = 4
_PARTITION_BITS = 8
_EPOCH_MS = int(EPOCH.timestamp() * 1000)
_CLOCK_SHIFT = _SEQUENCE_BITS + _PARTITION_BITS


def partition(thing: int) -> int:
    """Return the partition, 0 to 255, in which a thing and all its keys lie."""
    return thing >> _SEQUENCE_BITS & (PARTITIONS - 1)


def instant(thing: int) -> datetime:
    """Return when a thing was made, in UTC to the millisecond."""
    return datetime.fromtimestamp(made_at(thing) / 1000, UTC)


def made_at(thing: int) -> int:
    """Return when a thing was made, in ms since 1970."""
    return _EPOCH_MS + (thing >> _CLOCK_SHIFT)


def of_tick(tick: int, part: int) -> int:
    """Return the id that a partition made at a tick: milliseconds and sequence, as `minted` keeps them."""
    return tick >> _SEQUENCE_BITS << _CLOCK_SHIFT | part << _SEQUENCE_BITS | tick & ((1 << _SEQUENCE_BITS) - 1)


def first_of(moment: datetime) -> int:
    """Return the smallest id that can be made at a moment: a bound for searches by time."""
    return (moment - EPOCH) // timedelta(milliseconds=1) << _CLOCK_SHIFT
