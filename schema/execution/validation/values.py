"""Checks literals and variables against the input types where they are used."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from graphql import (
    BooleanValueNode,
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLError,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLString,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    StringValueNode,
    Undefined,
    ValueNode,
    VariableNode,
)
from graphql.utilities import validate_input_literal

from schema.execution.validation.catalogue import Catalogue, has_default, is_one_of
from schema.execution.validation.faults import Faults

# Kinds of literals that a type accepts with any value.
_FITTING: Mapping[Any, tuple[type[ValueNode], ...]] = MappingProxyType(
    {
        GraphQLString: (StringValueNode,),
        GraphQLID: (StringValueNode, IntValueNode),
        GraphQLBoolean: (BooleanValueNode,),
    }
)


class Usage(NamedTuple):
    """A variable where it is used. A OneOf input has a second usage, without `type`, for its only field."""

    node: VariableNode
    type: GraphQLInputType | None
    default: Any = Undefined  # of the argument or input field
    one_of: str | None = None  # the type whose only field it is


class Values:
    """Checks the values of one document."""

    def __init__(self, catalogue: Catalogue, faults: Faults) -> None:
        self.usages: list[Usage] = []  # of the current definition
        self._catalogue = catalogue
        self._faults = faults

    def given(self, node: ValueNode, one: GraphQLArgument | GraphQLInputField) -> None:
        """Check the value of an argument or input field."""
        if isinstance(node, VariableNode):
            self.usages.append(Usage(node, one.type, one.default if has_default(one) else Undefined))
        else:
            self.check(node, one.type)

    def check(self, node: ValueNode, kind: GraphQLInputType) -> None:
        """Check a literal, or note a variable, where a type is expected."""
        if isinstance(node, VariableNode):
            self.usages.append(Usage(node, kind))
            return
        if isinstance(kind, GraphQLNonNull):
            if isinstance(node, NullValueNode):
                self._faults.add(f"Expected value of non-null type '{kind}' not to be None.", node)
                return
            kind = kind.of_type
        if isinstance(node, NullValueNode):
            return
        if isinstance(kind, GraphQLList):
            for item in node.values if isinstance(node, ListValueNode) else [node]:
                self.check(item, kind.of_type)
        elif isinstance(kind, GraphQLInputObjectType):
            self._object(node, kind)
        elif not isinstance(node, _FITTING.get(kind, ())):
            self._leaf(node, kind)

    def _object(self, node: ValueNode, kind: GraphQLInputObjectType) -> None:
        if not isinstance(node, ObjectValueNode):
            self._faults.add(f"Expected value of type '{kind}' to be an object.", node)
            return
        declared = self._catalogue.input_fields(kind)
        seen: set[str] = set()
        for one in node.fields:
            name = one.name.value
            if name in seen:
                self._faults.add(f"There can be only one input field named '{name}'.", one.name)
            seen.add(name)
            known = declared.of.get(name)
            if known is None:
                self._faults.add(f"Expected value of type '{kind}' not to include unknown field '{name}'.", one)
            else:
                self.given(one.value, known)
        for name in declared.required:
            if name not in seen:
                self._faults.add(f"Expected value of type '{kind}' to include required field '{name}'.", node)
        if is_one_of(kind):
            self._one_of(node, kind)

    def _one_of(self, node: ObjectValueNode, kind: GraphQLInputObjectType) -> None:
        value = node.fields[0].value if len(node.fields) == 1 else None
        if value is None or isinstance(value, NullValueNode):
            rule = "exactly one field must be specified, and the value for that field must be non-null."
            self._faults.add(f"Within OneOf Input Object type '{kind}', {rule}", node)
        elif isinstance(value, VariableNode):
            self.usages.append(Usage(value, None, one_of=kind.name))

    def _leaf(self, node: ValueNode, kind: GraphQLInputType) -> None:
        if isinstance(node, (ListValueNode, ObjectValueNode)):
            # No scalar of the schema takes either. graphql-core's message would repeat the whole literal.
            found = "a list" if isinstance(node, ListValueNode) else "an object"
            self._faults.add(f"Expected value of type '{kind}', found {found}.", node)
            return
        errors: list[GraphQLError] = []
        validate_input_literal(node, kind, lambda error, _: errors.append(error), hide_suggestions=True)
        for error in errors:
            self._faults.add(error.message, node)
