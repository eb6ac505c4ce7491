"""The cost of a query, or of one event of a subscription: prices of fields, times the entries asked of the lists above.

The cost is computed once per document, as a sum whose factors may depend on variables. Each request evaluates that sum
with its variables. A fragment is priced once, however often it is spread, so both steps take linear time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLCompositeType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    Undefined,
    ValueNode,
    VariableNode,
    get_named_type,
    is_abstract_type,
    is_scalar_type,
    is_specified_scalar_type,
)
from graphql.utilities.coerce_input_value import coerce_default_value

from schema.execution.introspection import ROOTS
from schema.execution.plans.resolving import declaration

DEFAULT_ENTRIES = 20  # of a connection without `first` and `last`
UNSIZED_ENTRIES = 2  # of a list of objects that takes no size: mentions, participants, user errors

# Prices of one field of one object, where 1 is some µs of CPU. `benchmarks.costs` measures what each takes.
PAGE_PRICE = 75  # of a connection, whose page is read for each object above it
LOOKUP_PRICES = MappingProxyType(  # of fields that read more than the object; flags are cached for a while
    {
        "images": 2,
        "inReplyTo": 8,
        "isMutual": 3,
        "lastMessage": 8,
        "memberCount": 3,
        "mentions": 4,
        "participants": 3,
        "post": 12,
        "replyTo": 8,
        "unreadCount": 8,
        "viewerHasFavourited": 4,
        "viewerHasLiked": 4,
        "viewerHasReposted": 4,
        "viewerLastRead": 8,
        "viewerRole": 4,
    }
)
RESOLVED_PRICE, ATTRIBUTE_PRICE = 2, 1  # of what a function computes or serialises, and of what is there

_SIZES = ("first", "last")
_DIGITS = 20  # digits of an Int literal that are read: Python refuses to convert more than 4,300
_PRESENT = object()  # placeholder of a literal that is neither number, list nor object

Variables: TypeAlias = Mapping[str, Any]
Factor: TypeAlias = Callable[[Variables], int]


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """A fixed number of fields, and parts that are multiplied by a factor of the variables."""

    fixed: int
    parts: "tuple[tuple[Factor, Cost | Dearest], ...]" = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def total(self, variables: Variables) -> int:
        """Return the cost with these variables, as the client sent them."""
        return self._add_up({**self.defaults, **variables}, {}) if self.parts else self.fixed

    def _add_up(self, variables: Variables, known: dict[int, int]) -> int:
        total = known.get(id(self))
        if total is None:
            parts = (factor(variables) * part._add_up(variables, known) for factor, part in self.parts)  # noqa: SLF001
            known[id(self)] = total = self.fixed + sum(parts)
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Dearest:
    """The highest of several costs: an object has one type, and only its fields."""

    options: Sequence[Cost]

    def _add_up(self, variables: Variables, known: dict[int, int]) -> int:
        return max(option._add_up(variables, known) for option in self.options)  # noqa: SLF001  a part of it


@dataclass(frozen=True, slots=True)
class Prices:
    """The schema and the limits that costs depend on, apart from the document.

    The two maxima cap the counted numbers. A field refuses larger numbers with an error of its own. The cost limit must
    not refuse the operation first, for entries that are never read.
    """

    schema: GraphQLSchema
    most_entries: int
    most_ids: int

    def covers(self, kind: GraphQLCompositeType, one: GraphQLObjectType) -> bool:
        """Return whether objects of one type are of another one, too."""
        return kind is one or (is_abstract_type(kind) and self.schema.is_sub_type(kind, one))

    def price(self, declared: GraphQLField, name: str) -> int:
        """Return the price of a field of one object, apart from its selection."""
        named = get_named_type(declared.type)
        if "pageInfo" in getattr(named, "fields", ()):
            return PAGE_PRICE
        if name in LOOKUP_PRICES:
            return LOOKUP_PRICES[name]
        strawberry = declaration(declared)
        is_resolved = strawberry is not None and not strawberry.is_basic_field
        is_converted = is_scalar_type(named) and not is_specified_scalar_type(named)
        return RESOLVED_PRICE if is_resolved or is_converted else ATTRIBUTE_PRICE

    def factors(self, declared: GraphQLField, node: FieldNode) -> Iterator[Factor]:
        """Yield the factors of a field's selection: its number of entries, its number of ids, or none."""
        given = {argument.name.value: argument.value for argument in node.arguments or ()}
        sizes = {name: declared.args[name] for name in _SIZES if name in declared.args}
        if sizes:
            values = [given.get(name) for name in sizes]
            declares = [_whole(coerce_default_value(one)) for one in sizes.values()]
            default = max((one for one in declares if one is not None), default=DEFAULT_ENTRIES)
            yield lambda variables: self._entries([_value(one, variables) for one in values], default)
        for name, argument in declared.args.items():
            value = given.get(name)
            if value is not None and _takes_ids(argument.type):
                yield self._ids_factor(value, argument.type)

    def _entries(self, asked: list[object], default: int) -> int:
        numbers = [number for number in map(_whole, asked) if number is not None]
        return min(max(*numbers, 1) if numbers else default, self.most_entries)

    def _ids_factor(self, value: ValueNode, kind: GraphQLInputType) -> Factor:
        return lambda variables: min(max(_count_ids(_value(value, variables), kind), 1), self.most_ids)


