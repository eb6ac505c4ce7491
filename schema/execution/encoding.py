"""JSON: results that are encoded when they are made, server-sent events, and the decoding of what clients send."""

import json
import re
from functools import cached_property
from typing import Any, NoReturn, Self, cast

import msgspec
from strawberry.http import process_result
from strawberry.types import ExecutionResult

COMPLETE = b"event: complete\ndata:\n\n"  # a browser drops an event without a data line

# Text decoded from UTF-8 has no surrogates. Only an escape sequence can produce one.
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class NoResult(ExecutionResult):
    """The result of an event that its subscriber may not see any more. Nothing is sent."""

    def __init__(self) -> None:
        super().__init__(None, None)


class JsonResult(ExecutionResult):
    """A result without errors, as JSON."""

    def __init__(self, json: bytes) -> None:
        self.json = json
        self.errors = None
        self.extensions = None

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """Encode data at once, since only the JSON is sent and cached."""
        return cls(encode({"data": data}))

    @cached_property
    def data(self) -> dict[str, Any]:  # type: ignore[override]  # nobody replaces it
        """The data, decoded from the JSON, for callers within the process. Clients never need it."""
        return cast("dict[str, dict[str, Any]]", loads(self.json.decode()))["data"]


def encode(data: object) -> bytes:
    """Return compact JSON in UTF-8; text beyond ASCII stays readable."""
    return msgspec.json.encode(data)


def next_event(result: bytes) -> bytes:
    """Return a JSON result as a server-sent event. Compact JSON has no line breaks that would split the data."""
    return b"event: next\ndata: %b\n\n" % result


def to_json(result: ExecutionResult) -> bytes:
    """Return a result as JSON, as clients get it."""
    return result.json if isinstance(result, JsonResult) else encode(process_result(result))


def is_request_error(result: ExecutionResult) -> bool:
    """Return whether a result is a request error: nothing was executed, or all is discarded, so `data` is left out."""
    return bool(result.errors) and result.data is None and all(error.path is None for error in result.errors or ())


def loads(text: str) -> object:
    """Return the value of a JSON text.

    Raises JSONDecodeError, also for what only Python accepts (NaN, lone surrogates) and for what it raises other errors
    for (deep nesting, too many digits).
    """
    # The json module parses a refused text again, because its error has the position.
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        pass
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
        if _SURROGATE_ESCAPE.search(text):
            encode(value)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("Nested too deeply", text, 0) from None
    except UnicodeEncodeError:
        raise json.JSONDecodeError("Half of a surrogate pair", text, 0) from None
    except ValueError as error:
        raise json.JSONDecodeError(str(error), text, 0) from None
    return value


def kind(value: object) -> str:
    """Return the JSON type name of a value, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
