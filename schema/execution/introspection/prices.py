"""The price of introspection: its fields, times the objects of the schema that each can reach."""

from collections.abc import Mapping
from typing import NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLObjectType,
    InlineFragmentNode,
    SelectionSetNode,
    get_named_type,
    introspection_types,
)

from schema.execution.introspection.graph import ROOTS, SchemaGraph

FIELD = 20  # the overhead of one field, in objects


class Reached(NamedTuple):
    """Objects of an introspection type that a selection is evaluated on."""

    kind: str
    objects: int
    wrapped: int = 0  # how many times `ofType` has led to them


class IntrospectionPricing:
    """Prices the introspection of one valid document. A fragment is priced once for all that reach as many objects."""

    def __init__(self, graph: SchemaGraph, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._graph = graph
        self._fragments = fragments
        self._cached: dict[tuple[str, Reached | None], int] = {}

    def price(self, selection_set: SelectionSetNode) -> int:
        """Return the price of all introspection in the selection of an operation."""
        return self._selection(selection_set, None)

    def _selection(self, selection_set: SelectionSetNode, reached: Reached | None) -> int:
        """Return the price of a selection on objects of introspection, or on the query (None)."""
        total = 0
        for selection in selection_set.selections:
            if isinstance(selection, FieldNode):
                total += self._field(selection, reached) if reached else self._root(selection)
            elif isinstance(selection, InlineFragmentNode):
                total += self._selection(selection.selection_set, reached)
            elif isinstance(selection, FragmentSpreadNode):
                key = selection.name.value, reached
                if key not in self._cached:
                    self._cached[key] = self._selection(self._fragments[key[0]].selection_set, reached)
                total += self._cached[key]
        return total

    def _root(self, node: FieldNode) -> int:
        kind = ROOTS.get(node.name.value)
        return FIELD + self._selection(node.selection_set, Reached(kind, 1)) if kind and node.selection_set else 0

    def _field(self, node: FieldNode, reached: Reached) -> int:
        price = FIELD + reached.objects
        return price + self._selection(node.selection_set, self._below(node, reached)) if node.selection_set else price

    def _below(self, node: FieldNode, reached: Reached) -> Reached:
        declared = introspection_types[reached.kind]
        assert isinstance(declared, GraphQLObjectType)
        name = node.name.value
        kind = get_named_type(declared.fields[name].type).name
        wrapped = reached.wrapped + 1 if name == "ofType" else 0
        there_are = self._graph.wrapped(wrapped) if kind == "__Type" else self._graph.count(kind)
        return Reached(kind, min(reached.objects * self._graph.most(reached.kind, name), there_are), wrapped)
