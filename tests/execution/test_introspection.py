"""Introspection: its answers are graphql-core's, and no document makes it expensive."""

import json
import re
from typing import Any

import pytest
from graphql import (
    FragmentDefinitionNode,
    GraphQLSchema,
    OperationDefinitionNode,
    build_schema,
    get_introspection_query,
    graphql_sync,
    parse,
)
from strawberry.types import ExecutionResult

import schema as perch
from resolvers.process.errors import QueryTooComplex
from schema.execution.encoding import encode
from schema.execution.introspection import Introspection
from schema.execution.introspection.evaluation import Evaluation
from store.settings import Settings
from tests.support.transport import clients
from tests.support.transport.clients import EVENT_STREAM, Client, Connect, post
from tests.support.transport.small import PlainContext, PlainServices

services, connect, client = clients.services, clients.connect, clients.client

STANDARD = get_introspection_query(
    specified_by_url=True,
    directive_is_repeatable=True,
    schema_description=True,
    input_value_deprecation=True,
    one_of=True,
)
TOO_MUCH = re.compile("more than twice (what|that to) the standard query|fields of types of fields of types")
PERCH = perch.build(Settings())


def aliases(body: str, count: int = 20) -> str:
    return "{" + " ".join(f"a{place}: __schema {{ {body} }}" for place in range(count)) + "}"


EXPENSIVE = {
    "types of fields": aliases("types { fields { type { name kind } } }"),
    "fields of types of fields": aliases("types { fields { type { ofType { fields { name description } } } } }"),
    "possible types": aliases("types { possibleTypes { fields { name description args { name description } } } }"),
    "interfaces of possible types": aliases(
        "types { possibleTypes { interfaces { name description ofType { name } } } }", 29
    ),
    "inputs": aliases("types { inputFields { defaultValue description type { name ofType { name } } } }", 29),
    "arguments": aliases("types { fields { args { defaultValue description type { name ofType { name } } } } }", 29),
    "enums": aliases("types { enumValues(includeDeprecated: true) { name description isDeprecated } }", 29),
    "descriptions": aliases("types { description fields { description } }", 29),
    "one type": "{"
    + " ".join(f'a{place}: __type(name: "Mutation") {{ ...T }}' for place in range(29))
    + "} fragment T on __Type { fields { description args { type { ofType { inputFields { description } } } } } }",
}


async def answered(query: str, variables: dict[str, Any] | None = None) -> ExecutionResult:
    context = PlainContext(PlainServices(), None, "", "", "", socket=False)
    return await PERCH.execute(query, variable_values=variables, context_value=context)


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        (STANDARD, {}),
        (
            "{ __schema { queryType { name } } b: __schema { __typename types { name } directives { locations } } }",
            {},
        ),
        ("{ __schema { types { name } } ...A } fragment A on Query { __schema { types { kind } } }", {}),
        ('{ __type(name: "Nothing") { name } other: __type(name: "User") { fields { name type { isOneOf } } } }', {}),
        ("query($name: String!) { __typename __type(name: $name) { name kind ofType { name } } }", {"name": "Post"}),
        (
            'query($all: Boolean!) { __type(name: "Role") { enumValues(includeDeprecated: $all) { name } } }',
            {"all": True},
        ),
        (
            "query($no: Boolean!) { __schema { types @skip(if: $no) { name } queryType @include(if: $no) { name } } }",
            {"no": True},
        ),
        ("query($no: Boolean!) { __schema { types @skip(if: $no) { name } } }", {"no": True}),
    ],
)
async def test_answers_are_those_of_graphql_core(query: str, variables: dict[str, Any]) -> None:
    """Introspection has the same answer as from graphql-core, the first time and from the cache."""
    theirs = graphql_sync(PERCH._schema, query, variable_values=variables)  # noqa: SLF001  graphql-core's own
    assert not theirs.errors
    for _ in range(2):
        ours = await answered(query, variables)
        assert not ours.errors
        assert encode(ours.data) == encode(theirs.data)


