"""Runs operations by plan. One attempt awaits resolvers, and notes whether it was given up."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from types import CoroutineType, GeneratorType
from typing import Any, TypeAlias

from graphql import GraphQLResolveInfo, OperationDefinitionNode
from graphql.execution import Executor, MiddlewareManager
from graphql.execution.values import VariableValues
from graphql.pyutils import Path, UndefinedType
from strawberry.execution import optimized_is_awaitable

from schema.execution.plans.rows import Row, Rows

Resolve: TypeAlias = "Callable[[Any, GraphQLResolveInfo[Any]], Any]"
Then: TypeAlias = Callable[[list[Any]], None]
_Step: TypeAlias = tuple[list[Any], list[int], Then]  # values, the places of the awaitable ones, and the callback
Paths: TypeAlias = Callable[[], Sequence[Path | None]]  # of a column; built only where they are needed
Begin: TypeAlias = "Callable[[Run, list[Any], Paths], list[Row]]"  # of the root selection of a plan


class Unusual(Exception):
    """Ends an attempt; graphql-core runs the operation instead."""


class _Rest:
    """A coroutine that has run up to its first wait. Awaiting this goes on there."""

    def __init__(self, begun: Coroutine[Any, Any, Any], awaited: Any) -> None:
        self._begun = begun
        self._awaited = awaited  # what the event loop has to wait for

    def __await__(self) -> Generator[Any, Any, Any]:
        awaited = self._awaited
        while True:
            try:
                sent = yield awaited
            except BaseException as error:  # noqa: BLE001  the coroutine's own, as a cancellation is
                step = partial(self._begun.throw, error)
            else:
                step = partial(self._begun.send, sent)
            try:
                awaited = step()
            except StopIteration as end:
                return end.value

    def close(self) -> None:
        """End the coroutine where it waits."""
        self._begun.close()


def begun(value: Any) -> Any:
    """Return the result of a coroutine that has nothing to wait for, else an awaitable of it; other values as they are.

    Most batched resolvers find all they need loaded. Then nothing has to be awaited.
    """
    if not isinstance(value, CoroutineType):
        return value
    try:
        return _Rest(value, value.send(None))
    except StopIteration as end:
        return end.value


class PlannedOperation:
    """An operation with its variables, root value and context."""

    def __init__(
        self,
        operation: OperationDefinitionNode,
        variables: VariableValues,
        root: Any,
        context: Any,
        build: Callable[[], Executor[Any]],
    ) -> None:
        self.operation = operation
        self.variables = variables
        self.root = root
        self.context = context
        self._build = build

    @cached_property
    def executor(self) -> Executor[Any]:
        """Graphql-core's executor of the operation. Making it costs as much as running a small operation by plan."""
        return self._build()


class Planner:
    """Runs operations by plan, and counts the runs and those given up."""

    def __init__(self, rows: Rows | None = None) -> None:
        """Keep rows of records there; None keeps none."""
        self.rows = rows
        self.runs = 0
        self.given_up = 0  # Runs that graphql-core had to end.

    async def run(self, asked: PlannedOperation, begin: "Begin") -> Row | None:
        """Return the data of an operation whose plan begins so, or None where graphql-core has to execute it."""
        run = Run(asked, self.rows)
        data = await run.data(begin)
        self.runs += 1
        if data is None:
            run.hand_over()
        self.given_up += data is None
        return data


