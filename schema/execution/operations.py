"""The schema under limits: checks each operation before it runs, and presents its errors."""

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
import strawberry
from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLObjectType,
    OperationDefinitionNode,
    introspection_types,
)
from graphql import OperationType as CoreOperationType
from graphql.execution import Executor
from strawberry.execution import optimized_is_awaitable
from strawberry.extensions.runner import SchemaExtensionsRunner
from strawberry.schema.schema import DEFAULT_ALLOWED_OPERATION_TYPES
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.execution import PreExecutionError
from strawberry.types.graphql import OperationType

from resolvers.process.errors import BadUserInput, RequestError
from schema.execution.documents import Document, DocumentCache, Prepared
from schema.execution.encoding import JsonResult, NoResult
from schema.execution.errors import present
from schema.execution.executor import EventRenderer, PerEventExecutor, close
from schema.execution.live_costs import EventCost
from schema.execution.parameters import Parameters, PersistedDocuments, read_manifest
from schema.execution.plans import PlannedOperation, Planner, Plans, Rows
from schema.execution.ports import Context
from schema.execution.validation.catalogue import is_one_of
from store.settings import Settings

MIB = 1_048_576

_KINDS = {kind: OperationType(kind.value) for kind in CoreOperationType}  # strawberry's, by graphql-core's


