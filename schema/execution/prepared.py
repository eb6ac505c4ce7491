"""A cache of coerced variables and computed costs, for operations that are sent again with the same variables."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from itertools import count
from sys import getsizeof
from types import NoneType
from typing import Any

from graphql import GraphQLError, GraphQLSchema, OperationDefinitionNode
from graphql.execution.values import VariableValues, get_variable_values
from msgspec import Struct
from msgspec.structs import replace

from schema.execution.costs import Cost

KEPT = 16  # Cached entries of one document. The key is the operation and the variables sent.
CHARACTERS_KEPT = 200  # Longest cached string. Cursors are shorter, and a text that a member writes is not sent again.
MOST_ERRORS = 50  # Errors in the variables of one operation: graphql-core's own limit.

_NUMBERS = count(1)  # Of documents whose answers may be cached.
_ENTRY, _VARIABLE = 1_000, 700  # Bytes of an entry, and of each variable in it without its value.

_IMMUTABLE = (str, int, float, bool, NoneType, Enum)


class Prepared(Struct, frozen=True):
    """An operation, its cost and its coerced variables, or the errors of coercing them."""

    operation: OperationDefinitionNode
    cost: int
    variables: VariableValues | list[GraphQLError]
    key: Hashable | None = None  # The same for the same operation and variables. None if its answer may not be cached.


class Preparation:
    """The cache of prepared operations of one document."""

    def __init__(
        self,
        schema: GraphQLSchema,
        costs: Mapping[str | None, Cost],
        grow: Callable[[int], None] = lambda _: None,
        *,
        is_cached: bool = False,
    ) -> None:
        """Begin with an empty cache; `grow` is called with the bytes of entries, negative for freed ones.

        `is_cached` says whether answers of the document may be cached.
        """
        self._number = next(_NUMBERS) if is_cached else 0
        self._schema = schema
        self._costs = costs
        self._grow = grow
        self._cached: dict[Sequence[Any], Prepared] = {}
        self._size = 0  # Estimated bytes of all entries.

    def of(self, operation: OperationDefinitionNode, sent: Mapping[str, Any]) -> Prepared:
        """Return an operation of the document, prepared with the variables that the client sent."""
        name = operation.name.value if operation.name else None
        key = (name, *sent.items(), *map(type, sent.values()))  # 1 equals true, but is no Boolean
        try:
            prepared = self._cached.get(key)
        except TypeError:  # an object or a list has no hash, and a resolver could change it
            return self._prepare(operation, name, sent)
        if prepared is None:
            prepared = self._prepare(operation, name, sent)
            if _is_lasting(sent) and isinstance(values := prepared.variables, VariableValues):
                if self._number:
                    prepared = replace(prepared, key=(self._number, *key))
                self._keep(key, prepared, values, sent)
        return prepared

    def _keep(self, key: Sequence[Any], prepared: Prepared, values: VariableValues, sent: Mapping[str, Any]) -> None:
        # Undeclared variables are not cached: a client could send any number of them.
        if not _is_lasting(values.coerced) or not sent.keys() <= values.sources.keys():
            return
        if len(self._cached) == KEPT:
            self._cached.clear()
            self._grow(-self._size)
            self._size = 0
        size = _ENTRY + sum(_VARIABLE + getsizeof(name) + 2 * getsizeof(value) for name, value in sent.items())
        self._size += size
        self._grow(size)
        self._cached[key] = prepared

    def _prepare(self, operation: OperationDefinitionNode, name: str | None, sent: Mapping[str, Any]) -> Prepared:
        definitions = operation.variable_definitions or ()
        values = get_variable_values(self._schema, definitions, dict(sent), MOST_ERRORS)
        return Prepared(operation, self._costs[name].total(sent), values)


def _is_lasting(variables: Mapping[str, Any]) -> bool:
    """Return whether all values are immutable and small."""
    return all(
        isinstance(value, _IMMUTABLE) and not (isinstance(value, str) and len(value) > CHARACTERS_KEPT)
        for value in variables.values()
    )
