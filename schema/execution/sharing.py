"""Shared renderings of site-wide events: one rendering serves all viewers who would get the same result.

A selection can be shared when each of its fields is flagged as `SHARED`: it depends on the viewer only through
visibility. It is rendered for a viewer who has no relationships. The rendering notes the members that it read. It is
right for a viewer if none of these members is private or blocks the viewer, and the viewer blocks and mutes none. All
other viewers get a rendering of their own. A rendering that names a group that bans somebody is not shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strawberry.types import ExecutionResult

from schema.execution.encoding import encode


class SharedResult(ExecutionResult):
    """A result that many subscribers get, encoded as JSON once."""

    def __init__(self, data: dict[str, Any] | None) -> None:
        super().__init__(data, None)
        self.json = encode({"data": data})


@dataclass(frozen=True, slots=True)
class Rendering:
    """A shared result and the members that it was rendered from; it is found by `selection`, which it keeps alive."""

    result: SharedResult
    members: frozenset[int]
    selection: object
