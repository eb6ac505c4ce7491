"""A finding of verify."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from store.client.database import Command, Database


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated invariant: its key, what is wrong, and the commands that repair it."""

    key: str
    message: str
    repair: Sequence[Command] = field(default=(), compare=False)


Check = Callable[[Database, Sequence[int]], Awaitable[list[Finding]]]
