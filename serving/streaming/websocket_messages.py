"""Reads the graphql-transport-ws messages that a client sends, and checks their form."""

from collections.abc import Mapping
from json import JSONDecodeError
from types import MappingProxyType
from typing import Any

from resolvers.process.errors import BadUserInput
from schema.execution.encoding import kind, loads
from schema.execution.parameters import document_id

_OPTIONAL_OBJECT = (dict, type(None))
_OPTIONAL_TEXT = (str, type(None))
_FIELDS: Mapping[str, Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "connection_init": {"payload": _OPTIONAL_OBJECT},
        "ping": {"payload": _OPTIONAL_OBJECT},
        "pong": {"payload": _OPTIONAL_OBJECT},
        "subscribe": {"id": (str,), "payload": (dict,)},
        "complete": {"id": (str,)},
    }
)
_SUBSCRIBE_PAYLOAD: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "query": _OPTIONAL_TEXT,
        "operationName": _OPTIONAL_TEXT,
        "variables": _OPTIONAL_OBJECT,
        "extensions": _OPTIONAL_OBJECT,
    }
)


class MalformedMessage(Exception):
    """A client's message is malformed; the text says why."""


def read(text: str) -> Mapping[str, Any]:
    """Return a message, which has the form that its type needs; raises MalformedMessage."""
    try:
        message = loads(text)
    except JSONDecodeError:
        raise MalformedMessage("WebSocket message must be valid JSON") from None
    if not isinstance(message, dict):
        raise MalformedMessage(f"A message must be an object, not {kind(message)}")
    form = message.get("type")
    fields = _FIELDS.get(form) if isinstance(form, str) else None
    if fields is None:
        raise MalformedMessage("Unknown message type")
    wrong = _wrong(message, fields)
    if wrong is None and form == "subscribe":
        payload = message["payload"]
        wrong = _wrong(payload, _SUBSCRIBE_PAYLOAD) or _wrong_document(payload)
    if wrong is not None:
        raise MalformedMessage(wrong)
    return message


def _wrong_document(payload: Mapping[str, object]) -> str | None:
    try:
        is_missing = document_id(payload) is None and payload.get("query") is None
    except BadUserInput as error:
        return error.message
    return "`query` is missing" if is_missing else None


def _wrong(values: Mapping[str, object], fields: Mapping[str, tuple[type, ...]]) -> str | None:
    for name, types in fields.items():
        if not isinstance(values.get(name), types):
            return f"`{name}` is missing or has the wrong type"
        if name == "id" and not values[name]:
            return "`id` is empty"
    return None
