"""Plans answer like graphql-core, and leave unusual cases to graphql-core."""

import asyncio
from typing import Any

import pytest

from schema.execution.plans import PLANS_KEPT
from tests.support.execution.zoo import FAST, SLOW, Context, answer, differ


async def by_plan(query: str, **variables: Any) -> None:
    """Assert that an operation runs by plan to its end, and is answered equally."""
    assert FAST.planner
    runs = FAST.planner.runs
    assert await differ(query, **variables) == 0
    assert FAST.planner.runs == runs + 1


LEAVES = "number weight colour tags grid maybes"
QUERIES = [
    f"{{ animals {{ {LEAVES} __typename }} }}",
    '{ animals(name: "none") { number keeper } }',
    '{ animals(name: "text") { number } }',  # serialised, not native
    "{ a: animals { b: number c: number number keeper late } animals { number } }",
    "{ animals { late keeperOrNone sometimesLate unlucky double place } }",
    (
        "{ animals { ... on Cat { friends { number ... on Owl { friends { place late number } } } } "
        '... on Owl { others: friends { number keeper(prefix: "of") } } } }'
    ),
    (
        "query { animals { ...A ...B } } fragment A on Animal { number ... on Cat { friends { number } } } "
        "fragment B on Cat { friends { late number } number }"
    ),
    "{ animals { number } animals { ...on Animal { late } } }",
    "{ exhibits { __typename ... on Stone { mass } ... on Animal { number keeper } } }",
    "{ animals { number @skip(if: true) late @include(if: false) weight @include(if: true) } }",
    "{ animals { double(times: 5) x: double(wish: {atLeast: 4, colour: RED}) y: double(wish: null) } }",
    "{ animalsOrNone { late ... on Cat { friends { late ... on Owl { friends { late unlucky } } } } } }",
]


@pytest.mark.parametrize("query", QUERIES)
async def test_usual(query: str) -> None:
    """A selection of any shape runs by plan and is answered as by graphql-core."""
    await by_plan(query)


UNUSUAL = [
    *(
        f'{{ {root}(name: "{name}") {{ {field} }} }}'
        for root in ("animals", "animalsOrNone")
        for name, field in (
            ("unlucky", "number unlucky"),
            ("unlucky", "late number"),
            ("unlucky", "keeper"),
            ("unlucky", "late keeperOrNone unlucky"),
            ("unlucky", "lateOrNone unluckyOrNone keeperOrNone"),
            ("unlucky", "late keeper unlucky sometimesLate keeperOrNone"),
            ("deep", "number ... on Cat { friends { number ... on Cat { friends { late number } } } }"),
            ("deep", "number ... on Cat { friends { number ... on Cat { friends { unluckyOrNone } } } }"),
            ("large", "number"),
            ("words", "number"),
            ("infinite", "weight"),
            ("colourless", "colour"),
            ("untagged", "tags"),
            ("string", "tags"),
            ("set", "tags"),
            ("set", "grid"),
            ("friendless", "... on Cat { friends { number } }"),
            ("stranger", "number"),
            ("lucky", "count"),
            ("lucky", "promises late"),
            ("unlucky", "promises"),
        )
    ),
    '{ animals(name: "broken") { name number } }',
    '{ animals(name: "nobody") { number } }',
    "query($name: String!) { animals(name: $name) { number } }",
]


@pytest.mark.parametrize("query", UNUSUAL)
async def test_unusual(query: str) -> None:
    """A field that raises, is null, has a wrong type or an unusual form makes the plan give up for graphql-core."""
    assert await differ(query, name="nobody") == 1


@pytest.mark.parametrize(
    "query", ["{ __schema { types { name } } }", '{ __type(name: "Cat") { name } animals { late } }']
)
async def test_introspection(query: str) -> None:
    """Introspection is not begun by plan."""
    assert FAST.planner
    runs = FAST.planner.runs
    await differ(query)
    assert FAST.planner.runs == runs


