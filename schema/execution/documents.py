"""A cache of query documents: each text is parsed, validated and measured once.

Each document caches the coerced variables and the cost of its queries that are sent again with the same variables.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from sys import getsizeof
from typing import Any

from graphql import (
    DirectiveNode,
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    OperationType,
    parse,
)
from graphql.execution.values import VariableValues, get_variable_values
from msgspec import Struct
from msgspec.structs import replace

from resolvers.process.errors import QueryTooComplex
from schema.execution.costs import Cost
from schema.execution.flags import CACHED, SHARED
from schema.execution.introspection import Introspection
from schema.execution.limits import Limits, operations
from schema.execution.plans import Plans
from schema.execution.validation import TooMuchWork, Validator
from schema.execution.weights import CHARACTERS_KEPT, IMMUTABLE, WeighedCache, Weight, weigh
from store.settings import Settings

PREPARED_KEPT = 16  # Prepared operations of one document. The key is the operation and the variables sent.
MOST_ERRORS = 50  # Errors in the variables of one operation: graphql-core's own limit.

_MIB = 1_048_576
_NAME = 350  # bytes of a registered hash, with its entry
_PARSING_ABORTED = "Parsing aborted."  # the end of the parser's message when a limit stopped it


_PREPARED, _VARIABLE = 1_000, 700  # Bytes of a prepared operation, and of each variable in it without its value.
_NUMBERS = count(1)  # Of documents whose answers may be cached.


class Prepared(Struct, frozen=True):
    """An operation, its cost and its coerced variables, or the errors of coercing them."""

    operation: OperationDefinitionNode
    cost: int
    variables: VariableValues | list[GraphQLError]
    key: Hashable | None = None  # The same for the same operation and variables. None if its answer may not be cached.


@dataclass(slots=True, eq=False)
class Document:
    """A query text and everything that is computed from it."""

    schema: GraphQLSchema
    weight: Weight
    errors: Sequence[GraphQLError] = ()
    node: DocumentNode | None = None
    operations: Sequence[OperationDefinitionNode] = ()
    fields: frozenset[str] = frozenset()
    directives: Sequence[DirectiveNode] = ()
    costs: Mapping[str | None, Cost] = field(default_factory=dict)
    is_shareable: bool = False
    number: int = 0  # 0 if its answers may not be cached.
    hash: str | None = None  # That a client has registered.
    plans: Plans = field(init=False)
    _prepared: WeighedCache[Sequence[Any], Prepared] = field(init=False)

    def __post_init__(self) -> None:
        self.plans = Plans(self.directives, self.weight)
        self._prepared = WeighedCache(PREPARED_KEPT, self.weight)

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """Return the operation with this name, or the only operation where the name is None; None if there is none."""
        if name is None:
            return self.operations[0] if len(self.operations) == 1 else None
        return next((one for one in self.operations if one.name and one.name.value == name), None)

    def prepared(self, name: str | None, variables: Mapping[str, Any] | None) -> Prepared | None:
        """Return an operation, found as by `operation`, prepared with the variables that the client sent."""
        operation, sent = self.operation(name), variables or {}
        if operation is None:
            return None
        name = operation.name.value if operation.name else None
        if operation.operation is OperationType.MUTATION:  # hardly ever sent again with the same variables
            return self._prepare(operation, name, sent)
        key = (name, *sent.items(), *map(type, sent.values()))  # 1 equals true, but is no Boolean
        try:
            prepared = self._prepared.get(key)
        except TypeError:  # an object or a list has no hash, and a resolver could change it
            return self._prepare(operation, name, sent)
        if prepared is None:
            prepared = self._prepare(operation, name, sent)
            if _is_lasting(sent) and isinstance(values := prepared.variables, VariableValues):
                if self.number:
                    prepared = replace(prepared, key=(self.number, *key))
                self._keep(key, prepared, values, sent)
        return prepared

    def _prepare(self, operation: OperationDefinitionNode, name: str | None, sent: Mapping[str, Any]) -> Prepared:
        definitions = operation.variable_definitions or ()
        values = get_variable_values(self.schema, definitions, dict(sent), MOST_ERRORS)
        return Prepared(operation, self.costs[name].total(sent), values)

    def _keep(self, key: Sequence[Any], prepared: Prepared, values: VariableValues, sent: Mapping[str, Any]) -> None:
        # Undeclared variables are not cached: a client could send any number of them.
        if not _is_lasting(values.coerced) or not sent.keys() <= values.sources.keys():
            return
        sizes = (_VARIABLE + getsizeof(name) + 2 * getsizeof(value) for name, value in sent.items())
        self._prepared.make_room(_PREPARED + sum(sizes))
        self._prepared[key] = prepared


class DocumentCache:
    """An LRU cache of the documents of one schema, bounded by their estimated memory."""

    def __init__(self, schema: GraphQLSchema, settings: Settings) -> None:
        self._schema = schema
        self._max_tokens = settings.max_tokens
        self._validator = Validator(schema)
        self.introspection = Introspection(schema)
        self.limits = Limits(schema, settings, self.introspection)
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._named: dict[str, str] = {}  # texts by the hashes that clients registered
        self._most = settings.documents_kept_mib * _MIB
        self._total = Weight()

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
        if document is not None and document.hash is None:
            document.hash = its_hash
            self._named[its_hash] = text
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

    def _drop(self) -> None:
        """Drop the least recently used documents until the rest fit. Documents grow while they are used."""
        while self._total.size > self._most:
            _, dropped = self._documents.popitem(last=False)
            dropped.weight.count_out()
            if dropped.hash is not None:
                del self._named[dropped.hash]

    def _read(self, text: str) -> Document:
        if too_complex := self.limits.refuse_text(text):
            return self._refused(text, too_complex)
        try:
            return self._check(text, _parse(text, self._max_tokens))
        except GraphQLSyntaxError as error:
            return self._refused(text, self._parse_failure(error))
        except (RecursionError, TooMuchWork):
            return self._refused(text, QueryTooComplex("The query repeats or nests too much to be read"))

    def _check(self, text: str, node: DocumentNode) -> Document:
        if too_complex := self.limits.refuse_shape(node):
            return self._refused(text, too_complex)
        checked = self._validator.check(node)
        if checked.errors:
            return self._refused(text, *checked.errors)
        if too_complex := self.limits.refuse_size(node, checked.fields):
            return self._refused(text, too_complex)
        return Document(
            self._schema,
            weigh(text, node),
            node=node,
            operations=operations(node),
            fields=checked.fields,
            directives=checked.directives,
            costs=self.limits.price(node),
            is_shareable=SHARED in checked.flags and not checked.directives,
            number=next(_NUMBERS) if CACHED in checked.flags else 0,
        )

    def _refused(self, text: str, *errors: GraphQLError) -> Document:
        """Return a document that is not executed; its nodes are not kept."""
        return Document(self._schema, weigh(text, None, errors), errors)

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


def _is_lasting(variables: Mapping[str, Any]) -> bool:
    """Return whether all values are immutable and small."""
    return all(
        isinstance(value, IMMUTABLE) and not (isinstance(value, str) and len(value) > CHARACTERS_KEPT)
        for value in variables.values()
    )
