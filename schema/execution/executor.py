"""Execution of one operation, and of one event of a subscription.

One rendering of a site-wide event serves all viewers who would get the same result. A selection can be shared when each
of its fields is flagged as `SHARED`: it depends on the viewer only through visibility. It is rendered for a viewer who
has no relationships. The rendering notes the members that it read. It is right for a viewer if none of these members is
private or blocks the viewer, and the viewer blocks and mutes none. All other viewers get a rendering of their own. A
rendering that names a group with bans is not shared.
"""

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Any, TypeAlias, cast

from graphql import ExecutionResult as CoreResult
from graphql import GraphQLObjectType
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails
from graphql.pyutils import Path
from msgspec import Raw
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types import ExecutionResult

from resolvers.process.errors import QueryTooComplex, RequestError, Unauthenticated, unavailable
from resolvers.process.site_stream import Rendering
from schema.execution.encoding import JsonResult, NoResult
from schema.execution.introspection import ROOTS, Introspection
from schema.execution.ports import Context
from store.client.database import MemberGone, Unavailable

RunByPlan: TypeAlias = Callable[["PerEventExecutor"], Awaitable[dict[str, Any] | None]]


class PerEventExecutor(StrawberryGraphQLCoreExecutionContext):
    """Ends each operation with the check of its session; gives each event of a subscription a fresh context.

    Without a context, as when the schema prints itself, it executes and nothing else. Operations that have a plan run
    by it.
    """

    run_by_plan: RunByPlan | None = None  # set by the schema: strawberry hands nothing to executors of subscriptions
    introspection: Introspection | None = None  # likewise
    _introspected = 0  # bytes of introspection that the answer has

    def build_per_event_executor(self, payload: Any) -> Executor[Any]:
        """Return the executor of one event, whose look-ups no other event has made.

        An event can carry the context in which it was decided. It is rendered in that context, so all of it comes from
        one look. An event that was rendered already is its own result.
        """
        if isinstance(payload, ExecutionResult):
            return cast("Executor[Any]", Rendered(payload))
        context = self.context_value
        if context is not None:
            context = getattr(payload, "context", None) or context.fresh(counted=False)  # the member has asked but once
        return self.of_event(payload, context)

    def of_event(self, payload: Any, context: Any) -> "PerEventExecutor":
        """Return the executor of one event in a context."""
        executor = cast("PerEventExecutor", super().build_per_event_executor(payload))
        executor.context_value = context
        return executor

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Execute a query, a mutation or one event; where the context has a fatal error, that is the whole result."""
        context = self.context_value
        if context is None:
            return super().execute_operation(serially)
        return self._render(serially)

    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_details_list: list[FieldDetails],
        info: Any,
        path: Path,
        result: Any,
        position_context: Any,
    ) -> Any:
        """Return the result of an object. That of an introspection field is JSON, which needs no more execution."""
        introspects = path.prev is None and return_type.name in ROOTS.values()
        if introspects and self.introspection and self.context_value is not None:
            return self._introspect(self.introspection, field_details_list, result)
        return super().complete_object_value(return_type, field_details_list, info, path, result, position_context)

    @property
    def has_introspected(self) -> bool:
        """Whether a part of the data is JSON already."""
        return self._introspected > 0

    def _introspect(self, introspection: Introspection, details: list[FieldDetails], of: Any) -> Raw:
        try:
            answer = introspection.answer(self, details, of, self._introspected)
        except QueryTooComplex as error:
            self.context_value.fail(error)
            raise
        self._introspected += len(answer)
        return Raw(answer)

    async def _render(self, serially: bool | None) -> CoreResult | NoResult:
        if not await self._is_delivered():
            fatal = await close(self.context_value)
            return CoreResult(None, [fatal]) if fatal else NoResult()
        data = await self.run_by_plan(self) if self.run_by_plan else None
        if data is not None:
            return await self._conclude(CoreResult(data, None))
        return await self._conclude(super().execute_operation(serially))

    async def _is_delivered(self) -> bool:
        """Return whether this viewer may see an event that was decided for many viewers."""
        is_delivered = getattr(self.root_value, "is_delivered", None)
        try:
            return is_delivered is None or await is_delivered(self.context_value)
        except RequestError:  # which the context notes
            return False

    async def _conclude(self, outcome: Any) -> CoreResult:
        result: CoreResult = await outcome if self.is_awaitable(outcome) else outcome
        for error in result.errors or ():
            # A resolver's own write or read found the database away; a look-up would have set this itself.
            if isinstance(error.original_error, Unavailable):
                self.context_value.fail(unavailable(error.original_error))
        if any(isinstance(error.original_error, MemberGone) for error in result.errors or ()):
            self.context_value.fail(Unauthenticated("this member is gone"))
        fatal = await close(self.context_value)
        # graphql-core's executor refers to itself in circles: what was read is to be freed at once, and not with it.
        self.context_value = None
        return CoreResult(None, [fatal]) if fatal else result


class Rendered:
    """The executor of an event that has been rendered."""

    __slots__ = ("_result",)

    def __init__(self, result: ExecutionResult) -> None:
        self._result = result

    def execute_operation(self, serially: bool | None = None) -> ExecutionResult:  # noqa: ARG002  graphql-core's
        """Return the result."""
        return self._result


class EventRenderer:
    """Renders events of one subscription whose results viewers may share."""

    def __init__(self, selection: object, build: Callable[[], PerEventExecutor]) -> None:
        """Begin with what `build` returns when it is first needed: the subscription's executor without a context."""
        self.selection = selection
        self._build = build

    @cached_property
    def _executor(self) -> PerEventExecutor:
        return self._build()

    async def for_all(self, context: Any, event: object) -> Rendering | None:
        """Return the rendering of an event for all viewers without relationships, None where they differ."""
        nobody = context.nobody()
        nobody.fields, load = context.fields, nobody.load
        result = await self._executor.of_event(event, nobody).execute_operation()
        looked_at = load.members
        if (
            result.errors
            or isinstance(result, NoResult)
            or any(user is None or user.is_private or user.is_suspended for user in looked_at.values())
            or any(await load.has_bans.load_many(list(load.open_groups)))  # then members see different things
        ):
            return None
        return Rendering(JsonResult.of(result.data), frozenset(looked_at), self.selection)

    async def for_viewer(self, context: Any, event: object) -> ExecutionResult | None:
        """Return the result of an event for one viewer, None where it has errors, which name their request."""
        async with context.looks:
            result = await self._executor.of_event(event, context.fresh(counted=False)).execute_operation()
        if isinstance(result, NoResult):
            return result
        return None if result.errors else JsonResult.of(result.data)


async def close(context: Context | None) -> RequestError | None:
    """End an operation, and return the error that the whole of it must be answered with, if any."""
    if context is None:
        return None
    await context.close()
    return context.fatal
