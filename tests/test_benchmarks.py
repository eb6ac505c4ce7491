"""The benchmarks ask what the schema answers, and ask the same in every run."""

from __future__ import annotations

import pytest

import schema
from benchmarks.versus import graph, queries
from store.settings import Settings

DEEPEST = 2  # authors within authors


@pytest.mark.parametrize(
    "document", [queries.HOME, queries.PROFILE, queries.POST, queries.LIKE, queries.nested("", DEEPEST).document]
)
def test_documents_are_valid(document: str) -> None:
    """Every document that contenders are sent is valid in Perch's schema and within its limits."""
    assert schema.build(Settings()).documents.get(document).errors == ()


def test_network_is_repeated() -> None:
    """One seed gives one network, another seed another; nobody follows themselves."""
    made = graph.generated(100, 10, 1)
    assert made == graph.generated(100, 10, 1)
    assert made.following != graph.generated(100, 10, 2).following
    assert all(login not in followed for login, followed in made.following.items())
    assert list(made.dealt()) == list(graph.generated(100, 10, 1).dealt())


def test_popularity_is_unequal() -> None:
    """A tenth of the members has more than a third of the followers, as in real networks."""
    made = graph.generated(1_000, 0, 1)
    followed = [other for others in made.following.values() for other in others]
    popular = set(made.members[:100])
    assert sum(other in popular for other in followed) > len(followed) / 3


def test_wire_is_http() -> None:
    """A request is sent as GraphQL to those who speak it, and as a path to those who do not."""
    request = queries.profile("a.b.c", "alice")
    assert queries.wire(request, graphql=True)["head"].startswith("POST /graphql HTTP/1.1\r\n")
    sent = queries.wire(request, graphql=False)
    assert sent["head"].startswith("GET /users/alice?first=30 HTTP/1.1\r\n")
    assert sent["body"] == ""
