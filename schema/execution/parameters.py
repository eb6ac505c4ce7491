"""The GraphQL parameters of a request, the same for all transports."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from resolvers.process.errors import BadUserInput, Unauthenticated
from schema.execution.encoding import kind

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/-]+=*) *")  # RFC 6750 §2.1

SHA256_PREFIX = "sha256:"  # of a document id that is the text's hash, by GraphQL over HTTP, appendix A
ID_PARAMETERS = ("documentId", "doc_id")  # that name a document
_PERSISTED_QUERY_VERSION = 1  # of Apollo's protocol


class Parameters(Struct, frozen=True):
    """The GraphQL parameters of one request: query, operation name, variables, extensions, and the document's id.

    `query` is empty where the client sends only the id of its document.
    """

    query: str
    operation_name: str | None
    variables: dict[str, Any] | None
    extensions: dict[str, Any] | None
    document_id: str | None = None

    def __repr__(self) -> str:
        return f"Parameters(operation_name={self.operation_name!r})"  # the other parameters may hold passwords


def document_id(sent: Mapping[str, object]) -> str | None:
    """Return the id of the document that a request names, without the prefix of a hash, or None.

    `documentId` is GraphQL over HTTP's name, `doc_id` that of Relay's guides, and `extensions.persistedQuery` Apollo's.
    Raises BadUserInput where one of them has the wrong form.
    """
    for name in ID_PARAMETERS:
        if value := sent.get(name):
            if not isinstance(value, str):
                raise BadUserInput(f"`{name}` must be a string, not {kind(value)}")
            return value.removeprefix(SHA256_PREFIX)
    extensions = sent.get("extensions")
    persisted = extensions.get("persistedQuery") if isinstance(extensions, dict) else None
    return None if persisted is None else _persisted_query(persisted)


def _persisted_query(sent: object) -> str:
    if not isinstance(sent, dict):
        raise BadUserInput(f"`extensions.persistedQuery` must be an object, not {kind(sent)}")
    if sent.get("version") != _PERSISTED_QUERY_VERSION:
        raise BadUserInput(f"`extensions.persistedQuery.version` must be {_PERSISTED_QUERY_VERSION}")
    value = sent.get("sha256Hash")
    if not isinstance(value, str) or not value:
        raise BadUserInput("`extensions.persistedQuery.sha256Hash` must be a string of at least one character")
    return value.removeprefix(SHA256_PREFIX)


def bearer(authorization: str) -> str:
    """Return the token of an `Authorization` value; raises Unauthenticated where it is not `Bearer TOKEN`."""
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise Unauthenticated("Authorization must be `Bearer TOKEN`")
    return match[1]


EVENTS = "text/event-stream"
