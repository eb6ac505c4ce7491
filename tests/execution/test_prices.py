"""The prices of fields are in step with the processor time that `benchmarks.costs` has measured."""

import json

import pytest

import schema
from benchmarks import costs
from schema.execution.costs import LOOKUP_PRICES, PAGE_PRICE, Prices
from store.settings import Settings

MOST, LEAST = 1.7, 0.25  # µs for a unit of the price, on the machine that has measured
PERCH = schema.build(Settings())
PRICES = Prices(PERCH._schema, 100, 100)  # noqa: SLF001  graphql-core's own
FOUND: dict[str, float] = json.loads(costs.MEASURED.read_text())


def test_every_field_is_measured() -> None:
    """A new field of a type that comes in lists has to be measured, and a removed one leaves the file."""
    assert set(FOUND) == {f"{kind}.{name}" for kind, name, _ in costs.measurable(PRICES.schema)}


@pytest.mark.parametrize("name", FOUND)
def test_prices_are_what_was_measured(name: str) -> None:
    """No field takes much more for its price than the others, and no page takes much less."""
    price = costs.price(PRICES, name)
    assert FOUND[name] <= MOST * price
    assert price != PAGE_PRICE or FOUND[name] >= LEAST * price


def test_prices_name_fields() -> None:
    """Every field with a price of its own is in the schema, and the file has pages of each size of list."""
    names = {name for kind in PERCH._schema.type_map.values() for name in getattr(kind, "fields", ())}  # noqa: SLF001
    assert set(LOOKUP_PRICES) <= names
    assert [name for name in FOUND if costs.price(PRICES, name) == PAGE_PRICE]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("{ publicTimeline(first: 100) { nodes { ... on Post { likedBy(first: 1) { nodes { login } } } } } }", 7_500),
        ("{ publicTimeline(first: 100) { nodes { ... on Post { viewerHasLiked } } } }", 400),
    ],
)
def test_lists_in_lists_cost_a_page_each(query: str, expected: int) -> None:
    """A page within a list is priced for each entry of the list, however few entries the page itself has."""
    document = PERCH.documents.get(query)
    assert expected < document.costs[None].total({}) < 1.1 * expected + 2 * PAGE_PRICE + 200


def test_types_exclude_each_other() -> None:
    """An object has one type, so fragments on several types cost what the dearest one does."""
    parts = [
        "... on Status { text likeCount }",
        "... on Repost { likeCount viewerHasLiked }",
        "... on Promotion { id }",
    ]
    query = "query($n: Int) { publicTimeline(first: $n) { nodes { __typename %s } } }"
    alone = [PERCH.documents.get(query % part).costs[None].total({"n": 10}) for part in parts]
    together = PERCH.documents.get(query % " ".join(parts)).costs[None].total({"n": 10})
    assert together == max(alone) > min(alone)
    nested = f"... on Post {{ author {{ timeline(first: $n) {{ nodes {{ __typename {' '.join(parts)} }} }} }} }}"
    assert PERCH.documents.get(query % nested).costs[None].total({"n": 10}) > 10 * together


def test_anonymous_requests_have_less() -> None:
    """An anonymous request may cost less than a member's, and the refusal says so."""
    limits = PERCH.documents.limits
    settings = Settings()
    assert limits.refuse_cost(settings.max_cost) is None
    refused = limits.refuse_cost(settings.max_anonymous_cost + 1, is_anonymous=True)
    assert refused
    assert refused.message == "The query costs 20001, more than 20000 without a session"
    assert refused.limit == "max_anonymous_cost"
