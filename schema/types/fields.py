"""Declares fields. A field is an attribute of its parent, or forwards to a resolver.

A resolver takes the operation's context, the parent, and the arguments of the field by their names. A field is in no
answer that is used again unless it is declared as `cached` or `shared`. `schema.execution.flags` says when that is
right.
"""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from inspect import Parameter, Signature
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args, get_type_hints

import strawberry
from msgspec import Struct

from resolvers.operation.context import Context
from schema.execution.flags import CACHED, SHARED
from schema.execution.plans import BATCHED, BY_CLASS, FORWARD, IS_KEPT, Forward, Parents

Info: TypeAlias = strawberry.Info[Context, None]


class Argument(NamedTuple):
    """The type of an argument with its description, and its default."""

    kind: Any
    default: Any


Arguments: TypeAlias = dict[str, Argument]
NO_ARGUMENTS: Mapping[str, Argument] = {}

_RECORDS = "records"  # The attribute of an `is_type_of` that names its records.


def argument(kind: Any, description: str, default: Any = Parameter.empty, *, name: str | None = None) -> Argument:
    """Describe an argument of a field. It has a `name` where the resolver calls it something else."""
    return Argument(Annotated[kind, strawberry.argument(description=description, name=name)], default)


def field(description: str, gives: Any = None, *, cached: bool = False, shared: bool = False) -> Any:
    """Declare a field that is an attribute of the parent. Its type is `gives`, or its annotation in the class."""
    return strawberry.field(graphql_type=gives, description=description, metadata=_metadata(cached, shared))


def computed(
    compute: Callable[[Any], Any], gives: Any, description: str, *, cached: bool = False, shared: bool = False
) -> Any:
    """Declare a field that a function of the parent, which it calls `root`, computes at once."""
    return _field(compute, gives, description, _metadata(cached, shared))


def resolved(
    act: Callable[..., Any],
    gives: Any,
    description: str,
    *,
    takes: Mapping[str, Argument] = NO_ARGUMENTS,
    cached: bool = False,
) -> Any:
    """Declare a field by a resolver of one parent: `act(context, parent, **arguments)`."""
    defaults = _defaults(takes)

    def resolve(root: Any, info: Info, **given: Any) -> Any:
        return act(info.context, root, **defaults | given)

    inspect.signature(act).bind(None, None, **takes)
    return _field(taking(takes, resolve), gives, description, {FORWARD: Forward(act, defaults)} | _metadata(cached))


def batched(
    act: Callable[..., Any],
    gives: Any,
    description: str,
    *,
    takes: Mapping[str, Argument] = NO_ARGUMENTS,
    cached: bool = False,
    shared: bool = False,
) -> Any:
    """Declare a field by a resolver of many parents: `act(context, parents, **arguments)` returns a value for each.

    The resolver may be asynchronous. An exception among its values is the error of that parent alone. graphql-core
    calls the same resolver with one parent at a time.
    """
    defaults = _defaults(takes)

    def resolve(root: Any, info: Info, **given: Any) -> Any:
        if isinstance(root, Parents):
            return act(info.context, root, **defaults | given)
        values = act(info.context, [root], **defaults | given)
        return _only_later(values) if inspect.isawaitable(values) else _only(values)

    inspect.signature(act).bind(None, None, **takes)
    metadata = {FORWARD: Forward(act, defaults), BATCHED: True} | _metadata(cached, shared)
    return _field(taking(takes, resolve), gives, description, metadata)


def query(
    act: Callable[..., Any],
    gives: Any,
    description: str,
    *,
    takes: Mapping[str, Argument] = NO_ARGUMENTS,
    cached: bool = False,
) -> Any:
    """Declare a field that has no parent: `act(context, **arguments)`."""
    defaults = _defaults(takes)

    def resolve(info: Info, **given: Any) -> Any:
        return act(info.context, **defaults | given)

    inspect.signature(act).bind(None, **takes)
    metadata = {FORWARD: Forward(act, defaults, has_parent=False)} | _metadata(cached)
    return _field(taking(takes, resolve), gives, description, metadata)


