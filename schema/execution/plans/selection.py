"""Selections: the fields of one object type. Each object gets a row, which is filled field by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from operator import is_
from typing import Any

from graphql import GraphQLList, GraphQLObjectType, GraphQLResolveInfo, get_nullable_type, is_leaf_type
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails, GroupedFieldSet, collect_subfields
from graphql.pyutils import Path
from msgspec import Raw

from schema.execution.encoding import encode
from schema.execution.plans.completion import completion
from schema.execution.plans.resolving import LazyInfo, Resolver, attribute, declaration, resolver_of_root
from schema.execution.plans.rows import Columns, Filled, Taker
from schema.execution.plans.run import Paths, Row, Run, Unusual, begun, close

BATCHED = "batched"  # Key in the metadata of a field with a batched resolver.
STEADY = "is_steady"  # Attribute of classes whose objects never change and are met in many runs.

SELECTION_BYTES, FIELD_BYTES = 2_500, 1_700  # Bytes of a selection, and of each field in it.

_INTROSPECTION = {"__schema", "__type"}


class Parents(list[Any]):
    """All objects of a level. A batched resolver gets them in place of one parent, and returns a list."""


class Selection:
    """The fields that a query selects on the objects of one type."""

    def __init__(
        self,
        executor: Executor[Any],
        parent: GraphQLObjectType,
        fields: GroupedFieldSet,
        grow: Callable[[int], None],
    ) -> None:
        names = {key: details[0].node.name.value for key, details in fields.items()}
        if not _INTROSPECTION.isdisjoint(names.values()):
            raise Unusual
        self._row = {key: parent.name if name == "__typename" else None for key, name in names.items()}
        grow(SELECTION_BYTES + FIELD_BYTES * len(fields))
        asked = [Field(executor, parent, key, fields[key], grow) for key, name in names.items() if name != "__typename"]
        self._fields = asked
        self._steady = [field for field in asked if field.depends_on_object_alone]
        self._others = [field for field in asked if not field.depends_on_object_alone]
        self._cached: dict[int, Row] = {}  # Rows by id(object).
        self._written: dict[int, Raw] = {}  # JSON rows by id(object), with the other fields of the last run.
        self._texts: dict[bytes, Raw] = {}  # JSON rows by their text, where there are no other fields.
        self._beside: dict[str, dict[int, Any]] = {field.key: {} for field in self._others}
        self._objects: dict[int, Any] = {}  # Keeps all of these objects alive, so that no id is used again.

    def __del__(self) -> None:
        """Break the reference cycles between fields and completions, so that they are freed without a collection.

        No run can use the plan any more: a run holds the root selection, which holds all others.
        """
        for field in getattr(self, "_fields", ()):
            field.take_apart()

    def begin(self, run: Run, objects: list[Any], paths: Paths) -> list[Row] | list[Raw]:
        """Return a row for each object. Awaited results are put into it later."""
        if not self._steady or not all(map(_is_steady, set(map(type, objects)))):
            filled = Filled([self._row.copy() for _ in objects])
            for field in self._fields if objects else ():
                field.begin(run, objects, filled, paths)
            return filled.rows
        columns = Columns()
        for field in self._others:
            field.begin(run, objects, columns, paths)
        if columns.are_final(len(self._others)):
            return self._finished(run, objects, columns, paths)
        return columns.fill([row.copy() for row in self._met(run, objects, paths)])

    @property
    def size(self) -> int:
        """The number of fields, without `__typename`."""
        return len(self._fields)

    def steps(self) -> Iterator[str]:
        """Yield the fields whose values are resolved, not read from attributes, here and below."""
        for field in self._fields:
            yield from field.steps()

    def have_effects(self) -> None:
        """Make the run remember the outcomes of the fields, since they must not be resolved twice."""
        for field in self._fields:
            field.has_effects = True

    def forget(self) -> None:
        """Drop all cached rows."""
        kept: list[dict[Any, Any]] = [self._cached, self._written, self._texts, self._objects, *self._beside.values()]
        for known in kept:
            known.clear()

    def _finished(self, run: Run, objects: list[Any], columns: Columns, paths: Paths) -> list[Raw]:
        """Return final rows as JSON. A cached row is used again while its other fields are identical objects."""
        addresses = list(map(id, objects))
        found: list[Any] = list(map(self._written.get, addresses))
        if not columns.found:
            return self._alone(run, objects, found, paths) if None in found else found
        same = [list(map(is_, map(self._beside[key].get, addresses), column)) for key, column in columns.found.items()]
        if None in found or not all(map(all, same)):
            missing = [place for place, row in enumerate(found) if row is None or not all(one[place] for one in same)]
            rows = self._steady_rows(run, [objects[place] for place in missing], _some(paths, missing))
            run.memory.take(self, found.count(None))
            for place, row in zip(missing, rows, strict=True):
                beside = {key: column[place] for key, column in columns.found.items()}
                found[place] = self._write(objects[place], row | beside)
                for key, result in beside.items():
                    self._beside[key][addresses[place]] = result
        return found

    def _alone(self, run: Run, objects: list[Any], found: list[Any], paths: Paths) -> list[Raw]:
        """Return JSON rows that depend on their objects alone; each object's row is written once.

        A new copy of an object may have the same row text as the old one. Then both get the same `Raw`, so cached rows
        that contain it stay valid.
        """
        missing = list({id(objects[place]): place for place, row in enumerate(found) if row is None}.values())
        new = [objects[place] for place in missing]
        rows = self._steady_rows(run, new, _some(paths, missing))
        run.memory.take(self, len(new))
        for one, row in zip(new, rows, strict=True):
            raw = self._write(one, row)
            self._written[id(one)] = self._texts.setdefault(bytes(raw), raw)
        return [self._written[id(one)] if row is None else row for one, row in zip(objects, found, strict=True)]

    def _write(self, one: Any, row: Row) -> Raw:
        """Cache the row of an object as JSON."""
        self._objects[id(one)] = one
        raw = self._written[id(one)] = Raw(encode(row))
        return raw

    def _met(self, run: Run, objects: list[Any], paths: Paths) -> list[Row]:
        """Return rows of steady objects with the fields that depend on them alone, from the cache where possible."""
        found: list[Any] = list(map(self._cached.get, map(id, objects)))
        if None in found:
            missing = [place for place, known in enumerate(found) if known is None]
            new = [objects[place] for place in missing]
            run.memory.take(self, len(new))
            for place, one, row in zip(missing, new, self._steady_rows(run, new, _some(paths, missing)), strict=True):
                found[place] = self._cached[id(one)] = row
                self._objects[id(one)] = one
        return found

    def _steady_rows(self, run: Run, objects: list[Any], paths: Paths) -> list[Row]:
        """Return new rows with the fields that depend on steady objects alone."""
        filled = Filled([self._row.copy() for _ in objects])
        for field in self._steady:
            field.fill_now(run, objects, filled, paths)
        return filled.rows


class Field:
    """One key of all rows of a selection."""

    def __init__(
        self,
        executor: Executor[Any],
        parent: GraphQLObjectType,
        key: str,
        details: list[FieldDetails],
        grow: Callable[[int], None],
    ) -> None:
        self.key = key
        self._grow = grow
        self._parent = parent
        self._details = details
        self._nodes = [one.node for one in details]
        definition = executor.schema.get_field(parent, self._nodes[0].name.value)
        if definition is None:
            raise Unusual
        self._definition = definition
        self._resolver = Resolver(executor, definition, self._nodes[0], grow)
        self._completion = completion(definition.type, executor.schema, self._select, self._info)
        self._selections: dict[str, Selection] = {}
        declared = declaration(definition)
        self._is_declared = declared is not None
        self._is_batched = declared is not None and BATCHED in declared.metadata
        self._attribute = attribute(declared) if declared else None
        self._of_root = resolver_of_root(declared) if declared else None
        is_at_hand = self._attribute or (self._of_root and declared and not declared.is_async)
        self.has_effects = False
        self.depends_on_object_alone = bool(is_at_hand) and _has_leaves(definition.type)

    def take_apart(self) -> None:
        """Drop the completion, which refers back to this field."""
        del self._completion

    def steps(self) -> Iterator[str]:
        """Yield this field, if it is resolved, and those below it. Names are the schema's, never a client's."""
        if not self._attribute:
            how = "at once" if self._of_root else "batched" if self._is_batched else "for each"
            yield f"{self._parent.name}.{self._nodes[0].name.value}: {how}"
        for selection in self._selections.values():
            yield from selection.steps()

    def begin(self, run: Run, objects: list[Any], rows: Taker, paths: Paths) -> None:
        """Fill the rows with this field of the objects, at once or when its values have been awaited."""
        if self._attribute:
            self._fill(run, rows, paths, list(map(self._attribute, objects)))
            return
        fill = partial(self._fill, run, rows, paths)
        if self.has_effects:
            resolve = run.once(self.key, self._resolver.bound(run.asked))
            run.take([resolve(objects[0], self._lazy_info(run))], fill)
        elif self._of_root:
            run.take(map(self._of_root, objects), fill)
        elif self._is_batched:
            answer = self._resolver.bound(run.asked)(Parents(objects), self._lazy_info(run))
            run.take([begun(answer)], lambda answers: fill(*answers))
        else:
            resolve, places = self._resolver.bound(run.asked), zip(objects, paths(), strict=True)
            run.take((resolve(one, self._lazy_info(run, path)) for one, path in places), fill)

    def fill_now(self, run: Run, objects: list[Any], rows: Taker, paths: Paths) -> None:
        """Fill the rows at once. The field must depend on the objects alone."""
        resolve: Any = self._attribute or self._of_root
        values = list(map(resolve, objects))
        try:
            self._fill(run, rows, paths, values)
        except Exception:
            close(values)
            raise

    def _fill(self, run: Run, rows: Taker, above: Paths, values: list[Any]) -> None:
        if not isinstance(values, list):
            raise Unusual
        key, parent = self.key, self._parent.name
        results = self._completion.complete(run, values, lambda: [Path(path, key, parent) for path in above()])
        rows.take(key, results)

    def _select(self, run: Run, name: str, objects: list[Any], paths: Paths) -> list[Row] | list[Raw]:
        """Return the rows of objects of the type with this name."""
        if name not in self._selections:
            executor = run.asked.executor
            schema, variables = executor.schema, executor.variable_values
            parent = schema.get_type(name)
            assert isinstance(parent, GraphQLObjectType)
            fields = collect_subfields(schema, executor.fragments, variables, executor.operation, parent, self._details)
            self._selections[name] = Selection(executor, parent, fields.grouped_field_set, self._grow)
        return self._selections[name].begin(run, objects, paths)

    def _lazy_info(self, run: Run, above: Path | None = None) -> Any:
        return (
            LazyInfo(run.asked.context, partial(self._info, run, above))
            if self._is_declared
            else self._info(run, above)
        )

    def _info(self, run: Run, above: Path | None = None) -> GraphQLResolveInfo[Any]:
        """Return the info of a resolver. Without a single parent path, its path is the field alone."""
        path = Path(above, self.key, self._parent.name)
        return run.asked.executor.build_resolve_info(self._definition, self._nodes, self._parent, path)


def _some(paths: Paths, places: list[int]) -> Paths:
    """Return the paths of some places of a column."""

    def below() -> Sequence[Path | None]:
        above = paths()
        return [above[place] for place in places]

    return below


@lru_cache
def _is_steady(kind: type) -> bool:
    return getattr(kind, STEADY, False)


def _has_leaves(kind: Any) -> bool:
    """Return whether the results of a type are scalars and enums, or lists of them."""
    of = get_nullable_type(kind)
    return _has_leaves(of.of_type) if isinstance(of, GraphQLList) else is_leaf_type(of)
