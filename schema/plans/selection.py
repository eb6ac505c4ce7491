"""What is asked of the objects of one type: a row for each, filled field by field."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from graphql import GraphQLObjectType, GraphQLResolveInfo
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails, GroupedFieldSet, collect_subfields
from graphql.execution.values import get_argument_values
from graphql.pyutils import Path
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.field import StrawberryField

from schema.plans.completion import completion
from schema.plans.run import Paths, Row, Run, Unusual

BATCHED = "batched"  # in the metadata of a field

_INTROSPECTION = {"__schema", "__type"}


class Parents(list[Any]):
    """All objects of a level; a batched field is resolved with them in place of one, and answers with a list."""


class Selection:
    """What is asked of the objects of one type."""

    def __init__(self, executor: Executor[Any], parent: GraphQLObjectType, fields: GroupedFieldSet) -> None:
        names = {key: details[0].node.name.value for key, details in fields.items()}
        if not _INTROSPECTION.isdisjoint(names.values()):
            raise Unusual
        self._row = {key: parent.name if name == "__typename" else None for key, name in names.items()}
        self._fields = [
            Field(executor, parent, key, fields[key]) for key, name in names.items() if name != "__typename"
        ]

    def begin(self, run: Run, objects: list[Any], paths: Paths) -> list[Row]:
        """Return a row for each object; what has to be awaited comes into it later."""
        rows: list[Row] = [self._row.copy() for _ in objects]
        if rows:
            for field in self._fields:
                field.begin(run, objects, rows, paths)
        return rows


class Field:
    """One key of all rows of a selection."""

    def __init__(
        self, executor: Executor[Any], parent: GraphQLObjectType, key: str, details: list[FieldDetails]
    ) -> None:
        self._key = key
        self._parent = parent
        self._details = details
        self._nodes = [one.node for one in details]
        definition = executor.schema.get_field(parent, self._nodes[0].name.value)
        if definition is None:
            raise Unusual
        self._definition = definition
        self._resolve = definition.resolve or executor.field_resolver
        self._completion = completion(definition.type, executor.schema, self._select, self._info)
        self._selections: dict[str, Selection] = {}
        declared = definition.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
        self._is_batched, self._attribute, self._of_root = False, None, None
        if isinstance(declared, StrawberryField):
            self._is_batched = BATCHED in declared.metadata
            self._attribute = _attribute(declared)
            self._of_root = _resolver_of_root(declared)

    def begin(self, run: Run, objects: list[Any], rows: list[Row], paths: Paths) -> None:
        """Fill the rows with the values that the objects have in this field, now or when they come."""
        fill = partial(self._fill, run, rows, paths)
        if self._attribute:
            fill(list(map(self._attribute, objects)))
        elif self._of_root:
            run.take(map(self._of_root, objects), fill)
        elif self._is_batched:
            answer = self._resolve(Parents(objects), self._info(run), **self._arguments(run))
            run.take([answer], lambda answers: fill(*answers))
        else:
            given, places = self._arguments(run), zip(objects, paths(), strict=True)
            run.take((self._resolve(one, self._info(run, path), **given) for one, path in places), fill)

    def _fill(self, run: Run, rows: list[Row], above: Paths, values: list[Any]) -> None:
        if not isinstance(values, list):
            raise Unusual
        key, parent = self._key, self._parent.name
        results = self._completion.complete(run, values, lambda: [Path(path, key, parent) for path in above()])
        for row, result in zip(rows, results, strict=True):
            row[key] = result

    def _select(self, run: Run, name: str, objects: list[Any], paths: Paths) -> list[Row]:
        """Return the rows of objects that are of a type."""
        if name not in self._selections:
            executor = run.executor
            schema, variables = executor.schema, executor.variable_values
            parent = schema.get_type(name)
            assert isinstance(parent, GraphQLObjectType)
            fields = collect_subfields(schema, executor.fragments, variables, executor.operation, parent, self._details)
            self._selections[name] = Selection(executor, parent, fields.grouped_field_set)
        return self._selections[name].begin(run, objects, paths)

    def _info(self, run: Run, above: Path | None = None) -> GraphQLResolveInfo[Any]:
        """Return what a resolver is told; where there is no one path above it, its path is the field alone."""
        path = Path(above, self._key, self._parent.name)
        return run.executor.build_resolve_info(self._definition, self._nodes, self._parent, path)

    def _arguments(self, run: Run) -> dict[str, Any]:
        """Return the arguments, made anew each time: a resolver may change what it is given."""
        if not self._definition.args:
            return {}
        values, hides = run.executor.variable_values, run.executor.hide_suggestions
        return get_argument_values(self._definition, self._nodes[0], values, None, hides)


def _attribute(declared: StrawberryField) -> Callable[[Any], Any] | None:
    """Return what takes the value of a field off an object, where it is nothing but an attribute."""
    is_one = declared.is_basic_field and declared.default_resolver is getattr and not declared.is_subscription
    return attrgetter(declared.python_name) if is_one else None


def _resolver_of_root(declared: StrawberryField) -> Callable[[Any], Any] | None:
    """Return the function that resolves a field, where it wants nothing but the object."""
    resolver = declared.base_resolver
    if resolver is None or declared.extensions or declared.is_subscription or len(resolver.signature.parameters) != 1:
        return None
    root = resolver.root_parameter or resolver.self_parameter or resolver.parent_parameter
    if root is None or root.kind is root.KEYWORD_ONLY or not callable(resolver.wrapped_func):
        return None
    return resolver.wrapped_func
