"""Finished rows of records, each kept as long as it may be used again.

A record never changes. When the server reports a change, the cache drops the record, and the next reading makes another
object. So the identity of the object is the version of everything that depends on the record alone, and no mark is
needed. A kept row also holds its record, so no other object can get that identity.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

Row: TypeAlias = dict[str, Any]

ENTRY_BYTES = 600  # Bytes of a kept row and its record, without their values.
CHARACTER_BYTES = 4  # Bytes of a character in memory, at most. The names in the JSON make up for the size of numbers.
_NONE: Mapping[int, Row] = {}


class _Generation:
    """Rows that have been used since the same moment."""

    def __init__(self) -> None:
        self.rows: dict[int, dict[int, Row]] = {}  # by the number of the selection, and the identity of the record
        self.records: list[Any] = []
        self.size = 0


class Rows:
    """The kept rows of a process, bounded by their estimated memory.

    There are two generations. When the new one has half of the memory, it becomes the old one, and the old one is
    dropped. A row of the old one that is used again joins the new one. So those unused for longest are dropped, and
    the use of a row costs nothing.
    """

    def __init__(self, most: int) -> None:
        """Begin empty; hold at most `most` bytes."""
        self._most = most
        self._new, self._old = _Generation(), _Generation()

    @property
    def size(self) -> int:
        """The estimated memory of all rows with their records, in bytes."""
        return self._new.size + self._old.size

    def of(self, selection: int) -> Mapping[int, Row]:
        """Return the new rows of a selection, by the identity of their record."""
        return self._new.rows.get(selection, _NONE)

    def renew(self, selection: int, records: Mapping[int, Any]) -> dict[int, Row]:
        """Return the old rows of a selection for some records, which are new rows from now on."""
        old = self._old.rows.get(selection)
        if not old:
            return {}
        found = {identity: old[identity] for identity in records if identity in old}
        if found:
            self.keep(selection, {identity: records[identity] for identity in found}, found)
        return found

    def keep(self, selection: int, records: Mapping[int, Any], rows: Mapping[int, Row]) -> None:
        """Keep the rows of some records, both by the identity of the record."""
        size, half = _weigh(records) + _weigh(rows), self._most // 2
        if self._new.size + size > half:
            self._old, self._new = self._new, _Generation()
        if size <= half:
            new = self._new
            new.rows.setdefault(selection, {}).update(rows)
            new.records += records.values()
            new.size += size


def _weigh(values: Mapping[int, Any]) -> int:
    return len(values) * ENTRY_BYTES + CHARACTER_BYTES * len(msgspec.json.encode(list(values.values())))