class OperationRefused(BadUserInput):
    """The document is right, but this operation of it cannot be had, or not in this way."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Schema(strawberry.Schema):
    """A schema under limits; takes what strawberry's own takes. Extensions see no parsing and no validation."""

    def __init__(
        self, *, settings: Settings, execution_context_class: type[Executor[Any]] = PerEventExecutor, **declared: Any
    ) -> None:
        super().__init__(execution_context_class=execution_context_class, **declared)
        self.documents = DocumentCache(self._schema, settings)
        manifest = settings.trusted_documents
        self.persisted = PersistedDocuments(
            self.documents, read_manifest(Path(manifest), self.documents) if manifest else None
        )
        rows = Rows(settings.rows_kept_mib * MIB) if settings.rows_kept_mib and settings.records_kept else None
        self.planner = Planner(rows) if settings.fast_execution else None
        introspecting = {"introspection": self.documents.introspection}
        self._executor_class: type[Executor[Any]] = type("Introspecting", (execution_context_class,), introspecting)
        self.execution_context_class = self._executor_class
        if self.planner:
            planned = {"run_by_plan": staticmethod(self._run_by_plan)}
            self.execution_context_class = type("Planned", (self._executor_class,), planned)

    def _extend_introspection(self) -> None:
        """Answer `isOneOf` of every type. Strawberry's own resolver fails for lists and non-null types."""
        cast("GraphQLObjectType", introspection_types["__Type"]).fields["isOneOf"].resolve = _is_one_of

    def event_cost(self, asked: Parameters) -> EventCost | None:
        """Return what one event of a subscription costs; None for what is no subscription that can begin."""
        document = self.documents.get(asked.query)
        is_refused = document.errors or self.documents.limits.refuse_variables(asked.variables)
        prepared = None if is_refused else document.prepared(asked.operation_name, asked.variables)
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
        allowed = allowed_operation_types or DEFAULT_ALLOWED_OPERATION_TYPES
        prepared = self._prepare(document, operation_name, variable_values, allowed, context)
        if not isinstance(prepared, Prepared):
            return await self._refused(prepared, context, operation_name)
        variables = prepared.variables
        if isinstance(variables, list):  # of errors: they do not fit
            return await self._refused(variables, context, operation_name)
        key = None if self.planner is None else prepared.key
        if key is not None and context is not None:
            known = await context.recall(key)
            if known is not None:
                return JsonResult(known)
        build = partial(self._executor, document, root_value, context, variable_values, operation_name)
        asked = PlannedOperation(prepared.operation, variables, root_value, context, build)
        return await self._run(asked, document.plans, operation_name, key)

    async def _run(
        self, asked: PlannedOperation, plans: Plans, name: str | None, key: Hashable | None
    ) -> ExecutionResult:
        """Return the result of an operation by its plan, or without where it has none."""
        context: Context | None = asked.context
        data = None
        if context is not None and self.planner is not None and (plan := plans.get(asked)):
            data = await self.planner.run(asked, plan.begin)
        if data is None or context is None:
            return await self._run_without_plan(asked, context, name)
        if fatal := await close(context):
            return ExecutionResult(None, present([fatal], context, name))
        result = JsonResult.of(data)
        if key is not None:
            context.remember(result.json)
        return result

    async def _run_without_plan(
        self, asked: PlannedOperation, context: Context | None, name: str | None
    ) -> ExecutionResult:
        outcome: Any = asked.executor.execute_operation()
        result = await outcome if optimized_is_awaitable(outcome) else outcome
        if getattr(asked.executor, "has_introspected", False) and not result.errors:
            return JsonResult.of(result.data)
        return ExecutionResult(result.data, present(result.errors, context, name) if result.errors else None)

    def _executor(
        self, document: Document, root: Any, context: Context | None, variables: dict[str, Any] | None, name: str | None
    ) -> Executor[Any]:
        node = cast("DocumentNode", document.node)  # it has an operation
        is_awaitable: Any = optimized_is_awaitable
        executor = self._executor_class.build(
            self._schema, node, root, context, variables, name, is_awaitable=is_awaitable
        )
        assert not isinstance(executor, list)  # of errors: its variables fit
        return executor

    async def find(self, asked: Parameters, context: Context | None) -> tuple[Parameters, Document]:
        """Return what a client asks for with the text of its document, which it may only have named, and the document.

        Raises RequestError where there is no such document, or as `read` does. One round trip for a new text.
        """
        text = self.persisted.text(asked)
        document = await self.read(text, context)
        if asked.document_id is None:
            return asked, document
        if not document.errors:
            self.persisted.register(asked, text)
        return msgspec.structs.replace(asked, query=text), document

    async def read(self, text: str, context: Context | None) -> Document:
        """Return the document of a query text; a text that is new is read only once its request has been counted.

        Raises RequestError where the limit on requests or the session forbids that. One round trip for a new text.
        """
        document = self.documents.find(text)
        if document is None:
            fatal = await close(context)
            if fatal:
                raise fatal
            document = self.documents.get(text)
        return document

    def known_operation(self, asked: Parameters) -> OperationDefinitionNode | None:
        """Return what a client asks for, None unless its document has been parsed before and is right."""
        try:
            document = self.documents.find(self.persisted.text(asked))
        except RequestError:
            return None
        return document.operation(asked.operation_name) if document else None

    def explain(self, operation: OperationDefinitionNode) -> list[str]:
        """Return the steps of an operation's plan; none where graphql-core executes it."""
        document = self.documents.find(operation.loc.source.body) if operation.loc else None
        return document.plans.explain(operation) if document else []

    async def _refused(
        self, errors: Sequence[GraphQLError], context: Context | None, name: str | None
    ) -> ExecutionResult:
        fatal = await close(context)
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
        prepared = self._prepare(document, name, context.variables, context.allowed_operations, context.context)
        errors: Sequence[GraphQLError] = []
        if not isinstance(prepared, Prepared):
            errors = prepared
        elif _KINDS[prepared.operation.operation] is not OperationType.SUBSCRIPTION:
            return None
        elif document.is_shareable and context.context is not None:
            context.context.renderer = self._renderer(document, prepared, context.variables, name)
        # A subscription has no end at which its session could be checked, so that happens before it begins.
        fatal = await close(context.context)
        errors = [fatal] if fatal else list(errors)
        return PreExecutionError(data=None, errors=errors) if errors else None

    def _renderer(
        self, document: Document, prepared: Prepared, variables: dict[str, Any] | None, name: str | None
    ) -> EventRenderer:
        def build() -> PerEventExecutor:
            node = cast("DocumentNode", document.node)
            executor = self.execution_context_class.build(self._schema, node, None, None, variables, name)
            return cast("PerEventExecutor", executor)  # and no errors, because its variables fit

        return EventRenderer(prepared.operation, build)

    def _prepare(
        self,
        document: Document,
        name: str | None,
        variables: dict[str, Any] | None,
        allowed: Iterable[OperationType],
        context: Context | None,
    ) -> Prepared | Sequence[GraphQLError]:
        """Return an operation, or why it cannot be executed; tell its context what it asks for."""
        limits = self.documents.limits
        if too_many := limits.refuse_variables(variables):
            return [too_many]
        if context is not None:
            context.fields = document.fields
        if document.errors:
            return document.errors
        prepared = document.prepared(name, variables)
        if prepared is None:
            return [OperationRefused(_unknown(name))]
        kind = _KINDS[prepared.operation.operation]
        if kind not in allowed:
            return [_not_here(kind)]
        is_anonymous = context is not None and context.claims is None
        too_complex = limits.refuse_cost(prepared.cost, is_anonymous=is_anonymous)
        return [too_complex] if too_complex else prepared

    async def _run_by_plan(self, executor: PerEventExecutor) -> dict[str, Any] | None:
        assert self.planner is not None
        operation, variables = executor.operation, executor.variable_values
        if not operation.loc:
            return None
        asked = PlannedOperation(operation, variables, executor.root_value, executor.context_value, lambda: executor)
        plan = self.documents.get(operation.loc.source.body).plans.get(asked)
        return await self.planner.run(asked, plan.begin) if plan else None

    async def _handle_execution_result(
        self, context: ExecutionContext, result: Any, extensions_runner: SchemaExtensionsRunner, **options: Any
    ) -> ExecutionResult:
        """Every result comes through here, of whichever transport and however it failed."""
        if isinstance(result, JsonResult | NoResult):
            return result  # it has no errors
        if result.errors:
            result.errors = present(result.errors, context.context, context.operation_name)
        return await super()._handle_execution_result(context, result, extensions_runner, **options)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing: `present` does, once, and only what is the server's fault."""


def _is_one_of(kind: object, _: object) -> bool | None:
    return is_one_of(kind) if isinstance(kind, GraphQLInputObjectType) else None


def _unknown(name: str | None) -> str:
    if name is None:
        return "The document has several operations: `operationName` must say which one"
    return f"The document has no operation named {name}"


def _not_here(kind: OperationType) -> OperationRefused:
    if kind is OperationType.MUTATION:
        return OperationRefused("A mutation needs POST: GET changes nothing", 405)
    return OperationRefused("A subscription needs `Accept: text/event-stream`, or a websocket (graphql-transport-ws)")
