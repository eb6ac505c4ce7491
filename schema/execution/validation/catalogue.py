"""A cache of the schema facts that validation needs, looked up once for each field and pair of types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from graphql import (
    FragmentDefinitionNode,
    GraphQLArgument,
    GraphQLCompositeType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLOutputType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    Undefined,
    do_types_overlap,
    get_named_type,
    is_composite_type,
    is_leaf_type,
)

from schema.execution import flags

_DECLARATION = "strawberry-definition"  # the extensions key of strawberry's own definition


@dataclass(frozen=True, slots=True)
class CatalogueArguments:
    """The arguments of a field or directive, or the fields of an input object."""

    of: Mapping[str, GraphQLArgument | GraphQLInputField]
    required: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """The facts about one field of one type that validation needs."""

    type: GraphQLOutputType
    named: GraphQLCompositeType | None  # None for leaves
    parameters: CatalogueArguments
    shape: str  # equal for fields whose results can be merged
    flags: frozenset[str]


class Catalogue:
    """The types, fields and directives of one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self.schema = schema
        self.types: Mapping[str, GraphQLNamedType] = schema.type_map
        self.directives = {one.name: (one, parameters(one.args)) for one in schema.directives}
        self._fields: dict[tuple[str, str], FieldFacts] = {}  # only of fields that exist: their number is bounded
        self._inputs: dict[str, CatalogueArguments] = {}
        self._overlaps: dict[tuple[str, str], bool] = {}

    def root(self, operation: OperationDefinitionNode) -> GraphQLCompositeType:
        """Return the root type of an operation that the schema has."""
        return cast("GraphQLCompositeType", self.schema.get_root_type(operation.operation))

    def field(self, parent: GraphQLCompositeType, name: str) -> FieldFacts | None:
        """Return the facts of a field; None where the type has no such field."""
        facts = self._fields.get((parent.name, name))
        if facts is None:
            declared = self.schema.get_field(parent, name)
            if declared is None:
                return None
            named = get_named_type(declared.type)
            composite = None if is_leaf_type(named) else cast("GraphQLCompositeType", named)
            facts = FieldFacts(
                declared.type, composite, parameters(declared.args), _shape(declared.type), flags.of(name, declared)
            )
            self._fields[parent.name, name] = facts
        return facts

    def input_fields(self, kind: Any) -> CatalogueArguments:
        """Return the fields of an input object type."""
        found = self._inputs.get(kind.name)
        if found is None:
            found = self._inputs[kind.name] = parameters(kind.fields)
        return found

    def overlap(self, one: GraphQLCompositeType, other: GraphQLCompositeType) -> bool:
        """Return whether an object can be of both types."""
        key = (one.name, other.name)
        found = self._overlaps.get(key)
        if found is None:
            found = self._overlaps[key] = do_types_overlap(self.schema, one, other)
        return found

    def condition(self, node: InlineFragmentNode | FragmentDefinitionNode) -> GraphQLCompositeType | None:
        """Return the type that a fragment names; None where there is none, or it has no fields."""
        named = self.types.get(node.type_condition.name.value) if node.type_condition else None
        return named if is_composite_type(named) else None


def parameters(of: Mapping[str, Any]) -> CatalogueArguments:
    """Return the facts about arguments or input fields that validation needs."""
    required = tuple(name for name, one in of.items() if isinstance(one.type, GraphQLNonNull) and not has_default(one))
    return CatalogueArguments(of, required)


def has_default(one: Any) -> bool:
    """Return whether an argument or input field has a default value."""
    return one.default is not None or one.default_value is not Undefined


def is_one_of(kind: GraphQLInputObjectType) -> bool:
    """Return whether an input object must have exactly one field, as graphql-core or strawberry knows it."""
    return kind.is_one_of or bool(getattr(kind.extensions.get(_DECLARATION), "is_one_of", False))


def _shape(kind: GraphQLOutputType) -> str:
    if isinstance(kind, GraphQLNonNull):
        return _shape(kind.of_type) + "!"
    if isinstance(kind, GraphQLList):
        return f"[{_shape(kind.of_type)}]"
    return kind.name if is_leaf_type(kind) else "{}"
