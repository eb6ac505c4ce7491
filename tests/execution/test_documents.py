"""Documents: parsed once, and dropped in time."""

import functools
import gc
import tracemalloc
import weakref
from typing import Any

import pytest
from graphql import GraphQLSchema, build_schema, get_introspection_query
from strawberry.execution import optimized_is_awaitable

import schema
from schema.execution.documents import Document, DocumentCache
from schema.execution.executor import PerEventExecutor
from schema.execution.operations import Schema
from schema.execution.plans import PlannedOperation
from schema.execution.plans.selection import Selection
from store.settings import Settings
from tests.support.execution.documents import cache

MIB = 1_048_576
USERS = " ".join(f"a{number}: user(login: $v{number}) {{ id name bio }}" for number in range(29))
NAMES = " ".join(f"$v{number}: String!" for number in range(29))
ZOO: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "tiny": ("{ __typename }", [{}]),
    "page": (
        "{ publicTimeline(first: 3) { edges { cursor node { ... on Post { id text author { login } } } } } }",
        [{}],
    ),
    "fragments": (
        "{"
        + " ".join(f"...F{number}" for number in range(90))
        + "}"
        + " ".join(f"fragment F{number} on Query {{ __typename }}" for number in range(90)),
        [{}],
    ),
    "aliases": ("{" + " ".join(f'a{number}: user(login: "x") {{ id name bio }}' for number in range(29)) + "}", [{}]),
    "variables": (
        f"query({NAMES}) {{ {USERS} }}",
        [{f"v{number}": f"{'é' * 150}{turn}.{number}" for number in range(29)} for turn in range(16)],
    ),
    "literals": ("{ nodes(ids: [" + "1 " * 900 + "]) { id } }", [{}]),
    "operations": (" ".join(f"query Q{number} {{ __typename }}" for number in range(190)), []),
    "comments": ("#\n" * 900 + "{ __typename }", [{}]),
    "long": ('{ user(login: "' + "\U0001f600" * 16_000 + '") { id } }', [{}]),
    "names": ("{ user(login: 1) { id " + "x" * 12_000 + " } }", []),
    "nothing": ("{ nothing }", []),
    "introspection": (get_introspection_query(), [{}]),
}


@functools.cache
def zoo_schema() -> Schema:
    """Return the project's schema."""
    return schema.build(Settings())


def plan(of: Schema, document: Document, variables: dict[str, Any]) -> Selection | None:
    """Return the plan of a document, as it is made when the document is first executed."""
    prepared = document.prepared(None, variables)
    assert prepared
    assert not isinstance(prepared.variables, list)

    def build() -> Any:
        assert document.node
        is_awaitable: Any = optimized_is_awaitable
        return PerEventExecutor.build(
            of._schema,  # noqa: SLF001  graphql-core's own
            document.node,
            None,
            None,
            variables,
            None,
            is_awaitable=is_awaitable,
        )

    asked = PlannedOperation(prepared.operation, prepared.variables, None, None, build)
    return document.plans.get(asked)


def test_documents_are_read_once() -> None:
    """The same text gives the very same document, with the names of its fields."""
    documents_ = cache()
    document = documents_.get("{ user { ...F } } fragment F on User { id name }")
    assert documents_.get("{ user { ...F } } fragment F on User { id name }") is document
    assert document.fields == {"user", "id", "name"}


def test_documents_longest_unused_are_dropped() -> None:
    """Documents that together exceed the memory setting are dropped, least recently used first."""
    documents = cache(documents_kept_mib=1)
    first, second = documents.get("{ user { id } }"), documents.get("{ user { name } }")
    for number in range(300):  # some 10 KB each
        documents.get(f"query Q{number} {{ user {{ id name }} }}")
        assert documents.find("{ user { id } }") is first
        assert documents.size <= MIB
    assert len(documents) < 300
    assert documents.get("{ user { id } }") is first
    assert documents.get("{ user { name } }") is not second


def test_refused_documents_keep_no_nodes() -> None:
    """Only the errors of a refused text are cached."""
    for text in ("{", "{ nothing }", "{ user { " + "id " * 100 + "} }", "{ user { id } }" + " " * 20_000):
        document = cache().get(text)
        assert document.errors
        assert document.node is None


@pytest.mark.parametrize("name", ZOO)
def test_documents_take_no_more_than_estimated(name: str) -> None:
    """A document, its plan and its variables take at most the estimated memory, and at least a sixth of it."""
    of = zoo_schema()
    for text in (ZOO[name][0], ZOO[name][0] + " "):  # the first execution also looks up parts of the schema
        cache = DocumentCache(of._schema, Settings())  # noqa: SLF001  graphql-core's own
        cache.introspection.prepare()  # which belongs to the schema
        gc.collect()
        tracemalloc.start()
        try:
            document = cache.get(text)
            for variables in ZOO[name][1]:
                plan(of, document, variables)
            gc.collect()
            taken, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert cache.size / 6 < taken <= cache.size, (taken, cache.size)


def test_dropped_documents_are_freed_at_once() -> None:
    """A dropped document is freed with its plans, without the garbage collector."""
    of = zoo_schema()
    cache = DocumentCache(of._schema, Settings())  # noqa: SLF001  graphql-core's own
    text, variables = ZOO["aliases"]
    document = cache.get(text)
    plan(of, document, variables[0])
    gc.collect()  # graphql-core's executor, which refers to itself
    gc.disable()
    try:
        left = [weakref.ref(one) for one in (document.node, *document.operations, plan(of, document, variables[0]))]
        del document
        cache.forget()
        assert cache.size == 0
        assert [one() for one in left] == [None] * len(left)
    finally:
        gc.enable()


def test_documents_belong_to_one_schema() -> None:
    """A text parsed for one schema is not cached for another."""
    other: GraphQLSchema = build_schema("type Query { user: String }")
    assert not cache().get("{ user { id } }").errors
    assert DocumentCache(other, Settings()).get("{ user { id } }").errors


def test_failures_are_kept_without_the_frames_they_passed() -> None:
    """A cached error keeps no stack alive."""
    assert cache().get("{").errors[0].__traceback__ is None
