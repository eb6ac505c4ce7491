"""Documents: read once, and forgotten in time."""

from __future__ import annotations

import pytest
from graphql import GraphQLSchema, build_schema

from schema import documents
from schema.documents import DocumentCache
from store.settings import Settings
from tests.documents import cache


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