@pytest.mark.parametrize("field", ["act", "actLater"])
@pytest.mark.parametrize(
    ("arguments", "payload", "unusual"),
    [
        ("", "number late tags", 0),
        ('(name: "thirteen")', "number unlucky", 1),
        ('(name: "thirteen")', "number late", 1),
        ('(name: "refused")', "number", 1),
        ("(name: $name)", "number", 0),
        ("(name: $name)", "number @skip(if: $skip) late @include(if: $skip)", 0),
    ],
)
async def test_a_mutation_runs_once(field: str, arguments: str, payload: str, unusual: int) -> None:
    """A mutation runs by plan; if it or its payload fails, graphql-core answers so, and does nothing again."""
    kinds = {"$name": "String!", "$skip": "Boolean!"}
    used = ", ".join(f"{name}: {kind}" for name, kind in kinds.items() if name in arguments + payload)
    query = f"mutation {f'({used})' if used else ''} {{ {field}{arguments} {{ {payload} }} }}"
    contexts, answers = [Context(), Context()], []
    assert FAST.planner
    given_up = FAST.planner.given_up
    for schema, context in zip((FAST, SLOW), contexts, strict=True):
        answers.append(answer(await schema.execute(query, {"name": "lucky", "skip": False}, context)))
    assert answers[0] == answers[1]
    assert [context.calls for context in contexts] == [1, 1]
    assert FAST.planner.given_up - given_up == unusual


async def test_several_mutations() -> None:
    """Several mutations of one operation are left to graphql-core, which runs them one after another."""
    assert FAST.planner
    runs, context = FAST.planner.runs, Context()
    result = await FAST.execute("mutation { act { number } again: actLater { number } }", context_value=context)
    assert not result.errors
    assert (FAST.planner.runs, context.calls) == (runs, 2)


@pytest.mark.parametrize("skip", [True, False])
async def test_switches_by_variables(skip: bool) -> None:
    """A document has a plan for each choice that @skip and @include make, and for each operation."""
    query = """
        query A($skip: Boolean!, $with: Boolean = true) {
          animals { number @skip(if: $skip) ... @include(if: $with) { late } ...F @include(if: $skip) } }
        fragment F on Animal { weight late }
    """
    for variables in ({}, {"with": False}, {"with": True}, {"with": None}):
        await differ(query, skip=skip, **variables)


async def test_switches_of_several_operations() -> None:
    """Each operation of a document uses its own switches, in any order of execution."""
    query = "query A { animals { number } } query B($skip: Boolean!) { animals { number late @skip(if: $skip) } }"
    for name, skip in (("A", None), ("B", True), ("B", False), ("B", True)):
        variables = {} if skip is None else {"skip": skip}
        answers = [await one.execute(query, variables, Context(), operation_name=name) for one in (FAST, SLOW)]
        assert answer(answers[0]) == answer(answers[1])


async def test_arguments_by_variables() -> None:
    """Variables, given, omitted or null, are evaluated as arguments in each run."""
    query = "query($times: Int! = 3, $wish: Wish) { animals { double(times: $times, wish: $wish) keeper } }"
    for variables in ({}, {"times": 4}, {"wish": {"atLeast": 2}}, {"wish": {"colour": "BLUE"}}, {"wish": None}):
        await by_plan(query, **variables)


async def test_plans_of_one_document_are_bounded() -> None:
    """Choices beyond the bound get new plans, and are still answered."""
    names = [f"v{i}" for i in range(PLANS_KEPT)]
    query = _switched(names)
    for chosen in [*names, names[0]]:
        await by_plan(query, **{name: name == chosen for name in names})
    plans = FAST.documents.get(query).plans
    assert len(plans) <= PLANS_KEPT


def _switched(names: list[str]) -> str:
    variables = " ".join(f"${name}: Boolean!" for name in names)
    fields = " ".join(f"{name}: number @skip(if: ${name})" for name in names)
    return f"query({variables}) {{ animals {{ {fields} late }} }}"


async def test_a_batched_resolver_is_called_once_a_level() -> None:
    """A field of all objects of a level, and of each type, is resolved by one call."""
    context = Context()
    result = await FAST.execute('{ animals(name: "deep") { keeper } animalsOrNone { keeper } }', context_value=context)
    assert not result.errors
    assert context.calls == 3  # cats and owls have selections of their own


async def test_cancellation() -> None:
    """A cancelled operation leaves nothing running."""
    context = Context()
    running = asyncio.create_task(FAST.execute("{ forever again: forever animals { late } }", context_value=context))
    async with asyncio.timeout(5):
        await context.both_run.wait()
    before = asyncio.all_tasks()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert context.running == 0
    assert len(before) > len(asyncio.all_tasks()) == 1
