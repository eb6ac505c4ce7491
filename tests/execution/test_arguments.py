"""Plans convert arguments as strawberry does."""

from collections.abc import Iterator
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    get_nullable_type,
)
from graphql.pyutils import Undefined
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.arguments import convert_arguments

import schema
from schema.execution.plans.arguments import parameters
from schema.execution.validation.catalogue import is_one_of
from store.settings import Settings

SCHEMA = schema.build(Settings())
CORE: GraphQLSchema = SCHEMA._schema  # noqa: SLF001  graphql-core's own
HOW = ("all", "none", "null")


def taking() -> Iterator[tuple[str, GraphQLField]]:
    """Yield the fields that take arguments."""
    for kind in CORE.type_map.values():
        if isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__"):
            yield from ((f"{kind.name}.{name}", field) for name, field in kind.fields.items() if field.args)


FIELDS = dict(taking())


def coerced(kind: Any, how: str) -> Any:
    """Return a coerced value of a type. Where it may leave a part out, it has all, none, or null for it."""
    nullable: Any = get_nullable_type(kind)
    if isinstance(nullable, GraphQLList):
        return [coerced(nullable.of_type, how)] * 2
    if isinstance(nullable, GraphQLInputObjectType):
        return nullable.out_type(given(nullable.fields, how, one_of=is_one_of(nullable)))
    return next(iter(nullable.values.values())).value if isinstance(nullable, GraphQLEnumType) else "7"


def given(taken: Any, how: str, *, one_of: bool = False) -> dict[str, Any]:
    """Return coerced values for arguments or the fields of an input, as graphql-core gives them to resolvers."""
    values = {name: value(each, "all" if one_of else how) for name, each in taken.items()}
    sent = {name: one for name, one in values.items() if one is not Undefined}
    return dict([next(iter(sent.items()))]) if one_of else sent


def value(taken: GraphQLArgument | GraphQLInputField, how: str) -> Any:
    """Return the coerced value of an argument or input field, Undefined for one that is left out."""
    if how == "all" or (isinstance(taken.type, GraphQLNonNull) and taken.default_value is Undefined):
        return coerced(taken.type, how)
    return None if how == "null" and not isinstance(taken.type, GraphQLNonNull) else taken.default_value


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", FIELDS)
def test_conversion(name: str, how: str) -> None:
    """Each argument of each field becomes what strawberry would make of it."""
    definition = FIELDS[name]
    declared = definition.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]
    known = parameters(definition)
    assert known is not None
    sent = given(definition.args, how)
    found = {known[one].name: known[one].take(each) for one, each in sent.items()}
    registry = SCHEMA.schema_converter.scalar_registry
    assert found == convert_arguments(sent, declared.arguments, registry, SCHEMA.config)
