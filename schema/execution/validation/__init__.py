"""Validates documents in one pass, in time that is linear in their size.

In graphql-core, every rule visits every node, and one rule compares each fragment with each other one. That takes
several times as long as parsing the text, and a hundred times as long for hostile texts. Here one walk makes all checks
that need no other part of the document. Two more checks follow, each only on documents that passed the one before:

- `Walk` checks fields, arguments, literals, directives and type conditions.
- `relations` checks definitions against each other: names, cycles, unused fragments, variables.
- `merging` checks that fields with one response name can be merged.

The rules are those of the specification, §5, and of strawberry. Tests compare every verdict with graphql-core's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphql import (
    DirectiveNode,
    DocumentNode,
    ExecutableDefinitionNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
)

from schema.execution.validation.catalogue import Catalogue
from schema.execution.validation.faults import Faults, TooManyFaults, TooMuchWork, ValidationWork
from schema.execution.validation.merging import Merging
from schema.execution.validation.relations import DocumentRelations
from schema.execution.validation.walk import Walk

__all__ = ["Checked", "TooMuchWork", "Validator"]


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of validating a document: its errors, or its directives, fields' names, and the flags of all."""

    errors: Sequence[GraphQLError] = ()
    fields: frozenset[str] = field(default_factory=frozenset)
    flags: frozenset[str] = field(default_factory=frozenset)
    directives: Sequence[DirectiveNode] = ()


class Validator:
    """Validates documents against one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._catalogue = Catalogue(schema)

    def check(self, document: DocumentNode) -> Checked:
        """Return the errors of a document; raises TooMuchWork where its fragments repeat too much to decide."""
        faults = Faults()
        fragments = {one.name.value: one for one in document.definitions if isinstance(one, FragmentDefinitionNode)}
        walk = Walk(self._catalogue, fragments, faults)
        try:
            for definition in document.definitions:
                if isinstance(definition, ExecutableDefinitionNode):
                    walk.definition(definition)
                else:
                    faults.add("A document that is executed has operations and fragments only", definition)
            if not faults.errors:
                work = ValidationWork()
                DocumentRelations(self._catalogue, document, walk.scopes, faults, work).check()
                if not faults.errors:
                    self._merge(document, walk, faults, work)
        except TooManyFaults:
            pass
        if faults.errors:
            return Checked(faults.errors)
        return Checked((), frozenset(walk.names), walk.flags, walk.directives)

    def _merge(self, document: DocumentNode, walk: Walk, faults: Faults, work: ValidationWork) -> None:
        merging = Merging(self._catalogue, walk.fragments, faults, work)
        for one in document.definitions:
            if isinstance(one, OperationDefinitionNode):
                merging.check(self._catalogue.root(one), one.selection_set)
