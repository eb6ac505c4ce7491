"""Reads the manifest of trusted documents, as relay-compiler and graphql-codegen write it."""

from collections.abc import Iterator, Mapping
from json import JSONDecodeError
from pathlib import Path

from schema.execution.documents import DocumentCache
from schema.execution.encoding import kind, loads
from schema.execution.parameters import SHA256_PREFIX
from schema.execution.persisted import digest
from store.settings.declaring import SettingError

_SHOWN = 3  # documents with errors that a refusal names


def read(path: Path, documents: DocumentCache) -> dict[str, str]:
    """Return the texts of the documents in a manifest, by their ids and by their SHA-256.

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
