"""Completions turn the column of values of a field into results of its GraphQL type."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import chain, compress, islice
from math import isfinite
from types import NoneType
from typing import Any

from graphql import GraphQLLeafType, is_specified_scalar_type
from graphql.pyutils import Path, UndefinedType

from schema.execution.plans.run import Paths, Run, Unusual, is_odd

_NO_RESULTS = frozenset({NoneType, UndefinedType})
_LISTS = {list, tuple}
_INTS = range(-(2**31), 2**31)
_NATIVE: dict[str, tuple[type | None, Callable[[list[Any]], bool]]] = {  # native classes and their range checks
    "String": (str, bool),
    "ID": (str, bool),
    "Boolean": (bool, bool),
    "Int": (int, lambda values: min(values) in _INTS and max(values) in _INTS),
    "Float": (float, lambda values: all(map(isfinite, values))),
}


class Completion(ABC):
    """Completes a column of values of one type."""

    is_nullable = False
    is_leaf = False  # whether values have no selection

    def __init__(self) -> None:
        self._usual: set[type] = set()  # classes seen before, whose values are neither null nor odd

    def complete(self, run: Run, values: list[Any], paths: Paths) -> list[Any]:
        """Return a result for each value; raises Unusual, or a scalar's own error, where a value has none."""
        if not values:
            return []
        kinds = set(map(type, values))
        if kinds <= self._usual:
            return self._complete(run, values, kinds, paths)
        if any(map(is_odd, kinds)):
            raise Unusual
        if NoneType not in kinds:
            self._usual |= kinds
            return self._complete(run, values, kinds, paths)
        if not self.is_nullable:
            raise Unusual
        there = [value is not None for value in values]
        results = iter(self.complete(run, list(compress(values, there)), lambda: list(compress(paths(), there))))
        return [next(results) if is_there else None for is_there in there]

    @abstractmethod
    def _complete(self, run: Run, values: list[Any], kinds: set[type], paths: Paths) -> list[Any]:
        """Return the results of a non-empty column without nulls."""


class LeafCompletion(Completion):
    """Serialises scalars and enums. Columns that serialisation would not change are returned as they are."""

    is_leaf = True

    def __init__(self, leaf: GraphQLLeafType) -> None:
        super().__init__()
        self._serialize = leaf.coerce_output_value
        native, self._fit = _NATIVE[leaf.name] if is_specified_scalar_type(leaf) else (None, bool)
        self._native = {native}

    def complete(self, run: Run, values: list[Any], paths: Paths) -> list[Any]:
        """Return a result for each value, as every completion does. Most columns have only native values that fit."""
        if set(map(type, values)) == self._native and self._fit(values):
            return values
        return super().complete(run, values, paths)

    def _complete(self, run: Run, values: list[Any], kinds: set[type], paths: Paths) -> list[Any]:  # noqa: ARG002
        results = list(map(self._serialize, values))
        if not _NO_RESULTS.isdisjoint(map(type, results)):
            raise Unusual
        return results


class ListCompletion(Completion):
    """Completes the elements of all lists as one column."""

    def __init__(self, element: Completion) -> None:
        super().__init__()
        self._element = element
        self.is_leaf = element.is_leaf

    def _complete(self, run: Run, values: list[Any], kinds: set[type], paths: Paths) -> list[Any]:
        if not kinds <= _LISTS and not all(issubclass(kind, (list, tuple)) for kind in kinds):
            raise Unusual
        if not any(values):
            return [[] for _ in values]
        lengths = list(map(len, values))

        def below() -> list[Path]:
            pairs = zip(paths(), lengths, strict=True)
            return [Path(path, place, None) for path, length in pairs for place in range(length)]

        results = iter(self._element.complete(run, list(chain.from_iterable(values)), below))
        return [list(islice(results, length)) for length in lengths]
