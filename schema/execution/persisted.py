"""Documents that clients name instead of sending them: automatic persisted queries and trusted documents."""

from collections.abc import Mapping
from hashlib import sha256

from resolvers.process.errors import BadUserInput, RequestError
from schema.execution.documents import DocumentCache
from schema.execution.parameters import Parameters


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
