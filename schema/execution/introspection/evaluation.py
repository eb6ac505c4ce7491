"""Evaluates one introspection field to JSON: each selection once for all objects that it reaches."""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

from graphql import FieldNode, GraphQLObjectType
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails
from graphql.execution.values import get_argument_values

from resolvers.process.errors import QueryTooComplex
from schema.execution.encoding import encode
from schema.execution.introspection.graph import Leaves, SchemaGraph

_NULL = b"null"


class Evaluation:
    """One evaluation. Objects that are reached several times share their JSON."""

    def __init__(self, graph: SchemaGraph, executor: Executor[Any], room: int) -> None:
        """Begin; at most `room` bytes of JSON may be made, those of parts included."""
        self._graph = graph
        self._executor = executor
        self.room = room

    def answer(self, details: list[FieldDetails], kind: str, place: int) -> bytes:
        """Return the JSON of an object's selection; raises GraphQLError, for wrong arguments or as QueryTooComplex."""
        return self._rows(self._graph.type(kind), details, [place])[0]

    def _rows(self, kind: GraphQLObjectType, details: list[FieldDetails], places: Sequence[int]) -> Sequence[bytes]:
        fields = self._executor.collect_subfields(kind, details).grouped_field_set
        if not fields:
            return [b"{}"] * len(places)
        row = b"{%b}" % b",".join(encode(key) + b":%b" for key in fields)  # names have no %
        columns = [self._cells(kind, found, places) for found in fields.values()]
        return [row % cells for cells in zip(*columns, strict=True)]

    def _cells(self, kind: GraphQLObjectType, details: list[FieldDetails], places: Sequence[int]) -> Sequence[bytes]:
        node = details[0].node
        name = node.name.value
        if name == "__typename":
            return [encode(kind.name)] * len(places)
        column = self._graph.column(kind.name, name, self._arguments(kind, node))
        if isinstance(column, Leaves):
            return self._spend([column.results[place] for place in places])
        targets = [column.targets[place] for place in places]
        reached = list(chain.from_iterable(filter(None, targets)))
        below = list(dict.fromkeys(reached))
        rows = dict(zip(below, self._rows(column.type, details, below) if below else (), strict=True))
        parts = iter(self._spend(list(map(rows.__getitem__, reached))))
        if column.is_list:
            return [_NULL if one is None else b"[%b]" % b",".join(islice(parts, len(one))) for one in targets]
        return [next(parts) if one else _NULL for one in targets]

    def _arguments(self, kind: GraphQLObjectType, node: FieldNode) -> dict[str, Any]:
        declared = kind.fields[node.name.value]
        return get_argument_values(declared, node, self._executor.variable_values) if declared.args else {}

    def _spend(self, cells: list[bytes]) -> list[bytes]:
        self.room -= sum(map(len, cells))
        if self.room < 0:
            raise QueryTooComplex("The answer to the introspection would be more than twice that to the standard query")
        return cells
