"""Query texts that were read before: parsed, validated and measured once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    Visitor,
    parse,
    specified_rules,
    validate,
    visit,
)
from graphql.validation.validate import ValidationAbortedError
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from resolvers.errors import QueryTooComplex
from schema.costs import Cost
from schema.limits import Limits, operations
from schema.plans import Plans
from schema.prepared import Preparation, Prepared
from schema.sharing import SHARED_FIELDS
from store.settings import Settings

DOCUMENTS_KEPT = 500
CHARACTERS_KEPT = 262_144  # of all kept texts together; a parsed document takes 50 to 280 bytes per character

_RULES = (*specified_rules, MaybeNullValidationRule, OneOfInputValidationRule)
_PARSING_ABORTED = "Parsing aborted."  # ends the parser's message where a limit stopped it
_TOO_MANY_ERRORS = "Too many validation errors"  # begins the one abort that is not for complexity
_TOO_DEEP_INTROSPECTION = "Maximum introspection depth exceeded"


@dataclass(frozen=True, slots=True)
class Document:
    """A query text and all that can be said of it before its variables are known."""

    node: DocumentNode | None = None
    errors: Sequence[GraphQLError] = ()
    operations: Sequence[OperationDefinitionNode] = ()
    fields: frozenset[str] = frozenset()
    costs: Mapping[str | None, Cost] = field(default_factory=dict)
    is_shareable: bool = False
    preparation: Preparation | None = None
    plans: Plans = field(default_factory=Plans)

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """Return the operation of a name, or the only one when none is asked for; None when there is none such."""
        if name is None:
            return self.operations[0] if len(self.operations) == 1 else None
        return next((one for one in self.operations if one.name and one.name.value == name), None)

    def prepared(self, name: str | None, variables: Mapping[str, Any] | None) -> Prepared | None:
        """Return an operation, found as `operation` does, with the variables that were sent."""
        operation = self.operation(name)
        return self.preparation.of(operation, variables or {}) if operation and self.preparation else None


class DocumentCache:
    """The documents of one schema, those longest unused forgotten first."""

    def __init__(self, schema: GraphQLSchema, settings: Settings) -> None:
        self._schema = schema
        self._max_tokens = settings.max_tokens
        self._limits = Limits(schema, settings)
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._characters = 0

    @property
    def limits(self) -> Limits:
        """The limits that documents are measured against."""
        return self._limits

    def __len__(self) -> int:
        return len(self._documents)

    def get(self, text: str) -> Document:
        """Return the document of a query text, with the errors that forbid to execute it."""
        document = self._documents.get(text)
        if document is not None:
            self._documents.move_to_end(text)
            return document
        document = self._read(text)
        if len(text) <= CHARACTERS_KEPT:
            self._keep(text, document)
        return document

    def _keep(self, text: str, document: Document) -> None:
        self._documents[text] = document
        self._characters += len(text)
        while len(self._documents) > DOCUMENTS_KEPT or self._characters > CHARACTERS_KEPT:
            forgotten, _ = self._documents.popitem(last=False)
            self._characters -= len(forgotten)

    def _read(self, text: str) -> Document:
        try:
            node = parse(text, max_lexical_tokens=self._max_tokens, max_comments=self._max_tokens)
        except GraphQLSyntaxError as error:
            return Document(errors=(self._parse_failure(error),))
        if too_complex := self._limits.refuse_shape(node):
            return Document(node, (too_complex,))
        if errors := validate(self._schema, node, _RULES):
            return Document(node, _validation_failure(errors))
        if too_complex := self._limits.refuse_depth(node):
            return Document(node, (too_complex,))
        names = _FieldNames()
        visit(node, names)
        shareable = names.found <= SHARED_FIELDS and not names.has_directives
        costs = self._limits.price(node)
        preparation = Preparation(self._schema, costs)
        return Document(node, (), operations(node), frozenset(names.found), costs, shareable, preparation)

    def _parse_failure(self, error: GraphQLSyntaxError) -> GraphQLError:
        if error.message.endswith(_PARSING_ABORTED):
            return QueryTooComplex(f"The query has more than {self._max_tokens} tokens, or nests too deeply")
        error.extensions = {"code": "GRAPHQL_PARSE_FAILED"}
        return error.with_traceback(None)  # kept for as long as the text is: frames would keep much more


class _FieldNames(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.has_directives = False

    def enter_field(self, node: FieldNode, *_: object) -> None:
        self.found.add(node.name.value)

    def enter_directive(self, *_: object) -> None:
        self.has_directives = True


def _validation_failure(errors: Sequence[GraphQLError]) -> Sequence[GraphQLError]:
    for error in errors:
        aborted = isinstance(error, ValidationAbortedError) and not error.message.startswith(_TOO_MANY_ERRORS)
        if aborted or error.message == _TOO_DEEP_INTROSPECTION:
            return (QueryTooComplex("The query is too complex to be validated: it nests or repeats too much"),)
        error.extensions = {"code": "GRAPHQL_VALIDATION_FAILED"}
    return errors
