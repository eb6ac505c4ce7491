"""What wraps every operation: documents from the cache, a context of its own, and errors that give nothing away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

import strawberry
from graphql import DocumentNode, GraphQLError
from graphql import ExecutionResult as CoreResult
from graphql import OperationType as CoreOperationType
from graphql.execution import Executor
from strawberry.execution import optimized_is_awaitable
from strawberry.extensions.runner import SchemaExtensionsRunner
from strawberry.schema.schema import DEFAULT_ALLOWED_OPERATION_TYPES, StrawberryGraphQLCoreExecutionContext
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.execution import PreExecutionError
from strawberry.types.graphql import OperationType

from resolvers.operation.errors import BadUserInput, RequestError, Unauthenticated, unavailable
from schema.execution.documents import Document, DocumentCache
from schema.execution.errors import present
from schema.execution.live_costs import EventCost
from schema.execution.parameters import Parameters
from schema.execution.plans import PlannedOperation, Planner
from schema.execution.ports import Context
from schema.execution.prepared import Prepared
from schema.execution.results import JsonResult, NoResult
from schema.execution.sharing import Rendering, SharedResult
from store.client.database import MemberGone, Unavailable
from store.settings import Settings

RunByPlan: TypeAlias = Callable[["PerEventExecutor"], Awaitable[dict[str, Any] | None]]

_KINDS = {kind: OperationType(kind.value) for kind in CoreOperationType}  # strawberry's, by graphql-core's


class OperationRefused(BadUserInput):
    """The document is right, but this operation of it cannot be had, or not in this way."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class PerEventExecutor(StrawberryGraphQLCoreExecutionContext):
    """Ends each operation with the check of its session; gives each event of a subscription a fresh context.

    Without a context, as when the schema prints itself, it executes and nothing else. What can run by plan does so.
    """

    run_by_plan: RunByPlan | None = None  # set by the schema: strawberry hands nothing to executors of subscriptions

    def build_per_event_executor(self, payload: Any) -> Executor[Any]:
        """Return the executor of one event: one that shares what it can, or that makes look-ups of its own."""
        context = self.context_value
        if (
            context is None
            or context.selection is None
            or context.relationships is None
            or not context.would_have_heard()
        ):
            # Also where the end of the session may have gone unheard: what is looked up for one viewer checks it.
            return self.own(payload)
        return cast("Executor[Any]", SharedEvent(self, payload))

    def own(self, payload: Any) -> PerEventExecutor:
        """Return the executor of one event for this viewer alone, whose look-ups no other event has made.

        An event that was decided in a context of its own is told from that: what it says comes from one look.
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

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Execute a query, a mutation or one event; where the context has a fatal error, that is the whole result."""
        context = self.context_value
        if context is None:
            return super().execute_operation(serially)
        return self._render(serially)

    async def _render(self, serially: bool | None) -> CoreResult | NoResult:
        if not await self._is_told():
            fatal = await _close(self.context_value)
            return CoreResult(None, [fatal]) if fatal else NoResult()
        data = await self.run_by_plan(self) if self.run_by_plan else None
        if data is not None:
            return await self._conclude(CoreResult(data, None))
        return await self._conclude(super().execute_operation(serially))

    async def _is_told(self) -> bool:
        """Return whether an event that was decided for many is for this viewer, in the context it is told from."""
        is_told = getattr(self.root_value, "is_told", None)
        try:
            return is_told is None or await is_told(self.context_value)
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

    async def execute_operation(self, serially: bool | None = None) -> CoreResult | SharedResult | NoResult:
        """Return the result that all have who would get the same; the viewer's own where they would not.

        Sessions are not checked: who loses theirs loses the connection.
        """
        context, told = self._subscription.context_value, self._told
        key = (told.cursor, type(told), id(context.selection))
        rendering = await context.rendered(key, self._render)
        if rendering is None or not rendering.members.isdisjoint(context.relationships):
            own: CoreResult | SharedResult | NoResult = await context.rendered_now(key, self._render_own)
            if isinstance(own, SharedResult | NoResult):
                return own
            # What has errors is presented to its own client, under its own request.
            return await self._subscription.own(told).execute_operation(serially)  # type: ignore[no-any-return]
        shared: SharedResult = rendering.result
        return shared

    async def _render_own(self) -> CoreResult | SharedResult | NoResult:
        """Return what this viewer alone gets; they may have many subscriptions to the same."""
        context = self._subscription.context_value
        async with context.looks:
            result: CoreResult | NoResult = await self._subscription.own(self._told).execute_operation()
        return result if isinstance(result, NoResult) or result.errors else SharedResult(result.data)

    async def _render(self) -> Rendering | None:
        executor = self._subscription.for_all(self._told)
        load = executor.context_value.load
        result: CoreResult | NoResult = await executor.execute_operation()
        looked_at = load.members
        if (
            result.errors
            or isinstance(result, NoResult)
            or any(u is None or u.is_private or u.is_suspended for u in looked_at.values())
        ):
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
        self._executor_class = execution_context_class
        if self.planner:
            planned = {"run_by_plan": staticmethod(self._run_by_plan)}
            self.execution_context_class = type("Planned", (execution_context_class,), planned)

    def event_cost(self, asked: Parameters) -> EventCost | None:
        """Return what one event of a subscription costs; None for what is no subscription that can begin."""
        document = self.documents.get(asked.query)
        prepared = None if document.errors else document.prepared(asked.operation_name, asked.variables)
        if prepared is None or _KINDS[prepared.operation.operation] is not OperationType.SUBSCRIPTION:
            return None
        return EventCost(prepared.cost, prepared.operation if document.is_shareable else None)

    async def execute(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any = None,
        root_value: Any = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,  # noqa: ARG002  strawberry's callers pass it
    ) -> ExecutionResult:
        """Return the result of a query or mutation; without what strawberry prepares for extensions: there are none."""
        context: Context | None = context_value
        try:
            document = await self.read(query or "", context)
        except RequestError as refusal:
            return ExecutionResult(None, present([refusal], context, operation_name))
        prepared = document.prepared(operation_name, variable_values)
        allowed = allowed_operation_types or DEFAULT_ALLOWED_OPERATION_TYPES
        errors = self._check(document, prepared, operation_name, allowed, context)
        if errors or not prepared:
            return await self._refused(errors, context, operation_name)
        if isinstance(prepared.variables, list):  # of errors: they do not fit
            return await self._refused(prepared.variables, context, operation_name)

        def build() -> Executor[Any]:
            node = cast("DocumentNode", document.node)  # it has an operation
            is_awaitable: Any = optimized_is_awaitable
            executor = self._executor_class.build(
                self._schema, node, root_value, context, variable_values, operation_name, is_awaitable=is_awaitable
            )
            assert not isinstance(executor, list)  # of errors: its variables fit
            return executor

        asked = PlannedOperation(prepared.operation, prepared.variables, root_value, context, build)
        data = await self.planner.run(asked, document.plans) if self.planner and context is not None else None
        if data is not None:
            fatal = await _close(context)
            return ExecutionResult(None, present([fatal], context, operation_name)) if fatal else JsonResult(data)
        outcome: Any = asked.executor.execute_operation()
        result = await outcome if optimized_is_awaitable(outcome) else outcome
        return ExecutionResult(result.data, present(result.errors, context, operation_name) if result.errors else None)

    async def read(self, text: str, context: Context | None) -> Document:
        """Return the document of a query text; a text that is new is read only once its request has been counted.

        Raises RequestError where the limit on requests or the session forbids that. One round trip for a new text.
        """
        document = self.documents.find(text)
        if document is None:
            fatal = await _close(context)
            if fatal:
                raise fatal
            document = self.documents.get(text)
        return document

    async def _refused(
        self, errors: Sequence[GraphQLError], context: Context | None, name: str | None
    ) -> ExecutionResult:
        fatal = await _close(context)
        return ExecutionResult(None, present([fatal] if fatal else errors, context, name))

    async def _prepare_operation_async(
        self,
        context: ExecutionContext,
        extensions_runner: SchemaExtensionsRunner,  # noqa: ARG002  strawberry passes it
    ) -> PreExecutionError | None:
        """Check an operation that comes over a transport of streams."""
        try:
            document = await self.read(context.query or "", context.context)
        except RequestError as refusal:
            return PreExecutionError(data=None, errors=[refusal])
        context.graphql_document = document.node
        name = context._provided_operation_name  # noqa: SLF001  the public one falls back on the first operation
        prepared = document.prepared(name, context.variables)
        errors = self._check(document, prepared, name, context.allowed_operations, context.context)
        begins = prepared is not None and _KINDS[prepared.operation.operation] is OperationType.SUBSCRIPTION
        if errors or begins:
            # A subscription has no end at which its session could be checked, so that happens before it begins.
            fatal = await _close(context.context)
            return PreExecutionError(data=None, errors=[fatal] if fatal else list(errors)) if fatal or errors else None
        return None

    def _check(
        self,
        document: Document,
        prepared: Prepared | None,
        name: str | None,
        allowed: Iterable[OperationType],
        context: Context | None,
    ) -> Sequence[GraphQLError]:
        """Return why an operation cannot be executed; tell its context what it asks for."""
        if context is not None:
            context.fields = document.fields
        if document.errors:
            return document.errors
        if prepared is None:
            return [OperationRefused(_unknown(name))]
        if context is not None and document.is_shareable:
            context.selection = prepared.operation
        kind = _KINDS[prepared.operation.operation]
        if kind not in allowed:
            return [_not_here(kind)]
        too_complex = self.documents.limits.refuse_cost(prepared.cost)
        return [too_complex] if too_complex else []

    async def _run_by_plan(self, executor: PerEventExecutor) -> dict[str, Any] | None:
        assert self.planner is not None
        operation, variables = executor.operation, executor.variable_values
        if not operation.loc:
            return None
        asked = PlannedOperation(operation, variables, executor.root_value, executor.context_value, lambda: executor)
        return await self.planner.run(asked, self.documents.get(operation.loc.source.body).plans)

    async def _handle_execution_result(
        self, context: ExecutionContext, result: Any, extensions_runner: SchemaExtensionsRunner, **options: Any
    ) -> ExecutionResult:
        """Every result comes through here, of whichever transport and however it failed."""
        if isinstance(result, SharedResult | NoResult):
            return result  # as it is for all: it has no errors
        if result.errors:
            result.errors = present(result.errors, context.context, context.operation_name)
        return await super()._handle_execution_result(context, result, extensions_runner, **options)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing: `present` does, once, and only what is the server's fault."""


async def _close(context: Context | None) -> RequestError | None:
    if context is None:
        return None
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
