"""Findings of verify, and how checks read what they check."""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

from msgspec import MsgspecError
from redis.exceptions import ResponseError

from store.client.database import Command, Database
from store.kinds import KeyKind

T = TypeVar("T")  # an owner or a key
About = TypeVar("About", bound=Hashable)
SHOWN = 80  # characters of an error

# Errors that reading a malformed value raises.
UNREADABLE = (ResponseError, ValueError, LookupError, TypeError, MsgspecError)


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated invariant: its key, what is wrong, and the commands that repair it."""

    key: str
    message: str
    repair: Sequence[Command] = field(default=(), compare=False)
    is_unreadable: bool = field(default=False, compare=False)  # whether the key has a wrong type


Check = Callable[[Database, Sequence[int]], Awaitable[list[Finding]]]  # of keys by their owners
SiteCheck = Callable[[Database, Sequence[str]], Awaitable[list[Finding]]]  # of keys that have no owner


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


async def ask_each(db: Database, looks: Mapping[About, Sequence[Command]]) -> list[tuple[About, list[Any]]]:
    """Return what is looked at with the replies to the commands about it. One round trip."""
    replies = iter(await db.ask(*chain.from_iterable(looks.values())))
    return [(about, [next(replies) for _ in commands]) for about, commands in looks.items()]


async def existing(db: Database, kind: KeyKind, owners: Iterable[int]) -> set[int]:
    """Return those of some owners who have a key of a kind, such as a record. One round trip."""
    looks = {owner: [("EXISTS", kind.key(owner))] for owner in owners}
    return {owner for owner, (exists,) in await ask_each(db, looks) if exists}
