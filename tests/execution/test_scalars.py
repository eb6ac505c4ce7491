"""Every scalar of the schema, in every place: no value, however odd, causes a server error."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSchema,
    get_named_type,
    is_leaf_type,
)

import schema
from store.settings import Settings
from tests.support.people import Member
from tests.support.slow import few

DIGITS = "9" * 4_301  # one more than Python reads as an integer
TEXTS = (
    *('""', '"\\u0000"', f'"{DIGITS}"', '"1e5"', '"-1"', '"\\ud83d\\ude00"'),
    *('"9999-99-99T99:99:99Z"', '"0001-01-01T00:00:00+23:59"', '"9999-12-31T23:59:59-23:59"', '"2026-01-01"'),
)
NUMBERS = (DIGITS, f"-{DIGITS}", f"{DIGITS}.5", "0", "-0", "1.5", "1e5", "1e-400", "2147483648", "9007199254740993")
ODD = ("true", "null", "[]", "[[1]]", "{}", DIGITS, '"1"')  # sent to every type
LITERALS = (*ODD, "RED", "{a: 1}", "1e999999", "-1e999999", '"""\n  x\n"""', '"\U0001f600"')
JSON = (*ODD, "1e400", "NaN", "Infinity", "-Infinity", '"\\ud800"')
FILLERS = {
    "Int": "1",
    "Float": "1.5",
    "Boolean": "true",
    "String": '"text"',
    "ID": '"1"',
    "DateTime": '"2026-01-01T00:00:00Z"',
}
NESTED = {
    "User": '{ user(login: "alice") { %s } }',
    "Viewer": "{ viewer { %s } }",
    "Post": "{ publicTimeline { nodes { ... on Post { %s } } } }",
    "Hashtag": '{ hashtag(name: "tag") { %s } }',
}
PARTS = 8  # Each has every eighth place. Parts 4 and 7 together have every scalar, and enums alone and in lists.
ROOTS = ("query", "mutation", "subscription")


class Place(NamedTuple):
    """An argument or input field that takes a scalar, and the document around its value."""

    name: str
    kind: str  # as a variable is declared
    operation: str
    around: str  # a format with one field, the value


def _filler(kind: Any) -> str:
    named = kind.of_type if isinstance(kind, GraphQLNonNull) else kind
    if isinstance(named, GraphQLList):
        return f"[{_filler(named.of_type)}]"
    if isinstance(named, GraphQLEnumType):
        return str(next(iter(named.values)))
    if isinstance(named, GraphQLInputObjectType):
        return _object(named, "", "")
    return FILLERS[named.name]


def _object(kind: GraphQLInputObjectType, chosen: str, value: str) -> str:
    fields = {name: _filler(one.type) for name, one in kind.fields.items() if isinstance(one.type, GraphQLNonNull)}
    if chosen:
        fields[chosen] = value
    return "{" + ", ".join(f"{name}: {text}" for name, text in fields.items()) + "}"


def _values(kind: Any, depth: int = 3) -> Iterator[tuple[str, str, str]]:
    """Yield the path to each scalar within an input type, its type, and a literal with %s in its place."""
    named = get_named_type(kind)
    if is_leaf_type(named):
        yield "", str(kind), "%s"
    elif depth and isinstance(named, GraphQLInputObjectType):
        for name, field in named.fields.items():
            for path, inner, text in _values(field.type, depth - 1):
                yield f".{name}{path}", inner, _object(named, name, text)


def places(of: GraphQLSchema) -> Iterator[Place]:
    """Yield every place of the schema that takes a scalar, below the roots and below what `NESTED` reaches."""
    for operation in ROOTS:
        yield from _arguments(getattr(of, f"{operation}_type"), operation, "{ %s }")
    for name, around in NESTED.items():
        yield from _arguments(of.type_map[name], "query", around)
    yield Place("@include", "Boolean!", "query", "{ __typename @include(if: %s) }")


def _arguments(parent: Any, operation: str, around: str) -> Iterator[Place]:
    for name, field in parent.fields.items():
        below = "" if is_leaf_type(get_named_type(field.type)) else " { __typename }"
        for argument, one in field.args.items():
            required = [
                f"{other}: {_filler(its.type)}"
                for other, its in field.args.items()
                if other != argument and isinstance(its.type, GraphQLNonNull)
            ]
            for path, kind, text in _values(one.type):
                given = ", ".join([f"{argument}: {text}", *required])
                yield Place(f"{name}({argument}{path})", kind, operation, around % f"{name}({given}){below}")


def bodies(place: Place) -> Iterator[str]:
    """Yield the bodies of requests with each odd value as a literal, as a default and as a variable."""
    head = f"{place.operation}($v: {place.kind}"
    query = json.dumps(f"{head}) {place.around % '$v'}")
    named = place.kind.strip("[]!")
    fitting = (*(NUMBERS if named in {"Int", "Float", "ID"} else ()), *(TEXTS if named not in {"Int", "Float"} else ()))
    for literal in dict.fromkeys((*LITERALS, *fitting)):
        yield json.dumps({"query": f"{place.operation} {place.around % literal}"})
    for literal in (DIGITS, f"[{DIGITS}]", "1e999999", "null", fitting[0]):
        yield json.dumps({"query": f"{head} = {literal}) {place.around % '$v'}"})
    for value in dict.fromkeys((*JSON, *fitting)):
        yield f'{{"query": {query}, "variables": {{"v": {value}}}}}'


ALL = list(places(schema.build(Settings())._schema))  # noqa: SLF001  graphql-core's own


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Low costs and no limits."""
    return replace(settings, sign_ups_per_hour=10**6, log_in_attempts=10**6, log_in_attempts_per_address=10**6)


@pytest.mark.parametrize("part", few(range(PARTS), 4, 7))
async def test_no_value_is_the_servers_fault(alice: Member, part: int) -> None:
    """Literals, defaults and variables of every scalar are answered without an internal error and a status of 500."""
    await alice.post("a #tag", idempotencyKey="once")
    for place in ALL[part::PARTS]:
        who = alice if not place.name.startswith("logOut") else Member(alice.client)
        token = {"Authorization": f"Bearer {who.token}"} if who.token else {}
        # If a stream is not accepted, a subscription is parsed, prepared and refused, and does not begin.
        headers = {"Content-Type": "application/json", "Accept": "application/json", **token}
        for body in bodies(place):
            async with who.client.post("/graphql", data=body.encode(), headers=headers) as response:
                text = await response.text()
                assert response.status < 500, (place.name, body[:200], text[:300])
                assert "INTERNAL" not in text, (place.name, body[:200], text[:300])
