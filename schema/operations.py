"""What wraps every operation: documents from the cache, a context of its own, and errors that give nothing away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, TypeAlias, cast

import strawberry
import structlog
from graphql import ExecutionResult as CoreResult
from graphql import GraphQLError
from graphql.execution import Executor
from graphql.execution.values import get_argument_values
from strawberry.extensions.runner import SchemaExtensionsRunner
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.execution import PreExecutionError
from strawberry.types.graphql import OperationType

from resolvers.errors import UNREACHABLE, BadUserInput, RequestError, ServiceUnavailable, Unauthenticated
from schema.documents import DocumentCache
from schema.plans import Planner
from schema.ports import Context
from schema.sharing import Rendering, SharedResult
from store.connection import MemberGone, Unavailable
from store.settings import Settings

log = structlog.get_logger(__name__)

RunByPlan: TypeAlias = Callable[[Executor[Any]], Awaitable[dict[str, Any] | None]]


class OperationRefused(BadUserInput):
    """The document is right, but this operation of it cannot be had, or not in this way."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class PerEventExecutor(StrawberryGraphQLCoreExecutionContext):
    """Ends each operation with the check of its session; gives each event of a subscription a fresh context.

    Without a context, as when the schema prints itself, it executes and nothing else. What can run by plan does so.
    """

    def __init__(self, *args: Any, run_by_plan: RunByPlan | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._run_by_plan = run_by_plan

    def build_per_event_executor(self, payload: Any) -> Executor[Any]:
        """Return the executor of one event: one that shares what it can, or that makes look-ups of its own."""
        context = self.context_value
        if context is None or context.selection is None or context.bonds is None or not context.would_have_heard():
            # Also where the end of the session may have gone unheard: what is looked up for one viewer checks it.
            return self.own(payload)
        return cast("Executor[Any]", SharedEvent(self, payload))

    def own(self, payload: Any) -> PerEventExecutor:
        """Return the executor of one event for this viewer alone, whose look-ups no other event has made."""
        executor = cast("PerEventExecutor", super().build_per_event_executor(payload))
        if self.context_value is not None:
            executor.context_value = self.context_value.fresh(counted=False)  # the member has asked but once
            executor.context_value.fields = self.context_value.fields
        return executor

    def for_all(self, payload: Any) -> PerEventExecutor:
        """Return the executor of one event for somebody who has nothing to do with anybody."""
        executor = cast("PerEventExecutor", super().build_per_event_executor(payload))
        executor.context_value = self.context_value.nobody()
        executor.context_value.fields = self.context_value.fields
        return executor

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Execute a query, a mutation or one event; where the context has a fatal error, that is the whole result."""
        context = self.context_value
        if context is None:
            return super().execute_operation(serially)
        return self._render(serially)

    async def _render(self, serially: bool | None) -> CoreResult:
        data = await self._run_by_plan(self) if self._run_by_plan else None
        if data is not None:
            return await self._conclude(CoreResult(data, None))
        return await self._conclude(super().execute_operation(serially))

    async def _conclude(self, outcome: Any) -> CoreResult:
        result: CoreResult = await outcome if self.is_awaitable(outcome) else outcome
        if any(isinstance(error.original_error, Unavailable) for error in result.errors or ()):
            # A resolver's own write or read found the database away; a look-up would have set this itself.
            self.context_value.fail(ServiceUnavailable(UNREACHABLE))
        if any(isinstance(error.original_error, MemberGone) for error in result.errors or ()):
            self.context_value.fail(Unauthenticated("this member is gone"))
        fatal = await _close(self.context_value)
        # graphql-core's executor refers to itself in circles: what was read is to be freed at once, and not with it.
        self.context_value = None
        return CoreResult(None, [fatal]) if fatal else result


class SharedEvent:
    """One event of a subscription whose results are shared: an executor is made for who cannot share, and only then."""

    __slots__ = ("_subscription", "_told")

    def __init__(self, subscription: PerEventExecutor, told: Any) -> None:
        self._subscription = subscription
        self._told = told

    async def execute_operation(self, serially: bool | None = None) -> CoreResult | SharedResult:
        """Return the result that all have who would get the same; the viewer's own where they would not.

        Sessions are not checked: who loses theirs loses the connection.
        """
        context, told = self._subscription.context_value, self._told
        key = (told.cursor, type(told), id(context.selection))
        rendering = await context.rendered(key, self._render)
        if rendering is None or not rendering.members.isdisjoint(context.bonds):
            own: CoreResult = await self._subscription.own(told).execute_operation(serially)
            return own
        shared: SharedResult = rendering.result
        return shared

    async def _render(self) -> Rendering | None:
        executor = self._subscription.for_all(self._told)
        looked_at = executor.context_value.load.members
        result = await executor.execute_operation()
        if result.errors or any(u is None or u.is_private or u.is_suspended for u in looked_at.values()):
            return None
        return Rendering(SharedResult(result.data), frozenset(looked_at), self._subscription.context_value.selection)


class Schema(strawberry.Schema):
    """A schema under limits; takes what strawberry's own takes. Extensions see no parsing and no validation."""

    def __init__(
        self, *, settings: Settings, execution_context_class: type[Executor[Any]] = PerEventExecutor, **declared: Any
    ) -> None:
        super().__init__(execution_context_class=execution_context_class, **declared)
        self.documents = DocumentCache(self._schema, settings)
        self.planner = Planner() if settings.fast_execution else None

    async def _prepare_operation_async(
        self,
        context: ExecutionContext,
        extensions_runner: SchemaExtensionsRunner,  # noqa: ARG002  strawberry passes it
    ) -> PreExecutionError | None:
        document = self.documents.get(context.query or "")
        context.graphql_document = document.node
        if context.context is not None:
            context.context.fields = document.fields
        if document.errors:
            return await _refused(context, document.errors)
        name = context._provided_operation_name  # noqa: SLF001  the public one falls back on the first operation
        operation = document.operation(name)
        if operation is None:
            return await _refused(context, [OperationRefused(_unknown(name))])
        if context.context is not None and document.is_shareable:
            context.context.selection = operation
        kind = OperationType(operation.operation.value)
        if kind not in context.allowed_operations:
            return await _refused(context, [_not_here(kind)])
        cost = document.costs[operation.name.value if operation.name else None]
        if too_complex := self.documents.limits.refuse_cost(cost, context.variables):
            return await _refused(context, [too_complex])
        if kind is OperationType.SUBSCRIPTION:
            # It has no end at which its session could be checked, so that happens before it begins.
            return await _check_first(context)
        return None

    def _get_custom_context_kwargs(self, *args: Any, **options: Any) -> dict[str, Any]:
        """Every executor is made with these."""
        given = super()._get_custom_context_kwargs(*args, **options)
        return {**given, "run_by_plan": self._run_by_plan} if self.planner else given

    async def _run_by_plan(self, executor: Executor[Any]) -> dict[str, Any] | None:
        assert self.planner is not None
        where = executor.operation.loc
        return await self.planner.run(executor, self.documents.get(where.source.body).plans) if where else None

    async def _handle_execution_result(
        self, context: ExecutionContext, result: Any, extensions_runner: SchemaExtensionsRunner, **options: Any
    ) -> ExecutionResult:
        """Every result comes through here, of whichever transport and however it failed."""
        if isinstance(result, SharedResult):
            return result  # as it is for all: it has no errors
        if result.errors:
            result.errors = present(result.errors, context.context, context.operation_name)
        return await super()._handle_execution_result(context, result, extensions_runner, **options)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing: `present` does, once, and only what is the server's fault."""


def present(errors: Iterable[GraphQLError], context: Context | None, operation: str | None) -> list[GraphQLError]:
    """Return errors as the client may see them, each with its code; log those that are the server's fault."""
    shown, logged = [], set()
    for error in errors:
        if "code" not in (error.extensions or {}):
            if isinstance(error.original_error, Unavailable):
                error = ServiceUnavailable(UNREACHABLE)  # noqa: PLW2901
            elif is_input_error(error):
                error.extensions = {**(error.extensions or {}), "code": BadUserInput.code}
            else:
                # A loader that fails does so for everyone who waits for it: one fault, many errors.
                if id(error.original_error or error) not in logged:
                    logged.add(id(error.original_error or error))
                    _log_fault(error, context, operation)
                # The original goes no further than the log.
                error = internal_error(context, error)  # noqa: PLW2901
        shown.append(error)
    return shown


def internal_error(context: Context | None, error: GraphQLError | None = None) -> GraphQLError:
    """Return what the client sees of an error that is the server's fault: its place, and where to look it up."""
    extensions = {"code": RequestError.code} | ({"requestId": context.request_id} if context else {})
    return GraphQLError(
        "Internal error", error.nodes if error else None, path=error.path if error else None, extensions=extensions
    )


def is_request_error(result: ExecutionResult) -> bool:
    """Return whether nothing was executed, or none of it counts: the answer has errors and no data entry at all."""
    return result.data is None and bool(result.errors) and all(error.path is None for error in result.errors or ())


def is_input_error(error: GraphQLError) -> bool:
    """Return whether a variable or an argument had a value that its type does not allow.

    graphql-core raises the same class for these and for resolvers whose result does not fit its type. What has no
    path never came to a resolver; of the rest, only the traceback tells arguments from results.
    """
    original = error.original_error
    if original is not None and not isinstance(original, GraphQLError):
        return False
    if error.path is None:
        return True
    return original is not None and _passes(original.__traceback__, get_argument_values)


def _passes(traceback: TracebackType | None, function: Any) -> bool:
    while traceback is not None:
        if traceback.tb_frame.f_code is function.__code__:
            return True
        traceback = traceback.tb_next
    return False


def _log_fault(error: GraphQLError, context: Context | None, operation: str | None) -> None:
    log.error(
        "an operation failed",
        path=error.path,
        operation=operation,
        request_id=context.request_id if context else None,
        exc_info=error.original_error or error,
    )


async def _refused(context: ExecutionContext, errors: Sequence[GraphQLError]) -> PreExecutionError:
    return await _check_first(context) or PreExecutionError(data=None, errors=list(errors))


async def _check_first(context: ExecutionContext) -> PreExecutionError | None:
    fatal = await _close(context.context) if context.context is not None else None
    return PreExecutionError(data=None, errors=[fatal]) if fatal else None


async def _close(context: Context) -> RequestError | None:
    await context.close()
    return context.fatal


def _unknown(name: str | None) -> str:
    if name is None:
        return "The document has several operations: `operationName` must say which one"
    return f"The document has no operation named {name}"


def _not_here(kind: OperationType) -> OperationRefused:
    if kind is OperationType.MUTATION:
        return OperationRefused("A mutation needs POST: GET changes nothing", 405)
    return OperationRefused("A subscription needs `Accept: text/event-stream`, or a websocket (graphql-transport-ws)")
