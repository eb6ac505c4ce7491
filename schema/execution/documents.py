"""A cache of query documents: each text is parsed, validated and measured once."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    parse,
)

from resolvers.process.errors import QueryTooComplex
from schema.execution.costs import Cost
from schema.execution.flags import CACHED, SHARED
from schema.execution.introspection import Introspection
from schema.execution.limits import Limits, operations
from schema.execution.plans import Plans
from schema.execution.prepared import Preparation, Prepared
from schema.execution.validation import TooMuchWork, Validator
from schema.execution.weights import Total, Weight, weigh
from store.settings import Settings

_MIB = 1_048_576
_NAME = 350  # bytes of a registered hash, with its entry
_PARSING_ABORTED = "Parsing aborted."  # the end of the parser's message when a limit stopped it


@dataclass(frozen=True, slots=True)
class Document:
    """A query text and everything that is computed from it without variables."""

    node: DocumentNode | None = None
    errors: Sequence[GraphQLError] = ()
    operations: Sequence[OperationDefinitionNode] = ()
    fields: frozenset[str] = frozenset()
    costs: Mapping[str | None, Cost] = field(default_factory=dict)
    is_shareable: bool = False
    preparation: Preparation | None = None
    plans: Plans = field(default_factory=Plans)
    weight: Weight = field(default_factory=lambda: Weight(0))

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """Return the operation with this name, or the only operation where the name is None; None if there is none."""
        if name is None:
            return self.operations[0] if len(self.operations) == 1 else None
        return next((one for one in self.operations if one.name and one.name.value == name), None)

    def prepared(self, name: str | None, variables: Mapping[str, Any] | None) -> Prepared | None:
        """Return an operation, found as by `operation`, prepared with the variables that the client sent."""
        operation = self.operation(name)
        return self.preparation.of(operation, variables or {}) if operation and self.preparation else None


class DocumentCache:
    """An LRU cache of the documents of one schema, bounded by their estimated memory."""

    def __init__(self, schema: GraphQLSchema, settings: Settings) -> None:
        self._schema = schema
        self._max_tokens = settings.max_tokens
        self._validator = Validator(schema)
        self.introspection = Introspection(schema)
        self._limits = Limits(schema, settings, self.introspection)
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._named: dict[str, str] = {}  # texts by the hashes that clients registered
        self._names: dict[str, str] = {}  # and the other way
        self._most = settings.documents_kept_mib * _MIB
        self._total = Total()

    @property
    def limits(self) -> Limits:
        """The limits that documents are measured against."""
        return self._limits

    @property
    def size(self) -> int:
        """The estimated memory of all documents, in bytes."""
        return self._total.size

    def __len__(self) -> int:
        return len(self._documents)

    def find(self, text: str) -> Document | None:
        """Return the cached document of a query text."""
        document = self._documents.get(text)
        if document is not None:
            self._documents.move_to_end(text)
            if self._total.size > self._most:
                self._drop()
        return document

    def get(self, text: str) -> Document:
        """Return the document of a query text, with the errors that forbid executing it; parses a new text."""
        document = self.find(text)
        if document is None:
            document = self._read(text)
            self._documents[text] = document
            document.weight.count_in(self._total)
        self._drop()
        return document

    def name(self, its_hash: str, text: str) -> None:
        """Remember the hash of a cached query text, for as long as the text is cached."""
        document = self._documents.get(text)
        if document is not None and text not in self._names:
            self._named[its_hash] = text
            self._names[text] = its_hash
            document.weight.grow(_NAME)

    def named(self, its_hash: str) -> str | None:
        """Return the cached query text of a hash."""
        return self._named.get(its_hash)

    def forget(self) -> None:
        """Drop all documents."""
        for document in self._documents.values():
            document.weight.count_out()
        self._documents.clear()
        self._named.clear()
        self._names.clear()

    def _drop(self) -> None:
        """Drop the least recently used documents until the rest fit. Documents grow while they are used."""
        while self._total.size > self._most:
            text, dropped = self._documents.popitem(last=False)
            dropped.weight.count_out()
            if its_hash := self._names.pop(text, None):
                del self._named[its_hash]

    def _read(self, text: str) -> Document:
        if too_complex := self._limits.refuse_text(text):
            return _refused(text, too_complex)
        try:
            return self._check(text, _parse(text, self._max_tokens))
        except GraphQLSyntaxError as error:
            return _refused(text, self._parse_failure(error))
        except (RecursionError, TooMuchWork):
            return _refused(text, QueryTooComplex("The query repeats or nests too much to be read"))

    def _check(self, text: str, node: DocumentNode) -> Document:
        if too_complex := self._limits.refuse_shape(node):
            return _refused(text, too_complex)
        checked = self._validator.check(node)
        if checked.errors:
            return _refused(text, *checked.errors)
        if too_complex := self._limits.refuse_size(node, checked.fields):
            return _refused(text, too_complex)
        shareable = SHARED in checked.flags and not checked.has_directives
        costs = self._limits.price(node)
        weight = weigh(text, node)
        preparation = Preparation(self._schema, costs, weight.grow, is_cached=CACHED in checked.flags)
        plans = Plans(weight.grow)
        return Document(node, (), operations(node), checked.fields, costs, shareable, preparation, plans, weight)

    def _parse_failure(self, error: GraphQLSyntaxError) -> GraphQLError:
        if error.message.endswith(_PARSING_ABORTED):
            return QueryTooComplex(
                f"The query has more than {self._max_tokens} tokens, or nests too deeply", "max_tokens"
            )
        error.extensions = {"code": "GRAPHQL_PARSE_FAILED"}
        return error.with_traceback(None)  # the error is cached with its text; its frames would keep much more alive


def _parse(text: str, most: int) -> DocumentNode:
    """Return the document of a query text; raises GraphQLSyntaxError, also for too many tokens or comments."""
    document = parse(text, max_tokens=most, max_comments=most)
    assert document.loc
    token = document.loc.start_token
    while token.next:
        # Without reference cycles, tokens are freed at once and don't wait for the garbage collector.
        token = token.next
        token.prev = None
    return document


def _refused(text: str, *errors: GraphQLError) -> Document:
    """Return a document that is not executed; its nodes are not kept."""
    return Document(errors=errors, weight=weigh(text, None, errors))
