"""What inputs need beyond Strawberry: secrets that nothing can log, and arguments that may be left out."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
)
from graphql.pyutils import Undefined
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.base import StrawberryOptional

from store.secret import Secret


def wrap_secrets(schema: GraphQLSchema) -> None:
    """Have coerced inputs hold a Secret wherever their class declares one, before anything can log its value."""
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLInputObjectType):
            names = [name for name, field in kind.fields.items() if is_secret(field)]
            if names:
                kind.out_type = partial(_wrapped, names, kind.out_type)  # type: ignore[method-assign]  # as its constructor does


def is_secret(field: GraphQLInputField) -> bool:
    """Return whether the class of an input declares a field as a Secret."""
    declared = field.extensions[GraphQLCoreConverter.DEFINITION_BACKREF].type
    return (declared.of_type if isinstance(declared, StrawberryOptional) else declared) is Secret


def _wrapped(names: Sequence[str], finish: Callable[[dict[str, Any]], Any], values: dict[str, Any]) -> Any:
    secrets = {name: Secret(values[name]) for name in names if isinstance(values.get(name), str)}
    return finish({**values, **secrets})


def drop_null_defaults(schema: GraphQLSchema) -> None:
    """Remove each default that is null. The resolver's own default, None, applies where the client sends nothing."""
    for taken in _taken(schema):
        if taken.default_value is None:
            taken.default_value = Undefined


def _taken(schema: GraphQLSchema) -> Iterator[GraphQLArgument | GraphQLInputField]:
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLInputObjectType):
            yield from kind.fields.values()
        elif isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            yield from chain.from_iterable(field.args.values() for field in kind.fields.values())