@pytest.mark.parametrize("query", EXPENSIVE.values(), ids=EXPENSIVE)
async def test_expensive_introspection(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document reads no more fields of objects than it is priced at, and is answered in bounded size or refused."""
    cells, evaluate = [0], Evaluation._cells  # noqa: SLF001  what is counted

    def counting(self: Evaluation, kind: Any, details: Any, places: Any) -> Any:
        cells[0] += len(places)
        return evaluate(self, kind, details, places)

    monkeypatch.setattr(Evaluation, "_cells", counting)
    introspection = PERCH.documents.introspection
    node = parse(query)
    fragments = {one.name.value: one for one in node.definitions if isinstance(one, FragmentDefinitionNode)}
    operation = node.definitions[0]
    assert isinstance(operation, OperationDefinitionNode)
    price = introspection.pricing(fragments).price(operation.selection_set)
    result = await answered(query)
    assert cells[0] <= min(price, introspection.most)
    if result.errors:
        assert TOO_MUCH.search(result.errors[0].message)
    else:
        assert price <= introspection.most
        assert len(encode(result.data)) < introspection.most_bytes


def grown(types: int) -> GraphQLSchema:
    """Return a schema with so many types, of ten fields each."""
    fields = " ".join(f"f{place}(a: Int = {place}): Query" for place in range(10))
    return build_schema(
        f"type Query {{ id: ID {' '.join(f't{place}: T{place}' for place in range(types))} }}"
        + "".join(f"type T{place} {{ {fields} }}" for place in range(types))
    )


def test_a_grown_schema_prices_itself() -> None:
    """With ten times the types, the same document costs several times as much, and so does the standard query."""
    (operation,) = parse("{ __schema { types { name fields { args { name } } } } }").definitions
    assert isinstance(operation, OperationDefinitionNode)
    small, large = Introspection(grown(20)), Introspection(grown(200))
    prices = [one.pricing({}).price(operation.selection_set) for one in (small, large)]
    assert 7 < prices[1] / prices[0] < 10
    assert 3 < large.most / small.most < 10


async def test_answer_that_becomes_too_large() -> None:
    """An answer of more than twice the standard one is refused as a whole, whatever else the operation asks for."""
    for query in (EXPENSIVE["descriptions"], EXPENSIVE["descriptions"].replace("{", "{ __typename ", 1)):
        assert not PERCH.documents.get(query).errors
        result = await answered(query)
        assert result.data is None
        assert result.errors
        assert isinstance(result.errors[0], QueryTooComplex)
        assert result.errors[0].path is None


async def test_data_that_fails_makes_introspection_no_dearer(client: Client) -> None:
    """Where another field has an error, introspection is answered as without it."""
    status, answer = await post(client, "{ broken __schema { queryType { name } } }")
    assert status == 200
    assert answer["data"] == {"broken": None, "__schema": {"queryType": {"name": "Query"}}}
    assert [error["path"] for error in answer["errors"]] == [["broken"]]


async def test_wrong_argument(client: Client) -> None:
    """A variable that is null where introspection needs a value is the client's error."""
    query = 'query($all: Boolean = true) { __type(name: "Item") { fields(includeDeprecated: $all) { name } } }'
    status, answer = await post(client, query, variables={"all": None})
    assert (status, answer["data"]) == (200, {"__type": None})
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert answer["errors"][0]["path"] == ["__type"]


async def test_every_transport(client: Client, connect: Connect) -> None:
    """Introspection has the same answer over HTTP, as an event stream and on a websocket."""
    query = "{ __schema { queryType { name } } items(first: 1) { total } }"
    wanted = {"__schema": {"queryType": {"name": "Query"}}, "items": {"total": 3}}
    assert (await post(client, query))[1]["data"] == wanted
    async with client.post("/graphql", json={"query": query}, headers={"Accept": EVENT_STREAM}) as response:
        assert encode(wanted).decode() in await response.text()
    talk = await (await connect()).greet()
    assert encode(wanted).decode() in json.dumps(await talk.answer(query), separators=(",", ":"))
