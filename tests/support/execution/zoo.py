"""A small schema with one of each feature that a plan must run, or leave to graphql-core."""

import asyncio
import json
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

import strawberry
from strawberry.schema.config import StrawberryConfig
from strawberry.types.execution import ExecutionResult

from schema.execution.operations import Schema
from schema.types.fields import argument, batched, is_a
from store.settings import Settings


@dataclass(slots=True)
class Context:
    """The smallest context of an operation."""

    calls: int = 0  # of resolvers that count their calls
    running: int = 0
    both_run: asyncio.Event = field(default_factory=asyncio.Event)
    claims: None = None
    fields: frozenset[str] | None = None
    selection: object | None = None
    relationships: None = None
    fatal: None = None
    request_id: str = "request"

    async def close(self) -> None:
        """Do nothing: there is no session check."""


@strawberry.enum
class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Beast:
    number: Any
    weight: Any = 1.5
    colour: Any = Colour.RED
    tags: Any = ("a", "b")
    grid: Any = ((1, 2), (), (3,))
    maybes: Any = ("x", None)
    friends: Any = ()


class Bird(Beast):
    """A beast whose class makes it another type."""


@dataclass(frozen=True)
class Rock:
    mass: int


@strawberry.input
class Wish:
    at_least: int = 0
    colour: Colour | None = None


def _keeper(context: Any, roots: Sequence[Beast], prefix: str = "keeper") -> list[Any]:
    context.calls += 1
    return [ValueError("nobody keeps 13") if root.number == 13 else f"{prefix} {root.number}" for root in roots]


async def _late_keeper(context: Any, roots: Sequence[Beast]) -> list[Any]:
    await asyncio.sleep(0)
    return _keeper(context, roots)


async def _late(root: Beast) -> int:
    for _ in range(root.number % 3):
        await asyncio.sleep(0)
    if root.number == 13:
        raise ValueError("late is unlucky")
    return int(root.number)


def _sometimes_late(root: Beast) -> int | Awaitable[int]:
    return _late(root) if root.number % 2 else root.number


def _unlucky(root: Beast) -> int:
    if root.number == 13:
        raise ValueError("unlucky")
    return int(root.number)


def _name(root: Beast) -> str:
    return f"number {root.number}"


def _place(info: strawberry.Info) -> str:
    return str(info.path.as_list())


def _double(root: Beast, times: int = 2, wish: Wish | None = None) -> int | None:
    return root.number * times if wish is None or root.number >= wish.at_least else None


def _count(root: Beast) -> Iterator[int]:
    yield from range(3)


def _promises(root: Beast) -> list[Awaitable[int]]:
    return [_late(root), _late(root)]


@strawberry.interface
class Animal:
    number: int
    weight: float
    colour: Colour
    tags: list[str]
    grid: list[list[int]]
    maybes: list[str | None]
    keeper = batched(_keeper, str, "Who keeps it.", takes={"prefix": argument(str, "What they are.", default="keeper")})
    keeper_or_none = batched(_late_keeper, str | None, "Who keeps it, later.")
    late = strawberry.field(resolver=_late, graphql_type=int)
    late_or_none = strawberry.field(resolver=_late, graphql_type=int | None)
    sometimes_late = strawberry.field(resolver=_sometimes_late, graphql_type=int)
    unlucky = strawberry.field(resolver=_unlucky, graphql_type=int)
    unlucky_or_none = strawberry.field(resolver=_unlucky, graphql_type=int | None)
    name = strawberry.field(resolver=_name, graphql_type=str)
    place: str = strawberry.field(resolver=_place)
    double = strawberry.field(resolver=_double, graphql_type=int | None)
    count = strawberry.field(resolver=_count, graphql_type=list[int])
    promises = strawberry.field(resolver=_promises, graphql_type=list[int])


@strawberry.type
class Cat(Animal):
    friends: list[Animal]
    is_type_of = is_a(Beast)


@strawberry.type
class Owl(Animal):
    friends: list[Animal | None]
    is_type_of = is_a(Bird)