class Run:
    """One attempt to run an operation by plan."""

    def __init__(self, asked: PlannedOperation, rows: Rows | None) -> None:
        self.asked = asked
        self.rows = rows
        self._done: dict[str, Any] = {}  # outcomes of fields with effects, by key
        self._alone: _Step | None = None  # the step with the only awaitable, which needs no task
        self._waiting: set[asyncio.Future[Any]] = set()  # the tasks, where there are several awaitables
        self._all_came: asyncio.Future[None] | None = None
        self._is_given_up = False

    async def data(self, begin: "Begin") -> Row | None:
        """Return the row of the root value, or None where the attempt was given up.

        When this is cancelled, it cancels all resolvers that it began.
        """
        rows = self._attempt(begin, self, [self.asked.root], lambda: [None])
        while self._alone or self._waiting:
            if self._alone:
                await self._follow(*self._alone)
            else:
                await self._all()
        return None if self._is_given_up else rows[0]

    async def _follow(self, taken: list[Any], places: list[int], then: Then) -> None:
        """Await the only awaitable, without a task."""
        self._alone = None
        (place,) = places
        try:
            taken[place] = await taken[place]
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self._is_given_up = True  # the awaitable was cancelled, not this task
        except Exception as error:  # noqa: BLE001  `is_odd` tells an exception from a result
            taken[place] = error
        self._go_on(taken, then)

    async def _all(self) -> None:
        """Await several awaitables, and those that follow from them, until at most one is left."""
        self._all_came = asyncio.get_running_loop().create_future()
        try:
            await self._all_came
        except asyncio.CancelledError:
            self._is_given_up = True
            close(self._alone[0] if self._alone else ())
            waiting = list(self._waiting)
            for future in waiting:
                future.cancel()
            if waiting:
                await asyncio.wait(waiting)
            raise

    def once(self, key: str, resolve: Resolve) -> Resolve:
        """Return a resolver whose outcome is remembered, so that its effects happen only once."""

        def begin(one: Any, info: GraphQLResolveInfo[Any]) -> Any:
            try:
                value = resolve(one, info)
            except Exception as error:
                self._done[key] = error
                raise
            if optimized_is_awaitable(value):
                return self._end(key, value)
            self._done[key] = value
            return value

        return begin

    async def _end(self, key: str, coming: Awaitable[Any]) -> Any:
        try:
            value = self._done[key] = await coming
        except BaseException as error:  # a cancelled resolver may have had its effect too
            self._done[key] = error
            raise
        return value

    def hand_over(self) -> None:
        """Make graphql-core, which executes the operation next, use the remembered outcomes of fields with effects."""
        done = self._done

        def remember(resolve: Callable[..., Any], one: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
            if info.path.prev is not None or info.path.key not in done:
                return resolve(one, info, **arguments)
            value = done[info.path.key]
            if isinstance(value, BaseException):
                raise value
            return value

        if done:
            self.asked.executor.middleware_manager = MiddlewareManager(remember)

    def take(self, values: Iterable[Any], then: Then) -> None:
        """Call a callback with the values that resolvers return, once all awaitable ones have finished."""
        taken: list[Any] = []
        waiting: list[int] = []
        try:
            taken.extend(values)
            if any(map(is_odd, set(map(type, taken)))):
                waiting = [place for place, value in enumerate(taken) if optimized_is_awaitable(value)]
            if not waiting:
                then(taken)
        except Exception:
            close(taken)
            raise
        if waiting:
            self._await(taken, waiting, then)

    def _await(self, taken: list[Any], places: list[int], then: Then) -> None:
        if len(places) == 1 and not self._waiting and not self._alone:
            self._alone = taken, places, then
            return
        alone, self._alone = self._alone, None
        for step in (alone, (taken, places, then)):
            if step:
                self._begin(*step)

    def _begin(self, taken: list[Any], places: list[int], then: Then) -> None:
        begun = [asyncio.ensure_future(taken[place]) for place in places]
        future = begun[0] if len(begun) == 1 else asyncio.gather(*begun, return_exceptions=True)
        self._waiting.add(future)
        future.add_done_callback(partial(self._came, taken, places, then))

    def _came(self, taken: list[Any], places: list[int], then: Then, future: asyncio.Future[Any]) -> None:
        self._waiting.discard(future)
        self._is_given_up |= future.cancelled()
        if not future.cancelled():
            came = [future.exception() or future.result()] if len(places) == 1 else future.result()
            for place, value in zip(places, came, strict=True):
                taken[place] = value
            self._go_on(taken, then)
        if not self._waiting and self._all_came and not self._all_came.done():
            self._all_came.set_result(None)

    def _go_on(self, taken: list[Any], then: Then) -> None:
        if not self._is_given_up:
            self._attempt(then, taken)
        if self._is_given_up:
            close(taken)

    def _attempt(self, step: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return step(*arguments)
        except Exception:  # noqa: BLE001  graphql-core raises the same error, and reports it
            self._is_given_up = True


@lru_cache
def is_odd(kind: type) -> bool:
    """Return whether values of a class cannot be results: exceptions, Undefined, generators and awaitables."""
    return issubclass(kind, (BaseException, UndefinedType, CoroutineType, GeneratorType)) or hasattr(kind, "__await__")


def close(values: Iterable[Any]) -> None:
    """Close the coroutines among values, nested lists included, that nothing will await."""
    for value in values:
        if isinstance(value, (list, tuple)):
            close(value)
        elif isinstance(value, _Rest) or (
            inspect.iscoroutine(value) and inspect.getcoroutinestate(value) == inspect.CORO_CREATED
        ):
            value.close()
