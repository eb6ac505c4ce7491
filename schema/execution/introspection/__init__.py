"""Prices and answers introspection: each selection is evaluated once for each object, however often it is reached.

The lists of a schema are long, and nested ones are as long as the product of their lengths. But the schema has few
objects, so most entries of nested lists are the same. That makes an answer cheap, and bounds what any document takes.
"""

import sys
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

from graphql import FragmentDefinitionNode, GraphQLSchema, get_introspection_query, parse
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails, collect_fields

from schema.execution.introspection.evaluation import Evaluation
from schema.execution.introspection.graph import ROOTS, SchemaGraph
from schema.execution.introspection.prices import IntrospectionPricing

__all__ = ["ROOTS", "Introspection", "IntrospectionPricing"]

_STANDARDS = 2  # the budget of an operation, in standard introspection queries
_ANSWERS_KEPT = 8  # cached answers, of some 280 kB each for standard queries, and three times as much at most


class Introspection:
    """The introspection of one schema: what it may cost, and its answers."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._cached: OrderedDict[Hashable, bytes] = OrderedDict()

    def prepare(self) -> None:
        """Read the schema, which must not change any more. Otherwise, the first document that introspects does so."""
        _ = self._budget

    def pricing(self, fragments: Mapping[str, FragmentDefinitionNode]) -> IntrospectionPricing:
        """Return what prices the introspection of a document with these fragments."""
        return IntrospectionPricing(self._graph, fragments)

    @property
    def most(self) -> int:
        """The price that the introspection of one operation may have."""
        return _STANDARDS * self._budget[0]

    @property
    def most_bytes(self) -> int:
        """How many bytes of JSON may be made for the introspection of one operation, parts of the answer included."""
        return _STANDARDS * self._budget[1]

    def answer(self, executor: Executor[Any], details: list[FieldDetails], of: Any, made: int) -> bytes:
        """Return the JSON of an introspection field, which has resolved to the schema or to a named type.

        `made` is how many bytes of introspection the answer has already. Raises GraphQLError where an argument is
        wrong, and QueryTooComplex where the answer becomes too large.
        """
        key = _key(executor, details)
        known = self._cached.get(key)
        if known is None:
            kind, place = self._graph.find(of)
            evaluation = Evaluation(self._graph, executor, self.most_bytes - made)
            known = evaluation.answer(details, kind, place)
            self._keep(key, known)
        else:
            self._cached.move_to_end(key)
        return known

    def _keep(self, key: Hashable, answer: bytes) -> None:
        if key is not None:
            self._cached[key] = answer
            if len(self._cached) > _ANSWERS_KEPT:
                self._cached.popitem(last=False)

    @cached_property
    def _graph(self) -> SchemaGraph:
        return SchemaGraph(self._schema)

    @cached_property
    def _budget(self) -> tuple[int, int]:
        """The price of a standard introspection query with all its options, and the bytes that are made for it."""
        document = parse(
            get_introspection_query(
                specified_by_url=True,
                directive_is_repeatable=True,
                schema_description=True,
                input_value_deprecation=True,
                one_of=True,
            )
        )
        executor = Executor.build(self._schema, document)
        assert isinstance(executor, Executor)
        assert self._schema.query_type
        (details,) = collect_fields(
            self._schema, executor.fragments, executor.variable_values, self._schema.query_type, executor.operation
        ).grouped_field_set.values()
        evaluation = Evaluation(self._graph, executor, sys.maxsize)
        evaluation.answer(details, "__Schema", self._graph.schema)
        price = self.pricing(executor.fragment_definitions).price(executor.operation.selection_set)
        return price, sys.maxsize - evaluation.room


def _key(executor: Executor[Any], details: list[FieldDetails]) -> Hashable | None:
    """Return a key that is the same for the same field, text, operation and variables; None if there is none."""
    node, operation = details[0].node, executor.operation
    if operation.loc is None or node.loc is None:
        return None
    name = operation.name.value if operation.name else None
    key = (operation.loc.source.body, name, node.loc.start, *executor.variable_values.coerced.items())
    try:
        hash(key)
    except TypeError:  # a list or an input object
        return None
    return key
