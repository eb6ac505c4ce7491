"""Limits on queries: what is refused before it is executed, and what must pass."""

from __future__ import annotations

import time
from typing import Any

import pytest
from graphql import GraphQLSchema, build_schema, get_introspection_query

from resolvers.errors import QueryTooComplex
from schema import documents
from schema.costs import DEFAULT_ENTRIES, UNSIZED_ENTRIES
from schema.documents import DocumentCache
from store.settings import Settings

SDL = """
type Query {
  user(login: String): User
  home(first: Int, last: Int): Items!
  popular(first: Int = 10): Items!
  nodes(ids: [ID!]!): [User]!
  tags(first: Int = 10): [String!]!
}
type Mutation { follow(input: UsersInput!): Payload }
input UsersInput { userIds: [ID!]! note: String }
type Payload { users: [User!]! }
type Items { nodes: [Item!]! edges: [Edge!]! total: Int! }
type Edge { cursor: String! node: Item! }
union Item = User | Note
type Note { id: ID! text: String! author: User! }
type User { id: ID! name: String! friends: [User!]! followers(first: Int = 20): Items! }
"""


def cache(**turned: Any) -> DocumentCache:
    return DocumentCache(build_schema(SDL), Settings(**turned))


def cost(query: str, variables: dict[str, Any] | None = None, **turned: Any) -> int:
    document = cache(**turned).get(query)
    assert not document.errors
    (only,) = document.costs.values()
    return only.total(variables or {})


def code(query: str, **turned: Any) -> str | None:
    errors = cache(**turned).get(query).errors
    return (errors[0].extensions or {})["code"] if errors else None


