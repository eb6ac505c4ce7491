"""Limits on queries: which are refused before they are executed, and which must pass."""

import time
from typing import Any

import pytest
from graphql import get_introspection_query

from tests.support.execution.documents import cache, cost


def code(query: str, **turned: Any) -> str | None:
    errors = cache(**turned).get(query).errors
    return (errors[0].extensions or {})["code"] if errors else None


@pytest.mark.parametrize(
    ("query", "depth"),
    [
        ("{ user { id } }", 2),
        ("{ user { friends { friends { id } } } }", 4),
        ("{ user { ... { ... on User { id } } } }", 2),
        ("{ user { ...F } } fragment F on User { friends { ...G } } fragment G on User { id }", 3),
        ("{ user { id } } ".replace("{ user", "query A { user") + "query B { user { friends { id } } }", 3),
    ],
)
def test_depth_is_of_fields_within_fields(query: str, depth: int) -> None:
    """The depth is that of the operation's deepest field, through any fragments."""
    assert code(query, max_depth=depth) is None
    assert code(query, max_depth=depth - 1) == "QUERY_TOO_COMPLEX"


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("{ a: user { id } }", 1),
        ("{ a: user { b: id } c: user { id } }", 3),
        ("{ user { id } user { id } user { id } }", 2),
        ("{ user { ...F } } fragment F on User { x: id }", 1),
        ("{ ... { user { id } } ... { user { id } } }", 1),
        ("{ home { nodes { ... on User { id } ... on Note { id } } } }", 0),
    ],
)
def test_aliases_and_repeated_fields_are_counted_together(query: str, count: int) -> None:
    """An alias counts, and so does a repeated field in the same place; the same name on two types does not."""
    assert code(query, max_aliases=count) is None
    if count:
        assert code(query, max_aliases=count - 1) == "QUERY_TOO_COMPLEX"


def test_operations_are_counted() -> None:
    """A document with more operations than allowed is refused before they are checked; one with as many is not."""
    query = " ".join(f"query Q{place} {{ ...F }}" for place in range(4)) + " fragment F on Query { user { id } }"
    assert code(query, max_operations=4) is None
    assert code(query, max_operations=3) == "QUERY_TOO_COMPLEX"
    assert code(query.replace("id", "nothing"), max_operations=3) == "QUERY_TOO_COMPLEX"


def test_tokens_are_counted() -> None:
    """A query with more tokens than allowed is refused; one with exactly as many is not."""
    query = "{ user { id } }"  # six tokens
    assert code(query, max_tokens=6) is None
    assert code(query, max_tokens=5) == "QUERY_TOO_COMPLEX"


def test_comments_are_counted() -> None:
    """Comments are limited as well, though they are no tokens."""
    assert code("{ user { id } }" + "\n#" * 7, max_tokens=6) == "QUERY_TOO_COMPLEX"


@pytest.mark.parametrize(
    "query",
    [
        "{ user" * 250,
        "{ user(login: " + "[" * 250,
        "{ user { " + "... { " * 250 + "id" + " }" * 250 + " } }",
    ],
)
def test_nesting_that_no_parser_survives_is_refused(query: str) -> None:
    """Endless nesting is refused as too complex."""
    assert code(query) == "QUERY_TOO_COMPLEX"


def test_cycles_of_fragments_are_a_validation_error() -> None:
    """Fragments that spread each other are refused by validation, not followed."""
    query = "{ user { ...A } } fragment A on User { ...B } fragment B on User { ...A }"
    assert code(query) == "GRAPHQL_VALIDATION_FAILED"


def test_parse_and_validation_failures_have_their_codes() -> None:
    """A syntax error and a query that does not fit the schema have different codes."""
    assert code("{ user(") == "GRAPHQL_PARSE_FAILED"
    assert code("{ nothing }") == "GRAPHQL_VALIDATION_FAILED"
    assert code("{ user(login: 7) { id } }") == "GRAPHQL_VALIDATION_FAILED"


@pytest.mark.parametrize("type_depth", [7, 9, 12])
def test_introspection_passes(type_depth: int) -> None:
    """The introspection of GraphiQL and code generators passes even a strict limit on depth and cost."""
    query = get_introspection_query(
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
        one_of=True,
        type_depth=type_depth,
    )
    assert code(query, max_depth=3) is None
    assert cost(query, max_depth=3) == 1


def test_introspection_is_bounded_in_number() -> None:
    """The schema may be requested twice in one document, and not three times, fragments or not."""
    whole = get_introspection_query()
    fragments = "fragment Schema on __Schema { types { ...FullType } } " + whole[whole.index("fragment FullType") :]
    asked = "a: __schema { ...Schema } b: __schema { ...Schema }"
    assert code(f"{{ {asked} }} {fragments}") is None
    assert code(f"{{ {asked} c: __schema {{ ...Schema }} }} {fragments}") == "QUERY_TOO_COMPLEX"


def test_introspection_is_bounded_in_depth() -> None:
    """Fields of types of fields of types of fields are too much."""
    assert code("{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }") == (
        "QUERY_TOO_COMPLEX"
    )


@pytest.mark.parametrize(
    "query",
    [
        "{" + "user { id } " * 300 + "}",
        "{" + "... { user { id } } " * 200 + "}",
        "{" + "__typename " * 1990 + "}",
        "{ user { ...F0 } }"
        + " ".join(f"fragment F{n} on User {{ ...F{n + 1} ...F{n + 1} id }}" for n in range(150))
        + "fragment F150 on User { id }",
    ],
)
def test_reading_a_hostile_document_takes_bounded_time(query: str) -> None:
    """Documents made to keep validation busy take well under a second."""
    documents_ = cache()
    started = time.perf_counter()
    documents_.get(query)
    assert time.perf_counter() - started < 1
