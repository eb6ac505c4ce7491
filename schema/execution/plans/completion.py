"""Completes columns of values: turns resolved values into results of their GraphQL type."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import chain, compress, islice
from math import isfinite
from types import NoneType
from typing import Any, TypeAlias

from graphql import (
    GraphQLAbstractType,
    GraphQLLeafType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    get_nullable_type,
    is_leaf_type,
    is_specified_scalar_type,
)
from graphql.pyutils import Path, UndefinedType

from schema.execution.plans.run import Paths, Row, Run, Unusual, close, is_odd

BY_CLASS = "by_class"  # an attribute of an `is_type_of` function that depends on the class of the value alone

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

Select: TypeAlias = Callable[[Run, str, list[Any], Paths], list[Row]]
Inform: TypeAlias = Callable[[Run], GraphQLResolveInfo[Any]]


class Completion(ABC):
    """Completes a column of values of one type."""

    is_nullable = False

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

    def __init__(self, leaf: GraphQLLeafType) -> None:
        super().__init__()
        self._serialize = leaf.coerce_output_value
        native, self._fit = _NATIVE[leaf.name] if is_specified_scalar_type(leaf) else (None, bool)
        self._native = {native}

    def _complete(self, run: Run, values: list[Any], kinds: set[type], paths: Paths) -> list[Any]:  # noqa: ARG002
        if kinds == self._native and self._fit(values):
            return values
        results = list(map(self._serialize, values))
        if not _NO_RESULTS.isdisjoint(map(type, results)):
            raise Unusual
        return results


class ListCompletion(Completion):
    """Completes the elements of all lists as one column."""

    def __init__(self, element: Completion) -> None:
        super().__init__()
        self._element = element

    def _complete(self, run: Run, values: list[Any], kinds: set[type], paths: Paths) -> list[Any]:
        if not kinds <= _LISTS and not all(issubclass(kind, (list, tuple)) for kind in kinds):
            raise Unusual
        lengths = list(map(len, values))

        def below() -> list[Path]:
            pairs = zip(paths(), lengths, strict=True)
            return [Path(path, place, None) for path, length in pairs for place in range(length)]

        results = iter(self._element.complete(run, list(chain.from_iterable(values)), below))
        return [list(islice(results, length)) for length in lengths]


class ObjectCompletion(Completion):
    """Resolves the type of each object, and runs the selection of that type."""

    def __init__(
        self, declared: GraphQLObjectType | GraphQLAbstractType, schema: GraphQLSchema, select: Select, inform: Inform
    ) -> None:
        super().__init__()
        self._select = select
        self._inform = inform
        self._abstract = None if isinstance(declared, GraphQLObjectType) else declared
        possible = [declared] if isinstance(declared, GraphQLObjectType) else schema.get_possible_types(declared)
        self._possible = {one.name: one for one in possible}
        # A value of a concrete type without `is_type_of` needs no check.
        is_given = self._abstract is None and possible[0].is_type_of is None
        self._goes_by_class = is_given or all(hasattr(one.is_type_of, BY_CLASS) for one in possible)
        self._names: dict[type, str] = {}

    def _complete(self, run: Run, values: list[Any], kinds: set[type], paths: Paths) -> list[Any]:
        if len(kinds) == 1 and self._goes_by_class:
            return self._select(run, self._name(run, values[0]), values, paths)
        rows: list[Any] = [None] * len(values)
        names = [self._name(run, value) for value in values]
        for name in dict.fromkeys(names):
            places = [place for place, one in enumerate(names) if one == name]
            part = [values[place] for place in places]

            def below(places: list[int] = places) -> list[Path | None]:
                above = paths()
                return [above[place] for place in places]

            for place, row in zip(places, self._select(run, name, part, below), strict=True):
                rows[place] = row
        return rows

    def _name(self, run: Run, value: Any) -> str:
        """Return the name of an object's type; raises Unusual where it is not a possible type."""
        known = self._names.get(type(value))
        if known is not None:
            return known
        info, abstract = self._inform(run), self._abstract
        name: Any = next(iter(self._possible))
        if abstract is not None:
            name = (abstract.resolve_type or run.asked.executor.type_resolver)(value, info, abstract)
        kind = self._possible.get(name) if isinstance(name, str) else None
        agrees: Any = kind is not None and (not kind.is_type_of or kind.is_type_of(value, info))
        if agrees is not True:
            close([name, agrees])
            raise Unusual
        if self._goes_by_class:
            self._names[type(value)] = name
        return str(name)


def completion(kind: GraphQLOutputType, schema: GraphQLSchema, select: Select, inform: Inform) -> Completion:
    """Return the completion of a type. `select` runs selections of objects; `inform` makes the info of `is_type_of`."""
    made: Completion
    nullable: Any = get_nullable_type(kind)
    if isinstance(nullable, GraphQLList):
        made = ListCompletion(completion(nullable.of_type, schema, select, inform))
    elif is_leaf_type(nullable):
        made = LeafCompletion(nullable)
    else:
        made = ObjectCompletion(nullable, schema, select, inform)
    made.is_nullable = nullable is kind
    return made
