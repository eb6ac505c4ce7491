"""Selections: the fields of one object type. Each object gets a row, which is filled field by field."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from graphql import GraphQLObjectType, GraphQLResolveInfo
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails, GroupedFieldSet, collect_subfields
from graphql.pyutils import Path

from schema.execution.plans.completion import completion
from schema.execution.plans.resolving import LazyInfo, Resolver, attribute, declaration, resolver_of_root
from schema.execution.plans.run import Paths, Row, Run, Unusual, begun
from schema.execution.weights import Weight

BATCHED = "batched"  # Key in the metadata of a field with a batched resolver.

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
        weight: Weight,
    ) -> None:
        names = {key: details[0].node.name.value for key, details in fields.items()}
        if not _INTROSPECTION.isdisjoint(names.values()):
            raise Unusual
        self._row = {key: parent.name if name == "__typename" else None for key, name in names.items()}
        weight.grow(SELECTION_BYTES + FIELD_BYTES * len(fields))
        asked = (key for key, name in names.items() if name != "__typename")
        self._fields = [Field(executor, parent, key, fields[key], weight) for key in asked]

    def __del__(self) -> None:
        """Break the reference cycles between fields and completions, so that they are freed without a collection.

        No run can use the plan any more: a run holds the root selection, which holds all others.
        """
        for field in getattr(self, "_fields", ()):
            field.take_apart()

    def begin(self, run: Run, objects: list[Any], paths: Paths) -> list[Row]:
        """Return a row for each object. Awaited results are put into it later."""
        rows = [self._row.copy() for _ in objects]
        for field in self._fields if objects else ():
            field.begin(run, objects, rows, paths)
        return rows

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


class Field:
    """One key of all rows of a selection."""

    def __init__(
        self,
        executor: Executor[Any],
        parent: GraphQLObjectType,
        key: str,
        details: list[FieldDetails],
        weight: Weight,
    ) -> None:
        self.key = key
        self._weight = weight
        self._parent = parent
        self._details = details
        self._nodes = [one.node for one in details]
        definition = executor.schema.get_field(parent, self._nodes[0].name.value)
        if definition is None:
            raise Unusual
        self._definition = definition
        self._resolver = Resolver(executor, definition, self._nodes[0], weight)
        self._completion = completion(definition.type, executor.schema, self._select, self._info)
        self._selections: dict[str, Selection] = {}
        declared = declaration(definition)
        self._is_declared = declared is not None
        self._is_batched = declared is not None and BATCHED in declared.metadata
        self._attribute = attribute(declared) if declared else None
        self._of_root = resolver_of_root(declared) if declared else None
        self.has_effects = False

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

    def begin(self, run: Run, objects: list[Any], rows: list[Row], paths: Paths) -> None:
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

    def _fill(self, run: Run, rows: list[Row], above: Paths, values: list[Any]) -> None:
        if not isinstance(values, list):
            raise Unusual
        key, parent = self.key, self._parent.name
        results = self._completion.complete(run, values, lambda: [Path(path, key, parent) for path in above()])
        for row, result in zip(rows, results, strict=True):
            row[key] = result

    def _select(self, run: Run, name: str, objects: list[Any], paths: Paths) -> list[Row]:
        """Return the rows of objects of the type with this name."""
        if name not in self._selections:
            executor = run.asked.executor
            schema, variables = executor.schema, executor.variable_values
            parent = schema.get_type(name)
            assert isinstance(parent, GraphQLObjectType)
            fields = collect_subfields(schema, executor.fragments, variables, executor.operation, parent, self._details)
            self._selections[name] = Selection(executor, parent, fields.grouped_field_set, self._weight)
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
