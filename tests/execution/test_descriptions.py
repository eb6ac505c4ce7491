"""Tests of what the schema says about itself."""

from collections.abc import Iterator
from enum import Enum
from itertools import chain
from typing import Any

import pytest
from graphql import GraphQLSchema, build_schema

import schema
from schema.types import descriptions
from store.settings import Settings


def elements(sdl: GraphQLSchema) -> Iterator[tuple[str, Any]]:
    """Yield every type, field, argument, input field and enum value that the schema declares, with its name."""
    for name, declared in sdl.type_map.items():
        if declared.ast_node is None:  # GraphQL's own
            continue
        yield name, declared
        for member, inner in chain(getattr(declared, "fields", {}).items(), getattr(declared, "values", {}).items()):
            yield f"{name}.{member}", inner
            for argument, taken in getattr(inner, "args", {}).items():
                yield f"{name}.{member}({argument}:)", taken


def test_every_type_field_argument_input_field_and_enum_value_has_a_description() -> None:
    described = {name: bool(element.description) for name, element in elements(published())}
    assert len(described) > 500
    assert [name for name, is_described in described.items() if not is_described] == []


def test_every_description_is_a_sentence() -> None:
    texts = {name: str(element.description) for name, element in elements(published())}
    assert [name for name, text in texts.items() if text[0] != text[0].upper() or text[-1] not in ".`"] == []


def test_a_limit_is_stated_with_the_name_of_its_setting() -> None:
    assert descriptions.limit("max_favourites") == "10,000 (`MAX_FAVOURITES`)"


def test_an_enum_needs_a_description_of_each_value_and_of_no_other() -> None:
    class Size(Enum):
        SMALL = "SMALL"
        LARGE = "LARGE"

    with pytest.raises(ValueError, match="SMALL, LARGE"):
        descriptions.enum(Size, "How large it is.", SMALL="Small.", HUGE="Huge.")


def published() -> GraphQLSchema:
    """Return the schema as clients read it."""
    return build_schema(schema.build(Settings()).as_str())
