"""Walks a document once, and makes the checks that need no other part of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeAlias

from graphql import (
    DirectiveLocation,
    DirectiveNode,
    ExecutableDefinitionNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLCompositeType,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableDefinitionNode,
    is_input_type,
    print_ast,
    type_from_ast,
)
from graphql.pyutils import did_you_mean

from schema.execution import flags
from schema.execution.validation.catalogue import Catalogue, CatalogueArguments
from schema.execution.validation.faults import Faults
from schema.execution.validation.values import Usage, Values

Fragments: TypeAlias = Mapping[str, FragmentDefinitionNode]

_LONGEST_TYPO = 40  # characters of a name that gets suggestions, since the search takes quadratic time
_SUGGESTIONS = 5
_SIMILAR = 0.5  # share of two names' characters that they have in common; a lower one would find more, and take longer


@dataclass(slots=True)
class Scope:
    """The variables and fragment spreads of one definition."""

    node: ExecutableDefinitionNode
    usages: list[Usage] = field(default_factory=list)
    spreads: list[FragmentSpreadNode] = field(default_factory=list)


class Walk:
    """Checks definitions one after another, and collects what they use."""

    def __init__(self, catalogue: Catalogue, fragments: Fragments, faults: Faults) -> None:
        self.fragments = fragments
        self.scopes: list[Scope] = []
        self.names: set[str] = set()  # of all fields
        self.flags = flags.ALL  # that each field has
        self.directives: list[DirectiveNode] = []
        self._catalogue = catalogue
        self._faults = faults
        self._values = Values(catalogue, faults)
        self._spreads: list[FragmentSpreadNode] = []

    def definition(self, node: ExecutableDefinitionNode) -> None:
        """Check an operation or a fragment."""
        scope = Scope(node)
        self.scopes.append(scope)
        self._values.usages, self._spreads = scope.usages, scope.spreads
        if isinstance(node, OperationDefinitionNode):
            self._operation(node)
        elif isinstance(node, FragmentDefinitionNode):
            self._directives(node.directives, DirectiveLocation.FRAGMENT_DEFINITION)
            kind = self._condition(node)
            if kind is not None:
                self._selections(node.selection_set, kind)

    def _operation(self, node: OperationDefinitionNode) -> None:
        root = self._catalogue.schema.get_root_type(node.operation)
        if root is None:
            self._faults.add(f"The {node.operation.value} operation is not supported by the schema.", node)
            return
        for definition in node.variable_definitions or ():
            self._variable(definition)
        self._directives(node.directives, DirectiveLocation[node.operation.name])
        self._selections(node.selection_set, root)

    def _variable(self, node: VariableDefinitionNode) -> None:
        self._directives(node.directives, DirectiveLocation.VARIABLE_DEFINITION)
        kind = type_from_ast(self._catalogue.schema, node.type)
        if kind is None:
            self._unknown_type(node)
        elif not is_input_type(kind):
            name, text = node.variable.name.value, print_ast(node.type)
            self._faults.add(f"Variable '${name}' cannot be non-input type '{text}'.", node.type)
        elif node.default_value:
            self._values.check(node.default_value, kind)

    def _unknown_type(self, node: VariableDefinitionNode) -> None:
        name = print_ast(node.type).strip("[]!")
        self._faults.add(f"Unknown type '{name}'." + self._similar(name, list(self._catalogue.types)), node.type)

    def _selections(self, selection_set: SelectionSetNode, parent: GraphQLCompositeType) -> None:
        for selection in selection_set.selections:
            if isinstance(selection, FieldNode):
                self._field(selection, parent)
            elif isinstance(selection, FragmentSpreadNode):
                self._spread(selection, parent)
            elif isinstance(selection, InlineFragmentNode):
                self._inline(selection, parent)

    def _field(self, node: FieldNode, parent: GraphQLCompositeType) -> None:
        name = node.name.value
        self.names.add(name)
        facts = self._catalogue.field(parent, name)
        if facts is None:
            known = list(getattr(parent, "fields", ()))
            self._faults.add(f"Cannot query field '{name}' on type '{parent}'." + self._similar(name, known), node)
            return
        self.flags &= facts.flags
        if node.arguments or facts.parameters.required:
            self._arguments(node, facts.parameters, parent)
        if node.directives:
            self._directives(node.directives, DirectiveLocation.FIELD)
        if facts.named is None:
            if node.selection_set:
                text = f"must not have a selection since type '{facts.type}' has no subfields."
                self._faults.add(f"Field '{name}' {text}", node.selection_set)
        elif node.selection_set is None:
            text = f"must have a selection of subfields. Did you mean '{name} {{ ... }}'?"
            self._faults.add(f"Field '{name}' of type '{facts.type}' {text}", node)
        else:
            self._selections(node.selection_set, facts.named)

    def _arguments(
        self, node: FieldNode | DirectiveNode, declared: CatalogueArguments, parent: GraphQLCompositeType | None = None
    ) -> None:
        name, given = node.name.value, node.arguments or ()
        for argument in given:
            known = declared.of.get(argument.name.value)
            if known is None:
                place = f"field '{parent}.{name}'" if parent else f"directive '@{name}'"
                text = f"Unknown argument '{argument.name.value}' on {place}."
                self._faults.add(text + self._similar(argument.name.value, list(declared.of)), argument)
            else:
                self._values.given(argument.value, known)
        names = {argument.name.value for argument in given}
        if len(names) != len(given):
            twice = _repeated([argument.name.value for argument in given])
            self._faults.add(f"There can be only one argument named '{twice}'.", node)
        for required in declared.required:
            if required not in names:
                what = f"{parent}.{name}({required}:)" if parent else f"@{name}({required}:)"
                if parent and name == "__type":
                    what = f"<meta>.{name}({required}:)"
                kind = declared.of[required].type
                self._faults.add(f"Argument '{what}' of type '{kind}' is required, but it was not provided.", node)

    def _directives(self, nodes: Sequence[DirectiveNode] | None, place: DirectiveLocation) -> None:
        seen: set[str] = set()
        for node in nodes or ():
            self.directives.append(node)
            name = node.name.value
            directive, declared = self._catalogue.directives.get(name, (None, None))
            if directive is None or declared is None:
                self._faults.add(f"Unknown directive '@{name}'.", node)
                continue
            if place not in directive.locations:
                self._faults.add(f"Directive '@{name}' may not be used on {place.value}.", node)
            if name in seen and not directive.is_repeatable:
                self._faults.add(f"The directive '@{name}' can only be used once at this location.", node)
            seen.add(name)
            self._arguments(node, declared)

    def _inline(self, node: InlineFragmentNode, parent: GraphQLCompositeType) -> None:
        if node.directives:
            self._directives(node.directives, DirectiveLocation.INLINE_FRAGMENT)
        kind = self._condition(node) if node.type_condition else parent
        if kind is None:
            return
        if not self._catalogue.overlap(kind, parent):
            text = f"Fragment cannot be spread here as objects of type '{parent}' can never be of type '{kind}'."
            self._faults.add(text, node)
        self._selections(node.selection_set, kind)

    def _spread(self, node: FragmentSpreadNode, parent: GraphQLCompositeType) -> None:
        name = node.name.value
        self._spreads.append(node)
        if node.directives:
            self._directives(node.directives, DirectiveLocation.FRAGMENT_SPREAD)
        fragment = self.fragments.get(name)
        if fragment is None:
            self._faults.add(f"Unknown fragment '{name}'.", node.name)
            return
        kind = self._catalogue.condition(fragment)
        if kind is not None and not self._catalogue.overlap(kind, parent):
            text = f"cannot be spread here as objects of type '{parent}' can never be of type '{kind}'."
            self._faults.add(f"Fragment '{name}' {text}", node)

    def _condition(self, node: InlineFragmentNode | FragmentDefinitionNode) -> GraphQLCompositeType | None:
        kind = self._catalogue.condition(node)
        if kind is None and node.type_condition:
            name = node.type_condition.name.value
            if name in self._catalogue.types:
                what = f"Fragment '{node.name.value}'" if isinstance(node, FragmentDefinitionNode) else "Fragment"
                self._faults.add(f"{what} cannot condition on non composite type '{name}'.", node.type_condition)
            else:
                similar = self._similar(name, list(self._catalogue.types))
                self._faults.add(f"Unknown type '{name}'.{similar}", node.type_condition)
        return kind

    def _similar(self, name: str, known: Sequence[str]) -> str:
        """Return a suggestion ("Did you mean …?"); "" for long names and after a document's first error."""
        if self._faults.errors or len(name) > _LONGEST_TYPO:
            return ""
        return did_you_mean(get_close_matches(name, known, _SUGGESTIONS, _SIMILAR))


def _repeated(names: Sequence[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])