@pytest.mark.parametrize(
    ("query", "variables", "expected"),
    [
        ("{ user { id name } }", {}, 3),
        ("{ home(first: 5) { nodes { ... on User { id } } total } }", {}, 1 + 5 * 3),
        ("{ home(last: 7) { total } }", {}, 1 + 7),
        ("{ home(first: 2, last: 3) { total } }", {}, 1 + 3),
        ("{ home { total } }", {}, 1 + DEFAULT_ENTRIES),
        ("{ home(first: null) { total } }", {}, 1 + DEFAULT_ENTRIES),
        ("{ popular { total } }", {}, 1 + 10),
        ("query($n: Int) { home(first: $n) { total } }", {"n": 4}, 1 + 4),
        ("query($n: Int) { home(first: $n) { total } }", {"n": 4.0}, 1 + 4),
        ("query($n: Int) { home(first: $n) { total } }", {"n": 1e999}, 1 + DEFAULT_ENTRIES),
        ("query($n: Int) { home(first: $n) { total } }", {"n": "4"}, 1 + DEFAULT_ENTRIES),
        ("query($n: Int) { home(first: $n) { total } }", {"n": True}, 1 + DEFAULT_ENTRIES),
        ("query($n: Int) { home(first: $n) { total } }", {}, 1 + DEFAULT_ENTRIES),
        ("query($n: Int = 6) { home(first: $n) { total } }", {}, 1 + 6),
        ("query($n: Int = 6) { home(first: $n) { total } }", {"n": 2}, 1 + 2),
        ("query($n: Int) { popular(first: $n) { total } }", {}, 1 + 10),
        ("{ home(first: -3) { total } }", {}, 1 + 1),
        ("{ home(first: 3) { edges { node { ... on User { followers(first: 4) { total } } } } } }", {}, 1 + 3 * 7),
        ("{ user { friends { id } } }", {}, 1 + 1 + UNSIZED_ENTRIES),
        ("{ tags(first: 50) }", {}, 1),
        ('{ nodes(ids: ["1", "2", "3"]) { id } }', {}, 1 + 3),
        ('{ nodes(ids: "1") { id } }', {}, 1 + 1),
        ("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ["1", "2"]}, 1 + 2),
        ('mutation { follow(input: {userIds: ["1", "2"]}) { users { id } } }', {}, 1 + 2 * 2),
        (
            "mutation($i: UsersInput!) { follow(input: $i) { users { id } } }",
            {"i": {"userIds": ["1", "2", "3"]}},
            1 + 3 * 2,
        ),
        ("mutation($i: UsersInput!) { follow(input: $i) { users { id } } }", {"i": 7}, 1 + 2),
        ("query($u: [ID!]!) { nodes(ids: $u) { id } }", {"u": None}, 1 + 1),
        ("{ __schema { types { name } } user { id } }", {}, 3),
    ],
)
def test_cost_counts_fields_times_the_entries_asked_for(query: str, variables: dict[str, Any], expected: int) -> None:
    """A query costs one per field, times what `first`, `last` or a list of ids asks of the lists above."""
    assert cost(query, variables) == expected


def test_cost_of_fragments() -> None:
    """A fragment costs as much as if its fields stood where it is spread, each time it is spread."""
    plain = "query($n: Int) { home(first: $n) { total nodes { ... on User { id followers(first: $n) { total } } } } }"
    spread = """
      query($n: Int) { home(first: $n) { total ...Nodes } }
      fragment Nodes on Items { nodes { ... on User { ...One } } }
      fragment One on User { id followers(first: $n) { total } }
    """
    assert cost(spread, {"n": 7}) == cost(plain, {"n": 7}) == 1 + 7 * (1 + 1 + 1 + 1 + 7)


def test_defaults_belong_to_their_operation() -> None:
    """Two operations that share a fragment are priced each with its own default of the variable."""
    document = cache().get("""
      query A($n: Int = 2) { ...Home } query B($n: Int = 3) { ...Home }
      fragment Home on Query { home(first: $n) { total } }
    """)
    assert {name: price.total({}) for name, price in document.costs.items()} == {"A": 1 + 2, "B": 1 + 3}


def test_cost_leaves_larger_pages_to_their_fields() -> None:
    """More entries or ids than a field takes cost no more than the maximum: the field itself refuses them."""
    assert cost("{ home(first: 1000000) { total } }", max_page=100) == 1 + 100
    assert cost("query($u: [ID!]!) { nodes(ids: $u) { id } }", {"u": ["1"] * 500}, max_ids=50) == 1 + 50


def test_cost_is_refused_with_the_variables_of_the_request() -> None:
    """The same document passes with a small page and is refused with a large one."""
    documents_ = cache(max_cost=50)
    price = documents_.get("query($n: Int) { home(first: $n) { total } }").costs[None]
    assert documents_.limits.refuse_cost(price, {"n": 49}) is None
    refused = documents_.limits.refuse_cost(price, {"n": 50})
    assert isinstance(refused, QueryTooComplex)
    assert refused.message == "The query costs 51, more than 50"


def test_cost_of_fragments_spread_exponentially() -> None:
    """A hundred fragments that each spread the next one twice are priced at once, and far too high."""
    chain = " ".join(
        f"fragment F{n} on User {{ ...F{n + 1} ...F{n + 1} followers(first: $n) {{ total }} }}" for n in range(60)
    )
    query = f"query($n: Int) {{ user {{ ...F0 }} }} {chain} fragment F60 on User {{ id }}"
    document = cache().get(query)
    started = time.perf_counter()
    assert document.costs[None].total({"n": 1}) > 2**60
    assert time.perf_counter() - started < 1


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
    """As deep as the deepest operation's fields stand inside one another, wherever fragments hold them."""
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
    """An alias counts, and a field that stands again in the same place; the same name on two types does not."""
    assert code(query, max_aliases=count) is None
    if count:
        assert code(query, max_aliases=count - 1) == "QUERY_TOO_COMPLEX"


def test_tokens_are_counted() -> None:
    """A query of more tokens than allowed is refused, of just as many it is not."""
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
def test_nesting_that_no_parser_stands_is_refused(query: str) -> None:
    """Nesting without end is refused as too complex."""
    assert code(query) == "QUERY_TOO_COMPLEX"


def test_cycles_of_fragments_are_a_validation_error() -> None:
    """Fragments that spread each other are refused by validation, not followed."""
    query = "{ user { ...A } } fragment A on User { ...B } fragment B on User { ...A }"
    assert code(query) == "GRAPHQL_VALIDATION_FAILED"


def test_parse_and_validation_failures_have_their_codes() -> None:
    """What is no GraphQL, and what does not fit the schema, are told apart by code."""
    assert code("{ user(") == "GRAPHQL_PARSE_FAILED"
    assert code("{ nothing }") == "GRAPHQL_VALIDATION_FAILED"
    assert code("{ user(login: 7) { id } }") == "GRAPHQL_VALIDATION_FAILED"


@pytest.mark.parametrize("type_depth", [7, 9, 12])
def test_introspection_passes(type_depth: int) -> None:
    """What GraphiQL and code generators ask of the schema passes even a strict limit on depth and cost."""
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
    """The schema may be asked for twice in one document, and not three times, fragments or not."""
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


def test_documents_are_read_once() -> None:
    """The same text gives the very same document, with the names of its fields."""
    documents_ = cache()
    document = documents_.get("{ user { ...F } } fragment F on User { id name }")
    assert documents_.get("{ user { ...F } } fragment F on User { id name }") is document
    assert document.fields == {"user", "id", "name"}


def test_documents_longest_unused_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more documents than are kept, the one asked for longest ago makes room."""
    monkeypatch.setattr(documents, "DOCUMENTS_KEPT", 2)
    documents_ = cache()
    first, second = documents_.get("{ user { id } }"), documents_.get("{ user { name } }")
    assert documents_.get("{ user { id } }") is first
    documents_.get("{ home { total } }")
    assert len(documents_) == 2
    assert documents_.get("{ user { id } }") is first
    assert documents_.get("{ user { name } }") is not second


def test_documents_are_bounded_by_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts push out short ones, and a text longer than all that is kept is not kept at all."""
    monkeypatch.setattr(documents, "CHARACTERS_KEPT", 40)
    documents_ = cache()
    short = "{ user { id } }"
    document = documents_.get(short)
    documents_.get(short + " " * 20)
    assert documents_.get(short) is not document
    documents_.get(short + " " * 100)
    assert documents_.get(short + " " * 100) is not documents_.get(short + " " * 100)
    assert len(documents_) == 1


def test_documents_belong_to_one_schema() -> None:
    """A text that one schema knows means nothing to another."""
    other: GraphQLSchema = build_schema("type Query { user: String }")
    assert not cache().get("{ user { id } }").errors
    assert DocumentCache(other, Settings()).get("{ user { id } }").errors


def test_failures_are_kept_without_the_frames_they_passed() -> None:
    """An error that is kept keeps no stack alive."""
    assert cache().get("{").errors[0].__traceback__ is None


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
    """Documents made to keep validation busy are dealt with in well under a second."""
    documents_ = cache()
    started = time.perf_counter()
    documents_.get(query)
    assert time.perf_counter() - started < 1
