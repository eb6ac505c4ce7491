"""Operations and their variables, looked at once for those that are sent again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from types import NoneType
from typing import Any

from graphql import GraphQLError, GraphQLSchema, OperationDefinitionNode
from graphql.execution.values import VariableValues, get_variable_values
from msgspec import Struct

from schema.costs import Cost

KEPT = 16  # of one document; they differ by the operation and by what is sent
CHARACTERS_KEPT = 200  # of a variable: a cursor is shorter, a text that somebody writes is not sent again
MOST_ERRORS = 50  # of the variables of one operation; graphql-core's own limit

_IMMUTABLE = (str, int, float, bool, NoneType, Enum)


class Prepared(Struct, frozen=True):
    """An operation, what it costs, and what its variables come to: their values, or why they have none."""

    operation: OperationDefinitionNode
    cost: int
    variables: VariableValues | list[GraphQLError]


class Preparation:
    """What has been prepared of one document."""

    def __init__(self, schema: GraphQLSchema, costs: Mapping[str | None, Cost]) -> None:
        self._schema = schema
        self._costs = costs
        self._kept: dict[Sequence[Any], Prepared] = {}

    def of(self, operation: OperationDefinitionNode, sent: Mapping[str, Any]) -> Prepared:
        """Return an operation of the document prepared with variables as they were sent."""
        name = operation.name.value if operation.name else None
        key = (name, *sent.items(), *map(type, sent.values()))  # 1 is equal to true, and is no Boolean
        try:
            known = self._kept.get(key)
        except TypeError:  # an object or a list: it has no hash, and could be changed by whoever is given it
            return self._prepare(operation, name, sent)
        if known is None:
            known = self._prepare(operation, name, sent)
            if (
                _is_lasting(sent)
                and isinstance(known.variables, VariableValues)
                and _is_lasting(known.variables.coerced)
            ):
                if len(self._kept) == KEPT:
                    self._kept.clear()
                self._kept[key] = known
        return known

    def _prepare(self, operation: OperationDefinitionNode, name: str | None, sent: Mapping[str, Any]) -> Prepared:
        definitions = operation.variable_definitions or ()
        values = get_variable_values(self._schema, definitions, dict(sent), MOST_ERRORS)
        return Prepared(operation, self._costs[name].total(sent), values)


def _is_lasting(variables: Mapping[str, Any]) -> bool:
    """Return whether nobody can change these values, and they take little room."""
    return all(
        isinstance(value, _IMMUTABLE) and not (isinstance(value, str) and len(value) > CHARACTERS_KEPT)
        for value in variables.values()
    )
