"""The cost of a query: its fields, times the requested entries."""

import time
from typing import Any

import pytest

from resolvers.process.errors import QueryTooComplex
from schema.execution.costs import DEFAULT_ENTRIES, UNSIZED_ENTRIES
from tests.support.execution.documents import cache, cost


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
    """A query costs one per field, times the number that `first`, `last` or a list of ids requests above it."""
    assert cost(query, variables) == expected


def test_cost_of_fragments() -> None:
    """A fragment costs as much as its fields in its place, each time it is spread."""
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
    """More entries or ids than a field allows cost no more than the maximum: the field itself refuses them."""
    assert cost("{ home(first: 1000000) { total } }", max_page=100) == 1 + 100
    assert cost("query($u: [ID!]!) { nodes(ids: $u) { id } }", {"u": ["1"] * 500}, max_ids=50) == 1 + 50


def test_cost_is_refused_with_the_variables_of_the_request() -> None:
    """The same document passes with a small page and is refused with a large one."""
    documents_ = cache(max_cost=50)
    price = documents_.get("query($n: Int) { home(first: $n) { total } }").costs[None]
    assert documents_.limits.refuse_cost(price.total({"n": 49})) is None
    refused = documents_.limits.refuse_cost(price.total({"n": 50}))
    assert isinstance(refused, QueryTooComplex)
    assert refused.message == "The query costs 51, more than 50"


def test_cost_of_fragments_spread_exponentially() -> None:
    """Forty fragments that each spread the next one twice are priced at once, and far too high."""
    chain = " ".join(
        f"fragment F{n} on User {{ ...F{n + 1} ...F{n + 1} followers(first: $n) {{ total }} }}" for n in range(40)
    )
    query = f"query($n: Int) {{ user {{ ...F0 }} }} {chain} fragment F40 on User {{ id }}"
    document = cache(max_fields=2**99).get(query)
    started = time.perf_counter()
    assert document.costs[None].total({"n": 1}) > 2**40
    assert time.perf_counter() - started < 1
