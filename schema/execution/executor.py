"""Execution of one operation, and of one event of a subscription."""

from collections.abc import Awaitable, Callable
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
from schema.execution.introspection import ROOTS, Introspection
from schema.execution.ports import Context
from schema.execution.results import NoResult
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


async def close(context: Context | None) -> RequestError | None:
    """End an operation, and return the error that the whole of it must be answered with, if any."""
    if context is None:
        return None
    await context.close()
    return context.fatal
