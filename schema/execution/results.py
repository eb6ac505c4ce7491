"""Execution results that are encoded as JSON when they are made."""

from functools import cached_property
from typing import Any, Self, cast

from strawberry.http import process_result
from strawberry.types import ExecutionResult

from schema.execution.encoding import encode, loads


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


def to_json(result: ExecutionResult) -> bytes:
    """Return a result as JSON, as clients get it."""
    return result.json if isinstance(result, JsonResult) else encode(process_result(result))
