"""Converts coerced arguments into what resolvers take, as strawberry does, by functions that are made once for a plan.

Strawberry itself looks at the declaration of each type, and spells each name anew, for every value. That took 9 % of
the Python calls of a post, and 5 % of its instructions.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from graphql import GraphQLArgument, GraphQLField, GraphQLInputField, GraphQLInputObjectType, GraphQLList
from graphql.type import GraphQLInputType, get_nullable_type
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.arguments import StrawberryArgument
from strawberry.types.base import StrawberryMaybe, StrawberryObjectDefinition
from strawberry.types.field import StrawberryField

Convert: TypeAlias = Callable[[Any], Any]


class Parameter(NamedTuple):
    """The Python name of an argument or input field, and what converts a value; None for one that stays as it is."""

    name: str
    convert: Convert | None

    def take(self, value: Any) -> Any:
        """Return the converted value. Null stays null."""
        return value if self.convert is None or value is None else self.convert(value)


class _Unknown(Exception):
    """Only strawberry can convert a value of this type."""


def parameters(definition: GraphQLField) -> Mapping[str, Parameter] | None:
    """Return a resolver's parameters by GraphQL argument name; None where strawberry has to convert an argument."""
    try:
        return {name: _parameter(argument, ()) for name, argument in definition.args.items()}
    except _Unknown:
        return None


def _parameter(taken: GraphQLArgument | GraphQLInputField, inside: tuple[GraphQLInputObjectType, ...]) -> Parameter:
    declared = taken.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    if not isinstance(declared, StrawberryArgument | StrawberryField) or isinstance(declared.type, StrawberryMaybe):
        raise _Unknown
    return Parameter(declared.python_name, _converter(taken.type, inside))


def _converter(kind: GraphQLInputType, inside: tuple[GraphQLInputObjectType, ...]) -> Convert | None:
    """Return what converts the coerced values of a type; `inside` are the inputs that it is a part of."""
    nullable: Any = get_nullable_type(kind)
    if isinstance(nullable, GraphQLList):
        element = Parameter("", _converter(nullable.of_type, inside))
        return list if element.convert is None else partial(_convert_list, element)
    if not isinstance(nullable, GraphQLInputObjectType):
        return None
    declared = nullable.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    if not isinstance(declared, StrawberryObjectDefinition) or declared.from_input is not None or nullable in inside:
        raise _Unknown
    fields = {name: _parameter(field, (*inside, nullable)) for name, field in nullable.fields.items()}
    return partial(_convert_input, declared.origin, _absent(declared), fields)


def _absent(declared: StrawberryObjectDefinition) -> Mapping[str, None]:
    """Return the values of fields that are left out, and have no default in their class."""
    fields = [field for field in declared.fields if field.default_value is MISSING and field.default_factory is MISSING]
    return dict.fromkeys((field.python_name for field in fields), None)


def _convert_list(element: Parameter, values: list[Any]) -> list[Any]:
    return list(map(element.take, values))


def _convert_input(
    made: type, absent: Mapping[str, None], fields: Mapping[str, Parameter], values: Mapping[str, Any]
) -> Any:
    given: dict[str, Any] = {**absent}
    for name, value in values.items():
        field = fields[name]
        given[field.name] = field.take(value)
    return made(**given)
