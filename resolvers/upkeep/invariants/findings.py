"""A finding of verify."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from store.client.database import Command, Database
from store.upkeep.malformed import UNREADABLE

T = TypeVar("T")  # an owner or a key
SHOWN = 80  # characters of an error


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated invariant: its key, what is wrong, and the commands that repair it."""

    key: str
    message: str
    repair: Sequence[Command] = field(default=(), compare=False)


Check = Callable[[Database, Sequence[int]], Awaitable[list[Finding]]]


async def examine(
    check: Callable[[Sequence[T]], Awaitable[list[Finding]]], some: Sequence[T], key: Callable[[T], str]
) -> list[Finding]:
    """Check some owners or keys. One whose values cannot be read is a finding, and the others are checked."""
    if not some:
        return []
    try:
        return await check(some)
    except UNREADABLE as error:
        if len(some) == 1:
            return [Finding(key(some[0]), f"cannot be checked: {type(error).__name__}: {str(error)[:SHOWN]}")]
    middle = len(some) // 2
    return await examine(check, some[:middle], key) + await examine(check, some[middle:], key)
