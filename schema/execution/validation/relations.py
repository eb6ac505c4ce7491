"""Checks the definitions of a document against each other: names, cycles, unused fragments, variables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    NameNode,
    NonNullTypeNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    VariableDefinitionNode,
    type_from_ast,
)
from graphql.validation.rules.variables_in_allowed_position import allowed_variable_usage

from schema.execution.validation.catalogue import Catalogue
from schema.execution.validation.faults import Faults, ValidationWork
from schema.execution.validation.values import Usage
from schema.execution.validation.walk import Scope


class DocumentRelations:
    """Checks the definitions of one document against each other. Each must be valid by itself."""

    def __init__(
        self,
        catalogue: Catalogue,
        document: DocumentNode,
        scopes: Sequence[Scope],
        faults: Faults,
        work: ValidationWork,
    ) -> None:
        self._schema = catalogue.schema
        self._document = document
        self._operations = [(one, one.node) for one in scopes if isinstance(one.node, OperationDefinitionNode)]
        self._fragments = [(one, one.node) for one in scopes if isinstance(one.node, FragmentDefinitionNode)]
        self._scopes = {node.name.value: scope for scope, node in self._fragments}
        self._faults = faults
        self._work = work

    def check(self) -> None:
        """Run all checks, and report the errors."""
        self._names()
        self._cycles()
        if self._faults.errors:
            return
        used: set[str] = set()
        for scope, node in self._operations:
            reached = self._reached(scope)
            used.update(reached)
            self._variables(node, [scope, *(self._scopes[name] for name in reached)])
            if node.operation is OperationType.SUBSCRIPTION:
                self._subscription(node)
        for _, fragment in self._fragments:
            if fragment.name.value not in used:
                self._faults.add(f"Fragment '{fragment.name.value}' is never used.", fragment)

    def _names(self) -> None:
        self._unique("operation", [node.name for _, node in self._operations if node.name])
        self._unique("fragment", [node.name for _, node in self._fragments])
        if len(self._operations) > 1:
            for _, node in self._operations:
                if not node.name:
                    self._faults.add("This anonymous operation must be the only defined operation.", node)

    def _unique(self, what: str, names: Sequence[NameNode], prefix: str = "") -> None:
        seen: dict[str, NameNode] = {}
        for name in names:
            if name.value in seen:
                message = f"There can be only one {what} named '{prefix}{name.value}'."
                self._faults.add(message, seen[name.value], name)
            seen.setdefault(name.value, name)

    # ------------------------------------------------------------ fragments

    def _cycles(self) -> None:
        """Report fragments that spread themselves. There is no recursion, since chains may be long."""
        done: set[str] = set()
        for start in self._scopes:
            path: dict[str, Iterator[FragmentSpreadNode]] = {}
            if start not in done:
                path[start] = iter(self._scopes[start].spreads)
            while path:
                name, spreads = next(reversed(path.items()))
                spread = next(spreads, None)
                if spread is None:
                    done.add(name)
                    del path[name]
                elif spread.name.value in path:
                    self._cycle(spread, list(path))
                elif spread.name.value not in done:
                    path[spread.name.value] = iter(self._scopes[spread.name.value].spreads)

    def _cycle(self, spread: FragmentSpreadNode, path: list[str]) -> None:
        via = ", ".join(f"'{name}'" for name in path[path.index(spread.name.value) + 1 :])
        message = f"Cannot spread fragment '{spread.name.value}' within itself"
        self._faults.add(message + (f" via {via}." if via else "."), spread)

    def _reached(self, scope: Scope) -> dict[str, None]:
        """Return the names of all fragments that an operation spreads, directly or through other fragments."""
        found: dict[str, None] = {}
        waiting = [scope]
        while waiting:
            spreads = waiting.pop().spreads
            self._work.spend(len(spreads))
            for spread in spreads:
                if spread.name.value not in found:
                    found[spread.name.value] = None
                    waiting.append(self._scopes[spread.name.value])
        return found

    # ------------------------------------------------------------ variables

    def _variables(self, operation: OperationDefinitionNode, scopes: Sequence[Scope]) -> None:
        definitions = {one.variable.name.value: one for one in operation.variable_definitions or ()}
        self._unique("variable", [one.variable.name for one in operation.variable_definitions or ()], "$")
        types: dict[str, Any] = {name: type_from_ast(self._schema, one.type) for name, one in definitions.items()}
        where = f" by operation '{operation.name.value}'" if operation.name else ""
        used: set[str] = set()
        for scope in scopes:
            self._work.spend(len(scope.usages))
            for usage in scope.usages:
                name = usage.node.name.value
                used.add(name)
                if name not in definitions:
                    self._faults.add(f"Variable '${name}' is not defined{where}.", usage.node, operation)
                else:
                    self._position(usage, definitions[name], types)
        for name, definition in definitions.items():
            if name not in used:
                where = f" in operation '{operation.name.value}'" if operation.name else ""
                self._faults.add(f"Variable '${name}' is never used{where}.", definition)

    def _position(self, usage: Usage, definition: VariableDefinitionNode, types: Mapping[str, Any]) -> None:
        name = usage.node.name.value
        kind = types[name]
        if kind is None:
            return
        if usage.type and not allowed_variable_usage(
            self._schema, kind, definition.default_value, usage.type, usage.default
        ):
            message = f"Variable '${name}' of type '{kind}' used in position expecting type '{usage.type}'."
            self._faults.add(message, definition, usage.node)
        if usage.one_of and not isinstance(definition.type, NonNullTypeNode):
            rule = f"must be non-nullable to be used for OneOf Input Object '{usage.one_of}'."
            self._faults.add(f"Variable '${name}' is of type '{kind}' but {rule}", definition, usage.node)

    # ------------------------------------------------------------ subscriptions

    def _subscription(self, operation: OperationDefinitionNode) -> None:
        """Check that a subscription selects one field, directly or in fragments."""
        what = f"Subscription '{operation.name.value}'" if operation.name else "Anonymous Subscription"
        keys: dict[str, FieldNode] = {}
        sets, seen = [operation.selection_set], set[str]()
        while sets:
            if not self._top_level(sets, seen, keys):
                rule = "must not use `@skip` or `@include` directives in the top level selection."
                self._faults.add(f"{what} {rule}", operation)
                return
        if not keys:
            self._faults.add(f"{what} must select one top level field.", operation.selection_set)
        elif len(keys) > 1:
            self._faults.add(f"{what} must select only one top level field.", *list(keys.values())[1:2])
        for node in keys.values():
            if node.name.value.startswith("__"):
                self._faults.add(f"{what} must not select an introspection top level field.", node)

    def _top_level(self, sets: list[SelectionSetNode], seen: set[str], keys: dict[str, FieldNode]) -> bool:
        """Collect the fields of one selection set, and return whether none of it depends on a variable."""
        selections = sets.pop().selections
        self._work.spend(len(selections))
        for selection in selections:
            if selection.directives:
                return False
            if isinstance(selection, FieldNode):
                keys.setdefault((selection.alias or selection.name).value, selection)
            elif isinstance(selection, FragmentSpreadNode):
                if selection.name.value not in seen:
                    seen.add(selection.name.value)
                    fragment = self._scopes[selection.name.value].node
                    assert isinstance(fragment, FragmentDefinitionNode)
                    sets.append(fragment.selection_set)
            else:
                sets.append(selection.selection_set)  # type: ignore[attr-defined]
        return True
