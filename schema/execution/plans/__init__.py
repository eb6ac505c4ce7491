"""A compiled executor: it runs each field once for all objects of a level, not once per object as graphql-core does.

A page of thirty posts with their authors has some three hundred values. For each value, graphql-core repeats work that
depends on the query alone, and that costs far more than fetching the value. Here that work is done once per query text,
and its result is cached as a plan:

- A `Selection` holds the fields of one object type, with fragments, aliases and directives resolved. It makes a row for
  each object. A row is a dict that has all its keys, in order, from the beginning.
- A `Field` fills one key of all rows. It reads a column of values from attributes or resolvers, and completes it. A
  *batched* resolver returns the whole column at once: it is called with `Parents` in place of one parent.
- A `Completion` turns a column of values into results of its type. Leaves are serialised. Lists are joined into one
  column, completed, and split again. Objects are grouped by type, and each group goes to a selection of its own.
- A `Run` is one attempt. Rows are returned before asynchronous resolvers have finished, and are filled later. So all
  resolvers, of every level, begin in the same turn of the event loop, and data loaders can batch their reads.

Errors are not handled here. An exception ends the attempt. So does a null in a non-null place, a value of the wrong
type, or a list that is neither `list` nor `tuple`. Then graphql-core runs the operation from the beginning, and
decides the errors, their paths, and what becomes null. Resolvers that have begun finish first. They are not cancelled,
since others may wait for the same reads.

A mutation never runs twice. The run remembers the outcome of its field, and graphql-core gets that in place of the
resolver. Several mutations in one operation must run one after another, so graphql-core runs the whole operation.

Making graphql-core's executor costs as much as running a small query by plan. So it is made only where it has to
execute, or where a resolver asks for more than the context.

Nothing here knows Perch's schema. This package depends on graphql-core, on strawberry's field definitions and on JSON.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from graphql import DirectiveNode, OperationDefinitionNode, OperationType, VariableNode
from graphql.execution import Executor
from graphql.execution.collect_fields import collect_fields

from schema.execution.plans.resolving import FORWARD, Forward
from schema.execution.plans.rows import Rows
from schema.execution.plans.run import PlannedOperation, Planner
from schema.execution.plans.selection import BATCHED, BY_CLASS, IS_KEPT, Parents, Selection
from schema.execution.weights import WeighedCache, Weight

__all__ = [
    "BATCHED",
    "BY_CLASS",
    "FORWARD",
    "IS_KEPT",
    "Forward",
    "Parents",
    "PlannedOperation",
    "Planner",
    "Plans",
    "Rows",
]

PLAN_BYTES = 6_000  # Bytes of a plan and its key, without its selections.
PLANS_KEPT = 8  # Plans of one document. The key is the operation and the variables of @skip and @include.

_PLANNED = frozenset({"skip", "include"})  # Directives that plans know.


class Plans:
    """The plans of one document, each made when it is first needed."""

    def __init__(self, directives: Sequence[DirectiveNode], weight: Weight) -> None:
        """Begin without plans. They depend on the document's directives, and count towards a weight."""
        arguments = chain.from_iterable(one.arguments or () for one in directives)
        values = [one.value for one in arguments]
        self._are_known = all(one.name.value in _PLANNED for one in directives)
        self._variables = list(dict.fromkeys(one.name.value for one in values if isinstance(one, VariableNode)))
        self._plans: WeighedCache[tuple[object, ...], Selection | None] = WeighedCache(PLANS_KEPT, weight)

    def __len__(self) -> int:
        return len(self._plans)

    def get(self, asked: PlannedOperation) -> Selection | None:
        """Return the plan of an operation, which is its root selection; None where it cannot be planned."""
        name = asked.operation.name.value if asked.operation.name else None
        key = (name, *map(asked.variables.coerced.get, self._variables))
        if key not in self._plans:
            self._plans.make_room(PLAN_BYTES)
            self._plans[key] = _plan(asked.executor, self._plans.weight) if self._are_known else None
        return self._plans[key]

    def explain(self, operation: OperationDefinitionNode) -> list[str]:
        """Return the fields whose values are not attributes, in the plans of an operation that have run."""
        name = operation.name.value if operation.name else None
        plans = [plan for key, plan in self._plans.items() if plan and key[0] == name]
        return list(dict.fromkeys(step for plan in plans for step in plan.steps()))


def _plan(executor: Executor[Any], weight: Weight) -> Selection | None:
    schema, operation, variables = executor.schema, executor.operation, executor.variable_values
    root = schema.get_root_type(operation.operation)
    try:
        assert root is not None
        fields = collect_fields(schema, executor.fragments, variables, root, operation).grouped_field_set
        selection = Selection(executor, root, fields, weight)
    except Exception:  # noqa: BLE001  graphql-core raises the same error, and reports it
        return None
    if operation.operation is OperationType.MUTATION:
        selection.have_effects()
        return selection if selection.size == 1 else None  # several mutations must run one after another
    return selection