def subscription(
    act: Callable[..., AsyncGenerator[Any, None]],
    gives: Any,
    description: str,
    *,
    takes: Mapping[str, Argument] = NO_ARGUMENTS,
    shared: bool = False,
) -> Any:
    """Declare a subscription to the events that `act(context, **arguments)` yields."""
    defaults = _defaults(takes)

    async def resolve(info: Info, **given: Any) -> AsyncGenerator[Any, None]:
        async with aclosing(act(info.context, **defaults | given)) as events:
            async for event in events:
                yield event

    inspect.signature(act).bind(None, **takes)
    flags = _metadata(shared=shared)
    resolver = taking(takes, resolve)
    return strawberry.subscription(resolver=resolver, graphql_type=gives, description=description, metadata=flags)


def attribute_of(act: Callable[..., Awaitable[Any]], name: str) -> Callable[..., Awaitable[Any]]:
    """Return a resolver of one parent: an attribute of what `act` returns, which must be declared there."""
    getattr(get_type_hints(act)["return"], name)

    async def attribute(context: Context, parent: Any) -> Any:
        return getattr(await act(context, parent), name)

    return attribute


def attribute_of_each(act: Callable[..., Awaitable[Sequence[Any]]], name: str) -> Callable[..., Awaitable[list[Any]]]:
    """Return a resolver of many parents: an attribute of what `act` returns for each, which must be declared there."""
    (kind,) = get_args(get_type_hints(act)["return"])
    for one in get_args(kind) or (kind,):
        getattr(one, name)
    read = attrgetter(name)

    async def attributes(context: Context, parents: Sequence[Any]) -> list[Any]:
        return list(map(read, await act(context, parents)))

    return attributes


def taking(takes: Mapping[str, Argument], resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Give a resolver the signature from which strawberry reads the arguments."""
    own = [one for one in inspect.signature(resolve).parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=taken.default, annotation=taken.kind)
        for name, taken in takes.items()
    ]
    resolve.__signature__ = Signature([*own, *named])  # type: ignore[attr-defined]
    return resolve


def later(name: str, module: str) -> Any:
    """Return a lazy reference to a type that is declared further down, or in a module that imports this one."""
    return Annotated[name, strawberry.lazy(module)]


def is_a(*kinds: type, is_kept: bool = False) -> Any:
    """Return the `is_type_of` of a GraphQL type whose values are exactly such records.

    `is_kept` says that a process uses the same objects again until they change. They have to be immutable structs.
    """
    if is_kept and not all(issubclass(kind, Struct) and kind.__struct_config__.frozen for kind in kinds):
        raise TypeError(f"{kinds}: a kept record has to be frozen")

    def is_type_of(_cls: type, value: Any, _info: Any) -> bool:
        return type(value) in kinds

    setattr(is_type_of, BY_CLASS, True)
    setattr(is_type_of, _RECORDS, kinds)
    setattr(is_type_of, IS_KEPT, is_kept)
    return classmethod(is_type_of)


def records_of(kind: Any) -> tuple[type, ...]:
    """Return the records that a GraphQL type shows, as `is_a` declares them."""
    records: tuple[type, ...] = getattr(kind.is_type_of, _RECORDS)
    return records


def _field(resolver: Callable[..., Any], gives: Any, description: str, metadata: Mapping[str, Any]) -> Any:
    return strawberry.field(resolver=resolver, graphql_type=gives, description=description, metadata=metadata)


def _metadata(cached: bool = False, shared: bool = False) -> dict[str, Any]:
    return {flag: True for flag, is_set in ((CACHED, cached), (SHARED, shared)) if is_set}


def _defaults(takes: Mapping[str, Argument]) -> dict[str, Any]:
    """Return the defaults of arguments. GraphQL leaves out an argument that is not sent and has the default null."""
    return {name: taken.default for name, taken in takes.items() if taken.default is not Parameter.empty}


def _only(values: Sequence[Any]) -> Any:
    (value,) = values
    return value  # graphql-core raises it where it is an exception


async def _only_later(values: Awaitable[Sequence[Any]]) -> Any:
    return _only(await values)
