"""Declares a mutation: its input, its payload, and the resolver that acts."""

from collections.abc import Awaitable, Callable
from dataclasses import fields
from functools import partial
from typing import Any, Concatenate, ParamSpec, cast, get_type_hints

import strawberry

from resolvers.operation import write_limits
from resolvers.operation.context import Context
from resolvers.operation.payloads import Payload
from resolvers.process.errors import Refused
from resolvers.reading import hydrate
from schema.types import payloads
from schema.types.fields import Info, argument, taking

P = ParamSpec("P")

INPUT = "The input of the mutation."


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

    async def resolve(info: Info, **sent: Any) -> Any:
        given = {name: getattr(sent["input"], name) for name in names} if sent.get("input") else {}
        arguments = {name: value for name, value in given.items() if value is not strawberry.UNSET}
        if "post_id" in arguments:
            hydrate.read_ahead(info.context, arguments["post_id"])
        if limited:
            write_limits.read_ahead(info.context, arguments.get("text"))
        return await _run(partial(run, **arguments), info.context, result, suspended=suspended)

    kind: Any = takes
    taken = argument(kind | None, INPUT, default=None) if optional else argument(kind, INPUT)
    resolver = taking({"input": taken}, resolve)
    return strawberry.mutation(resolver=resolver, graphql_type=gives | None, description=description)


def mutation_without_input(
    act: Callable[[Context], Awaitable[Payload]], description: str, *, suspended: bool = False
) -> Any:
    """Declare a mutation that takes nothing; otherwise like `mutation`."""
    result, gives = _payload(act)

    async def resolve(info: Info) -> Any:
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


def _payload(act: Callable[..., Any]) -> tuple[type[Payload], Any]:
    """Return the payload of a resolver and its type in the schema; raises TypeError where nothing describes it."""
    result: type[Payload] = get_type_hints(act)["return"]
    if result not in payloads.TYPES:
        raise TypeError(f"{result.__name__}, which {act.__name__} returns, has no description in schema.types.payloads")
    return result, payloads.TYPES[result]
