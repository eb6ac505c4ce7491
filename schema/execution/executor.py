"""Execution of one operation, and of one event of a subscription: for its viewer alone, or once for many viewers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeAlias, cast

from graphql import ExecutionResult as CoreResult
from graphql import GraphQLObjectType
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails
from graphql.pyutils import Path
from msgspec import Raw
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from resolvers.process.errors import QueryTooComplex, RequestError, Unauthenticated, unavailable
from schema.execution.introspection import ROOTS, Introspection
from schema.execution.ports import Context
from schema.execution.results import NoResult
from schema.execution.sharing import Rendering, SharedResult
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
        """Return the executor of one event: one that shares what it can, or that makes look-ups of its own."""
        context = self.context_value
        if (
            context is None
            or context.selection is None
            or context.relationships is None
            or not context.was_subscribed()
        ):
            # Also where the end of the session may have been missed: what is looked up for one viewer checks it.
            return self.own(payload)
        context.render_shared = self.render_shared
        return cast("Executor[Any]", SharedEvent(self, payload))

    def own(self, payload: Any) -> PerEventExecutor:
        """Return the executor of one event for this viewer alone, whose look-ups no other event has made.

        An event can carry the context in which it was decided. It is rendered in that context, so all of it comes from
        one look.
        """
        executor = cast("PerEventExecutor", super().build_per_event_executor(payload))
        if self.context_value is not None:
            decided = getattr(payload, "context", None)
            executor.context_value = decided or self.context_value.fresh(counted=False)  # the member has asked but once
        return executor

    def for_all(self, payload: Any) -> PerEventExecutor:
        """Return the executor of one event for somebody who has nothing to do with anybody."""
        executor = cast("PerEventExecutor", super().build_per_event_executor(payload))
        executor.context_value = self.context_value.nobody()
        executor.context_value.fields = self.context_value.fields
        return executor

    async def render_shared(self, event: Any) -> Rendering | None:
        """Return the rendering of an event that viewers share, None where they cannot; the first caller renders it."""
        key = _rendering_key(self.context_value, event)
        rendering: Rendering | None = await self.context_value.rendered(key, lambda: self._render_for_all(event))
        return rendering

    async def _render_for_all(self, event: Any) -> Rendering | None:
        executor = self.for_all(event)
        load = executor.context_value.load
        result: CoreResult | NoResult = await executor.execute_operation()
        looked_at = load.members
        if (
            result.errors
            or isinstance(result, NoResult)
            or any(u is None or u.is_private or u.is_suspended for u in looked_at.values())
            or any(await load.has_bans.load_many(list(load.open_groups)))  # then members see different things
        ):
            return None
        return Rendering(SharedResult(result.data), frozenset(looked_at), self.context_value.selection)

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


class SharedEvent:
    """One event of a subscription whose results are shared: an executor is made for who cannot share, and only then."""

    __slots__ = ("_event", "_subscription")

    def __init__(self, subscription: PerEventExecutor, event: Any) -> None:
        self._subscription = subscription
        self._event = event

    async def execute_operation(self, serially: bool | None = None) -> CoreResult | SharedResult | NoResult:
        """Return the result that all have who would get the same; the viewer's own where they would not.

        Sessions are not checked: who loses theirs loses the connection.
        """
        context, event = self._subscription.context_value, self._event
        rendering = await self._subscription.render_shared(event)
        if rendering is None or not context.relationships.keys().isdisjoint(rendering.members):
            own: CoreResult | SharedResult | NoResult = await context.rendered_now(
                _rendering_key(context, event), self._render_own
            )
            if isinstance(own, SharedResult | NoResult):
                return own
            # Errors are presented to their own client, under its own request id.
            return await self._subscription.own(event).execute_operation(serially)  # type: ignore[no-any-return]
        return rendering.result

    async def _render_own(self) -> CoreResult | SharedResult | NoResult:
        """Return what this viewer alone gets; they may have many subscriptions to the same."""
        context = self._subscription.context_value
        async with context.looks:
            result: CoreResult | NoResult = await self._subscription.own(self._event).execute_operation()
        return result if isinstance(result, NoResult) or result.errors else SharedResult(result.data)


def _rendering_key(context: Context, event: Any) -> Hashable:
    return event.cursor, type(event), id(context.selection)


async def close(context: Context | None) -> RequestError | None:
    """End an operation, and return the error that the whole of it must be answered with, if any."""
    if context is None:
        return None
    await context.close()
    return context.fatal
