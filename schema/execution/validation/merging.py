"""Checks that fields with the same response name can be merged (specification, §5.3.2).

The specification compares each field with each other one. Here fields are grouped by response name, and each group is
visited once. The algorithm is Sangria's: Simon Adameit, "Overlapping fields can be merged fast". It makes two passes.
In the first, all fields of one response name must have one shape. In the second, the fields that one object can have
must be the same field with the same arguments.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLCompositeType,
    GraphQLObjectType,
    InlineFragmentNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
)

from schema.execution.validation.catalogue import Catalogue, FieldFacts
from schema.execution.validation.faults import Faults, ValidationWork


class PlacedField(NamedTuple):
    """A field with its parent type."""

    parent: GraphQLCompositeType
    node: FieldNode
    facts: FieldFacts


Sets: TypeAlias = Sequence[tuple[GraphQLCompositeType, SelectionSetNode]]


class Merging:
    """Checks the operations of one valid document whose fragments have no cycles."""

    def __init__(
        self,
        catalogue: Catalogue,
        fragments: Mapping[str, FragmentDefinitionNode],
        faults: Faults,
        work: ValidationWork,
    ) -> None:
        self._catalogue = catalogue
        self._fragments = fragments
        self._faults = faults
        self._work = work
        self._calls: dict[int, object] = {}  # arguments of fields, by id(node)
        self._done: set[tuple[bool, frozenset[int]]] = set()  # merged selection sets, likewise by id

    def check(self, root: GraphQLCompositeType, selection_set: SelectionSetNode) -> None:
        """Report the fields of an operation that cannot be merged."""
        for by_object in (False, True):
            waiting: list[Sets] = [[(root, selection_set)]]
            while waiting:
                sets = waiting.pop()
                key = (by_object, frozenset([id(one) for _, one in sets]))
                if key in self._done:
                    continue
                self._done.add(key)
                for fields in self._grouped(sets).values():
                    waiting += self._merge(fields, by_object=by_object)

    def _merge(self, fields: list[PlacedField], *, by_object: bool) -> Iterator[Sets]:
        """Check fields of one response name, and yield the selection sets below them that must be merged."""
        for group in _of_one_object(fields) if by_object else (fields,):
            if len(group) > 1:
                self._work.spend(len(group))
                self._compare(group, by_object=by_object)
            below = [(one.facts.named, one.node.selection_set) for one in group]
            sets = [(kind, inner) for kind, inner in below if kind is not None and inner is not None]
            if sets:
                yield sets

    def _compare(self, group: list[PlacedField], *, by_object: bool) -> None:
        first = group[0]
        for one in group[1:]:
            if by_object and one.node.name.value != first.node.name.value:
                why = f"'{first.node.name.value}' and '{one.node.name.value}' are different fields"
            elif by_object and self._call(one.node) != self._call(first.node):
                why = "they have differing arguments"
            elif not by_object and one.facts.shape != first.facts.shape:
                why = f"they return conflicting types '{first.facts.type}' and '{one.facts.type}'"
            else:
                continue
            key = (one.node.alias or one.node.name).value
            how = "Use different aliases on the fields to fetch both if this was intentional."
            self._faults.add(f"Fields '{key}' conflict because {why}. {how}", first.node, one.node)

    def _grouped(self, sets: Sets) -> dict[str, list[PlacedField]]:
        """Return the fields of selection sets by response name, those of fragments among them."""
        groups: dict[str, list[PlacedField]] = {}
        spread: set[str] = set()
        seen: set[int] = set()
        waiting = list(sets)
        while waiting:
            parent, selection_set = waiting.pop()
            self._work.spend(len(selection_set.selections))
            for selection in selection_set.selections:
                if isinstance(selection, FieldNode):
                    facts = self._catalogue.field(parent, selection.name.value)
                    if facts is not None and id(selection) not in seen:
                        seen.add(id(selection))
                        name = (selection.alias or selection.name).value
                        groups.setdefault(name, []).append(PlacedField(parent, selection, facts))
                elif isinstance(selection, InlineFragmentNode):
                    kind = self._catalogue.condition(selection) or parent
                    waiting.append((kind, selection.selection_set))
                elif isinstance(selection, FragmentSpreadNode) and selection.name.value not in spread:
                    spread.add(selection.name.value)
                    fragment = self._fragments[selection.name.value]
                    waiting.append((self._catalogue.condition(fragment) or parent, fragment.selection_set))
        return groups

    def _call(self, node: FieldNode) -> object:
        """Return a hashable value that is equal for fields with equal arguments."""
        found = self._calls.get(id(node))
        if found is None:
            found = frozenset([(one.name.value, _written(one.value)) for one in node.arguments or ()])
            self._calls[id(node)] = found
        return found


def _of_one_object(fields: list[PlacedField]) -> Iterator[list[PlacedField]]:
    """Yield groups of fields that one object can have: those of an object type, with those of interfaces and unions."""
    objects: dict[str, list[PlacedField]] = {}
    abstract: list[PlacedField] = []
    for one in fields:
        if isinstance(one.parent, GraphQLObjectType):
            objects.setdefault(one.parent.name, []).append(one)
        else:
            abstract.append(one)
    if not objects:
        yield abstract
    for of_type in objects.values():
        yield of_type + abstract


def _written(node: ValueNode) -> object:
    """Return a hashable value that is equal for equal literals. The order of an object's fields does not matter."""
    if isinstance(node, ListValueNode):
        return (ListValueNode, *map(_written, node.values))
    if isinstance(node, ObjectValueNode):
        return frozenset([(one.name.value, _written(one.value)) for one in node.fields])
    if isinstance(node, VariableNode):
        return (VariableNode, node.name.value)
    if isinstance(node, NullValueNode):
        return NullValueNode
    value: Any = node
    return (type(node), value.value, getattr(node, "block", None))
