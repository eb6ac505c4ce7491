"""Arguments and input fields that may be left out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from graphql import (
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
)
from graphql.pyutils import Undefined


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
