"""Runs queries by plan: each field once for all objects of a level, where graphql-core takes object after object.

A page of thirty posts with their authors has some three hundred values. What graphql-core does for each of them costs
far more than to fetch it, and depends on the query alone. So it is done once per query text and kept, as a plan:

- A `Selection` is what is asked of the objects of one type, with fragments, aliases and directives resolved. It makes a
  row for each object: a dict whose keys stand in it, in their order, from the beginning.
- A `Field` fills one key of all rows. It takes a column of values, from attributes or resolvers, and has it completed.
  A *batched* resolver gives the whole column at once: it is called with `Parents` in place of one parent.
- What depends on *steady* objects alone, which never change and are met again and again, is kept with the selection.
  Where all else in a row is such rows, booleans and nulls, the whole row is kept, as JSON: data are dicts and lists
  with `msgspec.Raw` in them. Such a row is the same again where what it is made of is the same objects.
- A `Completion` makes results of a column as its type says: leaves are serialised, lists laid end to end and cut again,
  objects sorted by type and handed to a selection of their own, whose rows are the results.
- A `Run` is one attempt. Where resolvers are asynchronous, rows are handed on all the same and filled later. So
  whatever is asked for, on whichever level, begins in the same turn of the event loop, and look-ups can be gathered.

Errors are not handled here. Whatever is unusual - an exception, a null where none may be, a value that does not fit, a
list that is neither list nor tuple - ends the attempt, and graphql-core runs the operation anew: errors, their places
and what becomes null are its own. What has begun is not cancelled then, since others may wait for the same look-ups; it
ends first. A mutation is not done again: what its field has come to is remembered, and graphql-core finds that in place
of the resolver. Several in one operation would have to run one after another, and are left to graphql-core altogether.
Its executor costs as much as a small query by plan, so it is made only where it has to execute, or to tell a resolver
more than the context.

Nothing here knows the schema. It depends on graphql-core, on what strawberry says of its fields, and on JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphql import DirectiveNode, OperationType, VariableNode, Visitor, visit
from graphql.execution import Executor
from graphql.execution.collect_fields import collect_fields

from schema.execution.plans.completion import BY_CLASS
from schema.execution.plans.run import Memory, PlannedOperation, Row, Run
from schema.execution.plans.selection import BATCHED, STEADY, Parents, Selection

__all__ = ["BATCHED", "BY_CLASS", "STEADY", "Parents", "PlannedOperation", "Planner", "Plans"]

PLAN_BYTES = 6_000  # of a plan without its selections, and of the key it has
PLANS_KEPT = 8  # of one document; they differ by operation and by the variables of @skip and @include
ROWS_KEPT = 50_000  # of all plans together, some 600 bytes each


class Planner:
    """Runs operations by plan, and counts how that goes."""

    def __init__(self) -> None:
        self.runs = 0
        self.given_up = 0  # of the runs, those that graphql-core had to end
        self._memory = Memory(ROWS_KEPT)

    async def run(self, asked: PlannedOperation, plans: Plans) -> Row | None:
        """Return the data of an operation; None where graphql-core's executor has to execute it."""
        selection = plans.get(asked)
        if selection is None:
            return None
        run = Run(asked, self._memory)
        data = await run.data(selection.begin)
        self.runs += 1
        if data is None:
            run.hand_over()
        self.given_up += data is None
        return data


class Plans:
    """The plans of one document, each made when it is first needed."""

    def __init__(self, grow: Callable[[int], None] = lambda _: None) -> None:
        """Begin without plans; `grow` is told of the bytes that each one takes, or that are free again."""
        self._tally = _Tally(grow)
        self._plans: dict[object, Selection | None] = {}
        self._directives: dict[str | None, _Directives] = {}  # by the names of operations

    def __len__(self) -> int:
        return len(self._plans)

    def get(self, asked: PlannedOperation) -> Selection | None:
        """Return what an operation selects; None where that cannot be planned."""
        name = asked.operation.name.value if asked.operation.name else None
        directives = self._directives.get(name)
        if directives is None:
            directives = self._directives[name] = _Directives()
            for node in (asked.operation, *asked.executor.fragment_definitions.values()):
                visit(node, directives)
        key = (name, *map(asked.variables.coerced.get, directives.variables))
        if key not in self._plans:
            if len(self._plans) == PLANS_KEPT:
                self._plans.clear()
                self._tally.add(-self._tally.size)
            self._tally.add(PLAN_BYTES)
            self._plans[key] = _plan(asked.executor, self._tally.add) if directives.are_known else None
        return self._plans[key]


class _Tally:
    """Counts the bytes of plans; what plans consist of refers to it, and not to them in a circle."""

    def __init__(self, grow: Callable[[int], None]) -> None:
        self.size = 0
        self._grow = grow

    def add(self, size: int) -> None:
        self.size += size
        self._grow(size)


class _Directives(Visitor):
    """Whether all directives of a document are known, and the variables they depend on."""

    def __init__(self) -> None:
        super().__init__()
        self.are_known = True
        self.variables: dict[str, None] = {}

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        self.are_known &= node.name.value in {"skip", "include"}
        for argument in node.arguments or ():
            if isinstance(argument.value, VariableNode):
                self.variables[argument.value.name.value] = None


def _plan(executor: Executor[Any], grow: Callable[[int], None]) -> Selection | None:
    schema, operation, variables = executor.schema, executor.operation, executor.variable_values
    root = schema.get_root_type(operation.operation)
    try:
        assert root is not None
        fields = collect_fields(schema, executor.fragments, variables, root, operation).grouped_field_set
        selection = Selection(executor, root, fields, grow)
    except Exception:  # noqa: BLE001  graphql-core comes to the same, and says what it is
        return None
    if operation.operation is OperationType.MUTATION:
        selection.have_effects()
        return selection if selection.size == 1 else None  # several would have to run one after another
    return selection
