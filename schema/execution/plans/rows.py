"""Collects the results of a selection's fields, in rows or, until it is known whether all are final, in columns."""

from __future__ import annotations

from types import NoneType
from typing import Any, Protocol

from msgspec import Raw

from schema.execution.plans.run import Row

_FINAL = {Raw, bool, NoneType}  # results that are not filled later, and that later runs get as identical objects


class Taker(Protocol):
    """Collects the results of fields."""

    def take(self, key: str, results: list[Any]) -> None:
        """Take the results of one key, one for each row."""


class Filled:
    """Rows that exist and are filled at once."""

    __slots__ = ("rows",)

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def take(self, key: str, results: list[Any]) -> None:
        """Put results into the rows."""
        for row, result in zip(self.rows, results, strict=True):
            row[key] = result


class Columns:
    """Results by key, held until there are rows to fill."""

    __slots__ = ("_filled", "found")

    def __init__(self) -> None:
        self.found: dict[str, list[Any]] = {}
        self._filled: Filled | None = None

    def take(self, key: str, results: list[Any]) -> None:
        """Hold the results of one key, or put them into the rows once these exist."""
        if self._filled:
            self._filled.take(key, results)
        else:
            self.found[key] = results

    def are_final(self, count: int) -> bool:
        """Return whether this many columns are here, and every result in them is final."""
        return len(self.found) == count and all(set(map(type, results)) <= _FINAL for results in self.found.values())

    def fill(self, rows: list[Row]) -> list[Row]:
        """Fill rows with all results so far, and return them. Later results go into the same rows."""
        self._filled = Filled(rows)
        for key, results in self.found.items():
            self._filled.take(key, results)
        return rows
