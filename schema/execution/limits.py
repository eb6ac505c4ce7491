"""Limits on the size of a query, measured on the document before execution.

There are six limits, since each lets queries through that another one refuses:

- operations, since each is checked and priced by itself,
- aliases and repeated fields,
- depth,
- fields, where those of a fragment count at each spread, because a plan holds each of them,
- cost,
- introspection. It has a budget of its own, because it nests deeper than other queries and reads no database.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from graphql import (
    DocumentNode,
    ExecutableDefinitionNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

from resolvers.process.errors import QueryTooComplex
from schema.execution.costs import Cost, Prices, Pricing
from schema.execution.introspection import ROOTS, Introspection
from store.settings import Settings

Fragments: TypeAlias = Mapping[str, FragmentDefinitionNode]

_TYPE_LISTS = frozenset({"fields", "inputFields", "interfaces", "possibleTypes"})  # introspection fields that are lists
_MOST_LISTS = 3  # nested introspection lists; graphql-core's own limit


class Limits:
    """The limits of one schema under some settings."""

    def __init__(self, schema: GraphQLSchema, settings: Settings, introspection: Introspection) -> None:
        self._settings = settings
        self._introspection = introspection
        self._prices = Prices(schema, most_entries=settings.max_page, most_ids=settings.max_ids)

    def refuse_shape(self, document: DocumentNode) -> QueryTooComplex | None:
        """Return the refusal of a document with too many operations, aliases or repeated fields.

        The document need not be valid.
        """
        return self._over(len(operations(document)), "operations", "max_operations") or self._over(
            count_repetitions(document), "aliases and repeated fields", "max_aliases"
        )

    def refuse_text(self, text: str) -> QueryTooComplex | None:
        """Return the refusal of a text that is too long to be parsed."""
        return self._over(len(text), "characters", "max_query")

    def _over(self, count: int, what: str, limit: str) -> QueryTooComplex | None:
        most = getattr(self._settings, limit)
        return QueryTooComplex(f"The query has {count} {what}, more than {most}", limit) if count > most else None

    def refuse_size(self, document: DocumentNode, names: AbstractSet[str]) -> QueryTooComplex | None:
        """Return the refusal of a valid document that has too many fields, is too deep, or introspects too much.

        `names` are those of all its fields.
        """
        fragments = _fragments(document)
        cached: dict[str, tuple[int, int]] = {}
        sizes = [_measure(one.selection_set, fragments, cached) for one in operations(document)]
        if sum(fields for fields, _ in sizes) > self._settings.max_fields:
            return QueryTooComplex(
                f"The query has more than {self._settings.max_fields} fields, "
                "those of fragments counted at each spread",
                "max_fields",
            )
        depth = next((depth for _, depth in sizes if depth > self._settings.max_depth), None)
        if depth is not None:
            return QueryTooComplex(
                f"The query is {depth} levels deep, more than {self._settings.max_depth}", "max_depth"
            )
        return None if ROOTS.keys().isdisjoint(names) else self._refuse_introspection(document, fragments)

    def _refuse_introspection(self, document: DocumentNode, fragments: Fragments) -> QueryTooComplex | None:
        pricing = self._introspection.pricing(fragments)
        lists: dict[tuple[str, bool], int] = {}
        for operation in operations(document):
            if _list_depth(operation.selection_set, fragments, lists) >= _MOST_LISTS:
                return QueryTooComplex("The query introspects fields of types of fields of types of fields")
            if pricing.price(operation.selection_set) > self._introspection.most:
                return QueryTooComplex("The query introspects more than twice what the standard query does")
        return None

    def price(self, document: DocumentNode) -> Mapping[str | None, Cost]:
        """Return the cost of each operation of a valid document, by name."""
        pricing = Pricing(self._prices, _fragments(document))
        return {one.name.value if one.name else None: pricing.operation(one) for one in operations(document)}

    def refuse_variables(self, variables: Mapping[str, Any] | None) -> QueryTooComplex | None:
        """Return the refusal of variables with too many values, which have not been compared with their types yet."""
        if not variables or not _has_more_values(variables, self._settings.max_values):
            return None
        return QueryTooComplex(
            f"The variables have more than {self._settings.max_values} values, those in lists and objects counted",
            "max_values",
        )

    def refuse_cost(self, total: int, *, is_anonymous: bool = False) -> QueryTooComplex | None:
        """Return the refusal of an operation that costs too much."""
        most, limit = self._settings.max_cost, "max_cost"
        if is_anonymous and self._settings.max_anonymous_cost < most:
            most, limit = self._settings.max_anonymous_cost, "max_anonymous_cost"
        if total > most:
            who = " without a session" if limit == "max_anonymous_cost" else ""
            return QueryTooComplex(f"The query costs {total}, more than {most}{who}", limit)
        return None


def operations(document: DocumentNode) -> Sequence[OperationDefinitionNode]:
    """Return the operations of a document in order."""
    return [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]


def count_repetitions(document: DocumentNode) -> int:
    """Return how many fields have an alias, or repeat a field of the same selection set.

    The same name under two type conditions is not a repetition, because members of a union have fields in common.
    """
    count = 0
    sets = [one.selection_set for one in document.definitions if isinstance(one, ExecutableDefinitionNode)]
    while sets:
        seen: set[tuple[str, str]] = set()
        conditioned: list[tuple[SelectionSetNode, str]] = [(sets.pop(), "")]
        while conditioned:
            selection_set, condition = conditioned.pop()
            for selection in selection_set.selections:
                if isinstance(selection, FieldNode):
                    key = (condition, selection.name.value)
                    count += selection.alias is not None or key in seen
                    seen.add(key)
                    if selection.selection_set:
                        sets.append(selection.selection_set)
                elif isinstance(selection, InlineFragmentNode):
                    named = selection.type_condition
                    conditioned.append((selection.selection_set, named.name.value if named else condition))
    return count


_NESTED = (dict, list)


def _has_more_values(variables: Mapping[str, Any], most: int) -> bool:
    count, waiting = 0, list[Any]([variables])
    while waiting:
        one = waiting.pop()
        count += len(one)
        if count > most:
            return True
        values = one.values() if isinstance(one, dict) else one
        waiting += [inner for inner in values if isinstance(inner, _NESTED)]
    return False


def _fragments(document: DocumentNode) -> Fragments:
    return {one.name.value: one for one in document.definitions if isinstance(one, FragmentDefinitionNode)}


def _measure(
    selection_set: SelectionSetNode, fragments: Fragments, cached: dict[str, tuple[int, int]]
) -> tuple[int, int]:
    """Return the number of fields with all fragments expanded, and how deep they are nested, introspection apart.

    `cached` holds both of each fragment.
    """
    count, deepest = 0, 0
    for selection in selection_set.selections:
        if isinstance(selection, FragmentSpreadNode):
            name = selection.name.value
            if name not in cached:
                cached[name] = _measure(fragments[name].selection_set, fragments, cached)
            fields, depth = cached[name]
        elif isinstance(selection, InlineFragmentNode):
            fields, depth = _measure(selection.selection_set, fragments, cached)
        else:
            fields, depth = 1, 1
            if isinstance(selection, FieldNode) and selection.selection_set:
                inner, below = _measure(selection.selection_set, fragments, cached)
                fields += inner
                depth += 0 if selection.name.value in ROOTS else below
        count += fields
        deepest = max(deepest, depth)
    return count, deepest


def _list_depth(
    selection_set: SelectionSetNode, fragments: Fragments, cached: dict[tuple[str, bool], int], *, inside: bool = False
) -> int:
    """Return how deep introspection lists are nested; `inside` means below `__schema` or `__type`."""
    deepest = 0
    for selection in selection_set.selections:
        if isinstance(selection, FragmentSpreadNode):
            key = (selection.name.value, inside)
            if key not in cached:
                cached[key] = _list_depth(fragments[key[0]].selection_set, fragments, cached, inside=inside)
            depth = cached[key]
        elif isinstance(selection, InlineFragmentNode):
            depth = _list_depth(selection.selection_set, fragments, cached, inside=inside)
        elif isinstance(selection, FieldNode) and selection.selection_set:
            name = selection.name.value
            below = inside or name in ROOTS
            depth = _list_depth(selection.selection_set, fragments, cached, inside=below)
            depth += inside and name in _TYPE_LISTS
        else:
            continue
        deepest = max(deepest, depth)
    return deepest