@strawberry.type
class Stone:
    """A type whose predicate is called for every value."""

    mass: int

    @classmethod
    def is_type_of(cls, value: Any, _: Any) -> bool:
        return isinstance(value, Rock)


Exhibit = Annotated[Cat | Owl | Stone, strawberry.union("Exhibit")]
LUCKY = [Beast(1, friends=[Bird(2, friends=[None, Beast(3)])]), Bird(4, weight=2), Beast(5, friends=[Beast(6)])]
ANIMALS: dict[str, list[Any]] = {
    "lucky": LUCKY,
    "unlucky": [Beast(1), Beast(13), Beast(3)],
    "thirteen": [Bird(13)],
    "broken": [Beast(1), Beast(2**31)],
    "deep": [Beast(1, friends=[Beast(2, friends=[Bird(13)])])],
    "large": [Beast(2**31)],
    "text": [Beast("7")],
    "words": [Beast("seven")],
    "infinite": [Beast(1, weight=float("inf"))],
    "colourless": [Beast(1, colour="green")],
    "untagged": [Beast(1, tags=None)],
    "string": [Beast(1, tags="ab")],
    "set": [Beast(1, tags={"a"}, grid=[range(2)])],
    "friendless": [Beast(1, friends=[None])],
    "stranger": [object()],
    "none": [],
}


@strawberry.type
class Query:
    @strawberry.field
    def animals(self, name: str = "lucky") -> list[Animal]:
        return ANIMALS[name]

    @strawberry.field
    async def animals_or_none(self, name: str = "lucky") -> list[Animal | None] | None:
        await asyncio.sleep(0)
        return ANIMALS[name]

    @strawberry.field
    def exhibits(self) -> list[Exhibit]:
        return [Rock(3), *LUCKY, Rock(4)]  # type: ignore[list-item]

    @strawberry.field
    async def forever(self, info: strawberry.Info) -> int:
        info.context.running += 1
        if info.context.running > 1:
            info.context.both_run.set()
        try:
            return int(await asyncio.get_running_loop().create_future())
        finally:
            info.context.running -= 1


def _done(info: strawberry.Info, name: str) -> Any:
    info.context.calls += 1
    if name == "refused":
        raise ValueError("not so")
    return ANIMALS[name][0]


@strawberry.type
class Mutation:
    @strawberry.mutation
    def act(self, info: strawberry.Info, name: str = "lucky") -> Animal:
        return _done(info, name)  # type: ignore[no-any-return]

    @strawberry.mutation
    async def act_later(self, info: strawberry.Info, name: str = "lucky") -> Animal | None:
        await asyncio.sleep(0)
        return _done(info, name)  # type: ignore[no-any-return]


def zoo(*, fast: bool) -> Schema:
    """Return the schema, run by plans or by graphql-core."""
    return Schema(
        settings=Settings(fast_execution=fast, max_aliases=100),
        query=Query,
        mutation=Mutation,
        types=[Cat, Owl],
        config=StrawberryConfig(),
    )


def answer(result: ExecutionResult) -> tuple[str, list[Any]]:
    """Return everything of a result that a client sees, in the order of its keys."""
    errors = [
        (
            error.message,
            error.path,
            [tuple(place) for place in error.locations or ()],
            (error.extensions or {}).get("code"),
        )
        for error in result.errors or ()
    ]
    return json.dumps(result.data), errors


FAST, SLOW = zoo(fast=True), zoo(fast=False)


async def differ(query: str, **variables: Any) -> int:
    """Assert that an operation has the same answer either way; returns how many runs fell back from a plan."""
    assert FAST.planner
    assert SLOW.planner is None
    given_up = FAST.planner.given_up
    fast = await FAST.execute(query, variables, Context())
    slow = await SLOW.execute(query, variables, Context())
    assert answer(fast) == answer(slow)
    # graphql-core leaves tasks behind whose results it no longer needs.
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
    return FAST.planner.given_up - given_up
