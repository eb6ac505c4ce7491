"""Input fields that are secrets: wrapped when a request's variables are coerced, before anything can log them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphql import GraphQLInputField, GraphQLInputObjectType, GraphQLSchema
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.base import StrawberryOptional

from store.secret import Secret


def wrap(schema: GraphQLSchema) -> None:
    """Have coerced inputs hold a Secret wherever their class declares one."""
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
