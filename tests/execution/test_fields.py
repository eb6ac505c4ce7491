"""Declarations of fields: what they complain about, and which flags they set."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import strawberry
from strawberry.schema.config import StrawberryConfig

from resolvers.operation.context import Context
from schema.execution.operations import Schema
from schema.types.fields import Arguments, argument, attribute_of, attribute_of_each, batched, field, query, resolved
from store.settings import Settings

FIRST: Arguments = {"first": argument(int, "How many.", default=3)}


@dataclass(slots=True)
class Bird:
    weight: int


async def heaviest(context: Context, nest: object, first: int) -> Bird:
    """Do nothing."""
    raise NotImplementedError


async def birds(context: Context, nests: Sequence[object], first: int) -> list[Bird]:
    """Do nothing."""
    raise NotImplementedError


async def flock(context: Context) -> None:
    """Do nothing."""


def test_arguments_that_the_resolver_does_not_take_are_refused_at_import() -> None:
    """A field whose arguments are missing, or are called something else than by its resolver, cannot be declared."""
    with pytest.raises(TypeError, match="first"):
        resolved(heaviest, int, "The heaviest.")
    with pytest.raises(TypeError, match="last"):
        batched(birds, int, "The birds.", takes=FIRST | {"last": argument(int, "How many.")})
    with pytest.raises(TypeError, match="first"):
        query(flock, int, "The flock.", takes=FIRST)


def test_an_attribute_that_there_is_not_is_refused_at_import() -> None:
    """A field that shows a misspelled attribute of what its resolver returns cannot be declared."""
    attribute_of(heaviest, "weight")
    attribute_of_each(birds, "weight")
    with pytest.raises(AttributeError, match="wieght"):
        attribute_of(heaviest, "wieght")
    with pytest.raises(AttributeError, match="wieght"):
        attribute_of_each(birds, "wieght")


@strawberry.type
class Egg:
    colour: str = field("Its colour.", cached=True, shared=True)
    age: int = field("How old it is now.")


@strawberry.type
class Nest:
    egg: Egg = field("The egg in it.", cached=True, shared=True)
    colour: str = field("Its colour, which changes with the light.")
    height: int = field("How high it is.", cached=True)


@strawberry.type
class Query:
    nest: Nest = field("The nest.", cached=True, shared=True)


@pytest.mark.parametrize(
    ("selection", "flags"),
    [
        ("egg { colour __typename }", {"cached", "shared"}),
        ("height egg { colour }", {"cached"}),
        ("egg { colour age }", set()),
        ("egg { ... on Egg { age } }", set()),
        ("...F } } fragment F on Nest { egg { age", set()),
        ("egg { colour } colour", set()),
    ],
)
def test_an_answer_is_used_again_only_if_each_of_its_fields_allows_it(selection: str, flags: set[str]) -> None:
    """A field that is declared without a flag keeps documents with it from being cached or shared."""
    schema = Schema(settings=Settings(), query=Query, config=StrawberryConfig())
    document = schema.documents.get(f"{{ nest {{ {selection} }} }}")
    prepared = document.prepared(None, {})
    assert prepared
    assert (prepared.key is not None, document.is_shareable) == ("cached" in flags, "shared" in flags)
