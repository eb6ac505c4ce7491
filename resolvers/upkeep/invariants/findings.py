"""A finding of verify, and functions that several checks share to find and repair."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import StatusField, UserField
from store.records import read_pairs

COUNTED_BY_USER = {
    UserField.FOLLOWERS: keys.followers,
    UserField.FOLLOWING: keys.following,
    UserField.POSTS: keys.profile,
}
COUNTED_BY_POST = {
    StatusField.LIKES: keys.likes,
    StatusField.REPOSTS: keys.reposts,
    StatusField.QUOTES: keys.quotes,
    StatusField.COMMENTS: keys.comments,
    StatusField.REPLIES: keys.replies,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated invariant: its key, what is wrong, and the commands that repair it."""

    key: str
    message: str
    repair: tuple[Command, ...] = field(default=(), compare=False)


Check = Callable[[Database, Sequence[int]], Awaitable[list[Finding]]]


async def existing(db: Database, things: Iterable[int], key: Callable[[int], str]) -> set[int]:
    """Return which of these ids have a record."""
    wanted = list(things)
    replies = await db.ask(*(("EXISTS", key(thing)) for thing in wanted))
    return {thing for thing, there in zip(wanted, replies, strict=True) if there}


async def counts_of(
    db: Database, things: Sequence[int], counted: Mapping[str, Callable[[int], str]]
) -> dict[int, dict[str, int]]:
    replies = await db.ask(*(("ZCARD", key(thing)) for thing in things for key in counted.values()))
    rows = [replies[i : i + len(counted)] for i in range(0, len(replies), len(counted))]
    return {thing: dict(zip(counted, row, strict=True)) for thing, row in zip(things, rows, strict=True)}


def recount(record: str, counted: str, name: str, without: str | None = None) -> Command:
    """Return the command that sets a counter to the size of a set, or of its difference from another set."""
    uncounted = {"uncounted": without} if without else {}
    return script("recount", record=record, counted=counted, **uncounted, counter=name)


def recount_user(member: int) -> list[Command]:
    """Return the commands that recount a member's counters."""
    return [command for name in COUNTED_BY_USER for command in recount_one(member, name)]


def recount_post(post: int) -> list[Command]:
    """Return the commands that recount a post's counters."""
    return [recount(keys.status(post), counted(post), name) for name, counted in COUNTED_BY_POST.items()]


def recount_one(member: int, name: str) -> tuple[Command, ...]:
    without = keys.hidden(member) if name == UserField.POSTS else None
    return (recount(keys.user(member), COUNTED_BY_USER[name](member), name, without),)


def pairs(reply: Sequence[str]) -> list[tuple[int, int]]:
    return [(int(name), int(value)) for name, value in read_pairs(reply).items()]
