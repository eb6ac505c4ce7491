"""The GraphQL parameters of a request, the same for all transports, and the documents that clients name there.

Automatic persisted queries and trusted documents are named in place of their texts.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from msgspec import Struct

from resolvers.process.errors import BadUserInput, RequestError, Unauthenticated
from schema.execution.documents import DocumentCache
from schema.execution.encoding import kind, loads
from store.settings.declaring import SettingError

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/-]+=*) *")  # RFC 6750 §2.1

SHA256_PREFIX = "sha256:"  # of a document id that is the text's hash, by GraphQL over HTTP, appendix A
ID_PARAMETERS = ("documentId", "doc_id")  # that name a document
EVENTS = "text/event-stream"

_PERSISTED_QUERY_VERSION = 1  # of Apollo's protocol
_SHOWN = 3  # documents with errors that a refusal of the manifest names


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


class PersistedQueryNotFound(RequestError):
    """The process does not know the document of this hash. Send both together once, as Apollo's clients do."""

    code = "PERSISTED_QUERY_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("PersistedQueryNotFound")  # the text that Apollo's protocol prescribes


class DocumentNotTrusted(RequestError):
    """The document is none of `TRUSTED_DOCUMENTS`, and the server executes no others. Add it to that file first."""

    code = "DOCUMENT_NOT_TRUSTED"

    def __init__(self, message: str) -> None:
        super().__init__(f"This server executes only trusted documents: {message}")


class PersistedDocuments:
    """Finds the text of the document that a request asks for."""

    def __init__(self, documents: DocumentCache, trusted: Mapping[str, str] | None) -> None:
        """Use the names that clients register in a cache, or only the texts of `trusted`, by their ids."""
        self._documents = documents
        self._trusted = trusted
        self._trusted_texts = frozenset(trusted.values()) if trusted is not None else frozenset()

    def refuse_explorer(self) -> None:
        """Raise DocumentNotTrusted where a member could not try documents of their own."""
        if self._trusted is not None:
            raise DocumentNotTrusted("GraphiQL is off")

    def text(self, asked: Parameters) -> str:
        """Return the text of the document that is asked for.

        Raises PersistedQueryNotFound, DocumentNotTrusted, or BadUserInput for a hash that is not the text's.
        """
        if self._trusted is not None:
            return self._trusted_text(asked, self._trusted)
        if asked.document_id is None:
            return asked.query
        if asked.query:
            if asked.document_id != digest(asked.query):
                raise BadUserInput("The hash is not the SHA-256 of `query`")
            return asked.query
        text = self._documents.named(asked.document_id)
        if text is None:
            raise PersistedQueryNotFound
        return text

    def register(self, asked: Parameters, text: str) -> None:
        """Remember the hash of a valid document that was sent with it."""
        if asked.document_id is not None and asked.query and self._trusted is None:
            self._documents.name(asked.document_id, text)

    def _trusted_text(self, asked: Parameters, trusted: Mapping[str, str]) -> str:
        if asked.document_id is not None and (text := trusted.get(asked.document_id)) is not None:
            return text
        if asked.query in self._trusted_texts:
            return asked.query
        if asked.document_id is not None:
            raise DocumentNotTrusted("none has this id")
        raise DocumentNotTrusted("send the id of one as `documentId`")


def digest(text: str) -> str:
    """Return the SHA-256 of a document's text, in hexadecimal digits."""
    return sha256(text.encode()).hexdigest()


def read_manifest(path: Path, documents: DocumentCache) -> dict[str, str]:
    """Return the texts of the documents in a manifest, by their ids and by their SHA-256.

    Relay-compiler and graphql-codegen write such a manifest.

    Raises SettingError where the file is no manifest, or has a document that the schema or a limit refuses.
    """
    texts = _texts(path)
    if faults := list(_faults(texts, documents)):
        more = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise _refusal(path, "; ".join(faults[:_SHOWN]) + more)
    return {digest(text): text for text in texts.values()} | texts


def _texts(path: Path) -> dict[str, str]:
    try:
        values = loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _refusal(path, (error.strerror or str(error)).lower()) from None
    except UnicodeDecodeError:
        raise _refusal(path, "it must be UTF-8") from None
    except JSONDecodeError as error:
        raise _refusal(path, f"it is not valid JSON: {error.msg} at line {error.lineno}") from None
    if not isinstance(values, dict) or not values:
        what = kind(values) if values != {} else "an empty one"
        raise _refusal(path, f"it must be a JSON object of ids and documents, not {what}")
    for name, text in values.items():
        if not name:
            raise _refusal(path, "a document has an empty id")
        if not isinstance(text, str):
            raise _refusal(path, f"the document {name!r} must be a string, not {kind(text)}")
    return {name.removeprefix(SHA256_PREFIX): text for name, text in values.items()}


def _faults(texts: Mapping[str, str], documents: DocumentCache) -> Iterator[str]:
    for name, text in texts.items():
        if errors := documents.get(text).errors:
            yield f"the document {name!r}: {errors[0].message}"


def _refusal(path: Path, reason: str) -> SettingError:
    return SettingError(f"TRUSTED_DOCUMENTS={path}: {reason}")
