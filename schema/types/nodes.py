"""Definitions that all types share: nodes, pages, timestamps and user errors."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

import strawberry
from strawberry.types.scalar import ScalarDefinition

from resolvers.operation.context import Context
from resolvers.process.errors import UserErrorCode
from resolvers.reading import global_ids
from resolvers.reading.paging import Page
from schema.execution.plans import BATCHED, BY_CLASS, Parents
from schema.types.descriptions import enum, limit
from store.ids import made_at

Info: TypeAlias = strawberry.Info[Context, None]
First: TypeAlias = Annotated[
    int | None, strawberry.argument(description=f"How many entries, 1 to {limit('max_page')}. The default is 20.")
]
TimelineFirst: TypeAlias = Annotated[
    int | None,
    strawberry.argument(
        description=f"How many entries forward, 1 to {limit('max_page')}. Without `first` and `last` the page has 20. "
        "Both together are refused with BAD_USER_INPUT."
    ),
]
Last: TypeAlias = Annotated[
    int | None,
    strawberry.argument(
        description=f"How many entries backward, 1 to {limit('max_page')}: those nearest to `before`, or else to the "
        "end of the list."
    ),
]
Before: TypeAlias = Annotated[
    str | None,
    strawberry.argument(description="A cursor of this list. The page ends before it, or else where the list ends."),
]
After: TypeAlias = Annotated[
    str | None,
    strawberry.argument(description="A cursor of this list. The page begins after it, or else where the list begins."),
]

MINUTES_KEPT = 10_000  # cached texts of minutes, enough for a week

enum(
    UserErrorCode,
    "Why a mutation was refused.",
    BLANK="A text that must say something is empty.",
    TOO_LONG="A text has more characters, or a picture more bytes or pixels, than the limit that the message names.",
    INVALID="A value, or an uploaded file, breaks the rule that the message names.",
    TAKEN="Another member has this login or e-mail address, or had it until lately.",
    WEAK_PASSWORD="The password is too short, too common, or a name of the member.",  # noqa: S106  a description
    WRONG_CREDENTIALS="The password or the refresh token is wrong, or no longer valid.",
    NOT_FOUND="There is no such member, post, comment, group, conversation, message, report, notification or promotion "
    "for the viewer.",
    NOT_ALLOWED="The viewer may not do this.",
    LIMIT_REACHED="The viewer has as many of these, or made as many in this hour or day, as the limit allows.",
    SELF="The member named is the viewer, or what is named is the viewer's own.",
    CONFLICT="The `idempotencyKey` was used with other input. Or the report is open already, or is resolved. "
    "Or another change of the same came first: try again.",
)


def created_at(root: Any) -> int:
    """Return the time of creation in ms since 1970. It is formatted without making a datetime."""
    return made_at(root.id)


def _write_instant(moment: datetime | int) -> str:
    if isinstance(moment, int):
        minute, ms = divmod(moment, 60_000)
        return f"{_minute(minute)}:{ms // 1000:02}.{ms % 1000:03}Z"
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return f"{moment.isoformat(timespec='milliseconds')[:-6]}Z"  # in place of +00:00


@lru_cache(MINUTES_KEPT)
def _minute(minute: int) -> str:
    """Return a minute since 1970 as text."""
    return datetime.fromtimestamp(minute * 60, UTC).isoformat(timespec="minutes")[:-6]  # without +00:00


def _read_instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("an instant needs its offset from UTC, such as a final Z")
    return moment.astimezone(UTC)


DATE_TIME: ScalarDefinition = strawberry.scalar(
    name="DateTime",
    description="An instant in UTC with milliseconds, RFC 3339, e.g. `2026-11-21T03:31:00.123Z`.",
    specified_by_url="https://scalars.graphql.org/andimarek/date-time",
    serialize=_write_instant,
    parse_value=_read_instant,
)


def _global_id(root: Any) -> str:
    return global_ids.of(root)


@strawberry.interface(
    description="Anything with an identity. Ids are opaque, unique across all types, and usable with `node`."
)
class Node:
    id = strawberry.field(
        resolver=_global_id,
        graphql_type=strawberry.ID,
        description="The identity of this object. It never changes, and no other object ever gets it.",
    )


@strawberry.type(description="Where a page lies in its list, as the Relay cursor specification defines it.")
class PageInfo:
    has_next_page: bool = strawberry.field(description="Whether entries follow after `endCursor`.")
    has_previous_page: bool = strawberry.field(description="Whether entries lie before `startCursor`.")
    start_cursor: str | None = strawberry.field(
        description="The cursor of the first entry read for this page, shown or not. Null when none was read."
    )
    end_cursor: str | None = strawberry.field(
        description="The cursor of the last entry read for this page, shown or not. Pass it as `after` to go on. "
        "Null when none was read."
    )


@strawberry.type(description="An expected refusal, answered as data.")
class UserError:
    code: UserErrorCode = strawberry.field(description="The kind of refusal, for programs.")
    message: str = strawberry.field(description="The rule that was broken, in English, for people.")
    field: list[str] | None = strawberry.field(
        description='The path in the input, such as `["login"]`. Null when the refusal concerns the whole input.'
    )


def nodes_of(root: Page[Any]) -> list[Any]:
    """Return the nodes of a page without their edges."""
    return [edge.node for edge in root.edges]


def later(name: str, module: str) -> Any:
    """Return a lazy reference to a type that is declared further down, or in a module that imports this one."""
    return Annotated[name, strawberry.lazy(module)]


def is_a(*kinds: type) -> Any:
    """Return the `is_type_of` of a GraphQL type whose values are exactly such records."""

    def is_type_of(_cls: type, value: Any, _info: Any) -> bool:
        return type(value) in kinds

    setattr(is_type_of, BY_CLASS, True)
    return classmethod(is_type_of)


def batched(resolver: Callable[..., Any], **declared: Any) -> Any:
    """Declare a field by a resolver of many parents: `resolver(roots, info, **arguments)` returns a value for each.

    The resolver may be asynchronous. An exception among its values is the error of that parent alone. graphql-core
    calls the same resolver with one parent at a time.
    """

    def resolve(root: Any, info: Info, **arguments: Any) -> Any:
        if isinstance(root, Parents):
            return resolver(root, info, **arguments)
        values = resolver([root], info, **arguments)
        return _only_later(values) if inspect.isawaitable(values) else _only(values)

    roots, *others = inspect.signature(resolver).parameters.values()
    resolve.__signature__ = inspect.Signature([roots.replace(name="root"), *others])  # type: ignore[attr-defined]
    resolve.__module__ = resolver.__module__  # knows the names in the annotations
    return strawberry.field(resolver=resolve, metadata={BATCHED: True}, **declared)


def _only(values: list[Any]) -> Any:
    (value,) = values
    return value  # graphql-core raises it where it is an exception


async def _only_later(values: Awaitable[list[Any]]) -> Any:
    return _only(await values)