class Pricing:
    """Prices the operations of one valid document."""

    def __init__(self, prices: Prices, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._prices = prices
        self._fragments = fragments
        self._cached: dict[tuple[str, bool, bool], Cost] = {}
        self._is_live = False  # whether the operation is a subscription: one event takes as long for any field

    def operation(self, operation: OperationDefinitionNode) -> Cost:
        """Return the cost of an operation, introspection apart."""
        root = self._prices.schema.get_root_type(operation.operation)
        self._is_live = operation.operation is OperationType.SUBSCRIPTION
        cost = self._selection(operation.selection_set, cast("GraphQLCompositeType", root), sized=True)
        definitions = operation.variable_definitions
        if not definitions:
            return Cost(cost.total({}))
        defaults = {one.variable.name.value: _value(one.default_value, {}) for one in definitions if one.default_value}
        return Cost(cost.fixed, cost.parts, defaults)

    def _selection(self, selection_set: SelectionSetNode, parent: GraphQLCompositeType, *, sized: bool) -> Cost:
        """Return the cost of a selection; `sized` when the field above has counted the entries of its lists."""
        kinds = [self._condition(one) for one in selection_set.selections]
        pairs = zip(selection_set.selections, kinds, strict=True)
        costs = [self._part(one, kind or parent, sized=sized) for one, kind in pairs]
        if isinstance(parent, GraphQLObjectType) or all(kind in {None, parent} for kind in kinds):
            return _sum(costs)
        applying = {
            tuple(n for n, kind in enumerate(kinds) if kind is None or self._prices.covers(kind, one)): None
            for one in self._prices.schema.get_possible_types(parent)
        }
        options = [_sum([costs[n] for n in places]) for places in applying]
        if not any(option.parts for option in options):
            return Cost(max(option.fixed for option in options))
        return Cost(0, ((_once, Dearest(options)),))

    def _condition(self, selection: SelectionNode) -> GraphQLCompositeType | None:
        """Return the type that a selection is limited to; None for a field, or a fragment without a type."""
        if isinstance(selection, FragmentSpreadNode):
            return self._type(self._fragments[selection.name.value].type_condition.name.value)
        condition = selection.type_condition if isinstance(selection, InlineFragmentNode) else None
        return self._type(condition.name.value) if condition else None

    def _part(self, selection: SelectionNode, kind: GraphQLCompositeType, *, sized: bool) -> Cost:
        """Return the cost of one selection on objects of a type."""
        if isinstance(selection, FieldNode):
            return self._field(selection, kind, sized=sized)
        if isinstance(selection, InlineFragmentNode):
            return self._selection(selection.selection_set, kind, sized=sized)
        name = cast("FragmentSpreadNode", selection).name.value
        key = (name, sized, self._is_live)
        if key not in self._cached:
            cost = self._selection(self._fragments[name].selection_set, kind, sized=sized)
            # A cost that depends on variables stays one object, so `_add_up` evaluates it once for all its spreads.
            self._cached[key] = Cost(0, ((_once, cost),)) if cost.parts else cost
        return self._cached[key]

    def _field(self, node: FieldNode, parent: GraphQLCompositeType, *, sized: bool) -> Cost:
        declared = self._prices.schema.get_field(parent, node.name.value)
        price = self._prices.price(declared, node.name.value) if declared and not self._is_live else ATTRIBUTE_PRICE
        if declared is None or node.selection_set is None or node.name.value in ROOTS:
            return Cost(price)
        # The arguments of a subscription select events. They don't change the size of an event.
        is_source = parent is self._prices.schema.subscription_type
        factors = [] if is_source else list(self._prices.factors(declared, node))
        if not factors and not sized and _is_list(declared.type):
            factors.append(_unsized)
        kind = cast("GraphQLCompositeType", get_named_type(declared.type))
        inner = self._selection(node.selection_set, kind, sized=bool(factors))
        if not factors:
            return Cost(price + inner.fixed, inner.parts)
        for factor in factors:
            inner = Cost(0, ((factor, inner),))
        return Cost(price, inner.parts)

    def _type(self, name: str) -> GraphQLCompositeType:
        return cast("GraphQLCompositeType", self._prices.schema.type_map[name])


def _sum(costs: Sequence[Cost]) -> Cost:
    return Cost(sum(cost.fixed for cost in costs), tuple(part for cost in costs for part in cost.parts))


def _once(_: Variables) -> int:
    return 1


def _unsized(_: Variables) -> int:
    return UNSIZED_ENTRIES


def _value(node: ValueNode | None, variables: Variables) -> object:
    """Return the Python value of a literal or variable, as far as sizes depend on it."""
    match node:
        case None:
            return None
        case VariableNode():
            return variables.get(node.name.value)
        case IntValueNode():
            return int(node.value[:_DIGITS])  # a truncated number is still above every maximum
        case ListValueNode():
            return list(node.values)
        case ObjectValueNode():
            return {one.name.value: _value(one.value, variables) for one in node.fields}
        case _:
            return _PRESENT


def _whole(value: object) -> int | None:
    """Return a value coerced to a GraphQL Int, or None where GraphQL refuses it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _is_list(kind: object) -> bool:
    return isinstance(kind.of_type if isinstance(kind, GraphQLNonNull) else kind, GraphQLList)


def _takes_ids(kind: GraphQLInputType) -> bool:
    """Return whether an input is a list of ids, or an object that has one."""
    named = get_named_type(kind)
    if isinstance(named, GraphQLInputObjectType):
        return any(_is_list(one.type) and get_named_type(one.type).name == "ID" for one in named.fields.values())
    return _is_list(kind) and named.name == "ID"


def _count_ids(value: object, kind: GraphQLInputType) -> int:
    named = get_named_type(kind)
    if isinstance(named, GraphQLInputObjectType):
        if not isinstance(value, dict):
            return 0
        return sum(_count_ids(value.get(name), one.type) for name, one in named.fields.items() if _takes_ids(one.type))
    if not _is_list(kind) or value is None or value is Undefined:
        return 0
    return len(value) if isinstance(value, list) else 1
