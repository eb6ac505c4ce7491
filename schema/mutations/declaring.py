"""Declares a mutation: its input, its payload, and the resolver that acts."""

from collections.abc import Awaitable, Callable
from dataclasses import fields
from functools import partial
from typing import Annotated, Any, Concatenate, ParamSpec, cast, get_type_hints

import strawberry

from resolvers.operation import write_limits
from resolvers.operation.context import Context
from resolvers.operation.payloads import Payload
from resolvers.process.errors import Refused
from resolvers.reading import hydrate
from schema.types import payloads

P = ParamSpec("P")


def mutation(
    act: Callable[Concatenate[Context, P], Awaitable[Payload]],
    takes: Callable[P, object],
    description: str,
    *,
    optional: bool = False,
    suspended: bool = False,
    limited: bool = False,
) -> Any:
    """Declare a mutation with input type `takes`, resolved by `act`, which returns its payload.

    The fields of the input are the arguments of `act`. A refusal becomes `userErrors`. `suspended` allows the mutation
    to suspended members, which is right only where it concerns nothing but their own account. `limited` has the first
    round trip read what the viewer has written in this hour, for a mutation that writes to another partition.
    Raises TypeError where the payload is not described.
    """
    names = [field.name for field in fields(cast("type[Any]", takes))]
    run, (result, gives) = cast("Callable[..., Awaitable[Payload]]", act), _payload(act)

    async def resolve(info: strawberry.Info[Context, None], input: Any = None) -> Any:  # noqa: A002  the contract's name
        given = {name: getattr(input, name) for name in names} if input else {}
        arguments = {name: value for name, value in given.items() if value is not strawberry.UNSET}
        if "post_id" in arguments:
            hydrate.read_ahead(info.context, arguments["post_id"])
        if limited:
            write_limits.read_ahead(info.context, arguments.get("text"))
        return await _run(partial(run, **arguments), info.context, result, suspended=suspended)

    _take(resolve, takes, optional=optional)
    return strawberry.mutation(resolver=resolve, graphql_type=gives | None, description=description)


def mutation_without_input(
    act: Callable[[Context], Awaitable[Payload]], description: str, *, suspended: bool = False
) -> Any:
    """Declare a mutation that takes nothing; otherwise like `mutation`."""
    result, gives = _payload(act)

    async def resolve(info: strawberry.Info[Context, None]) -> Any:
        return await _run(act, info.context, result, suspended=suspended)

    return strawberry.mutation(resolver=resolve, graphql_type=gives | None, description=description)


async def _run(
    act: Callable[[Context], Awaitable[Payload]], context: Context, result: type[Payload], *, suspended: bool
) -> Payload:
    try:
        if not suspended:
            await context.active()
        return await act(context)
    except Refused as refused:
        return result(user_errors=refused.errors)


def _take(resolve: Any, taken: Any, *, optional: bool) -> None:
    """Set the type of a resolver's argument `input`."""
    argument = strawberry.argument(description="The input of the mutation.")
    if optional:
        resolve.__annotations__["input"] = Annotated[taken | None, argument]
    else:
        resolve.__annotations__["input"] = Annotated[taken, argument]
        resolve.__defaults__ = None


def _payload(act: Callable[..., Any]) -> tuple[type[Payload], Any]:
    """Return the payload of a resolver and its type in the schema; raises TypeError where nothing describes it."""
    result: type[Payload] = get_type_hints(act)["return"]
    if result not in payloads.TYPES:
        raise TypeError(f"{result.__name__}, which {act.__name__} returns, has no description in schema.types.payloads")
    return result, payloads.TYPES[result]
