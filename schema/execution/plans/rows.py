"""Where the results of a selection's fields come: into rows, or together first, to see whether all are there."""

from __future__ import annotations

from types import NoneType
from typing import Any, Protocol

from msgspec import Raw

from schema.execution.plans.run import Row

_FINAL = {Raw, bool, NoneType}  # results that nothing comes into later, and that are met again as the same objects


class Taker(Protocol):
    """What takes the results of fields."""

    def take(self, key: str, results: list[Any]) -> None:
        """Take what stands under a key in all rows."""


class Filled:
    """Rows that are there, to be filled."""

    __slots__ = ("rows",)

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def take(self, key: str, results: list[Any]) -> None:
        """Put results into the rows."""
        for row, result in zip(self.rows, results, strict=True):
            row[key] = result


class Columns:
    """Results by their keys, until there are rows to be filled."""

    __slots__ = ("_filled", "found")

    def __init__(self) -> None:
        self.found: dict[str, list[Any]] = {}
        self._filled: Filled | None = None

    def take(self, key: str, results: list[Any]) -> None:
        """Keep results, or put them into the rows where there are some by now."""
        if self._filled:
            self._filled.take(key, results)
        else:
            self.found[key] = results

    def are_final(self, count: int) -> bool:
        """Return whether as many columns are here, and no result in them is one that changes or comes only once."""
        return len(self.found) == count and all(set(map(type, results)) <= _FINAL for results in self.found.values())

    def fill(self, rows: list[Row]) -> list[Row]:
        """Return rows with all results in them, those that come later, too."""
        self._filled = Filled(rows)
        for key, results in self.found.items():
            self._filled.take(key, results)
        return rows
