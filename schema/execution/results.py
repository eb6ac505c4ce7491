"""Results that are JSON as soon as they are there."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from strawberry.types import ExecutionResult

from schema.execution.encoding import encode, loads


class NoResult(ExecutionResult):
    """The result of an event that its subscriber no longer sees: nothing is sent."""

    def __init__(self) -> None:
        super().__init__(None, None)


class JsonResult(ExecutionResult):
    """A result without errors, written at once: parts of it are JSON already."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.json = encode({"data": data})
        self.errors = None
        self.extensions = None

    @cached_property
    def data(self) -> dict[str, Any]:  # type: ignore[override]  # nobody replaces it
        """The result for those that look into it, as clients do not: read from its JSON."""
        return cast("dict[str, dict[str, Any]]", loads(self.json.decode()))["data"]
