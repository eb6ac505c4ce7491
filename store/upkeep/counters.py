"""Counters of members and posts. Each is the size of a set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import StatusField, UserField

Counts = dict[str, int]  # counter → its value

OF_MEMBER: Mapping[str, Callable[[int], str]] = {
    UserField.FOLLOWERS: keys.followers,
    UserField.FOLLOWING: keys.following,
    UserField.POSTS: keys.profile,  # without the hidden ones
}
OF_POST: Mapping[str, Callable[[int], str]] = {
    StatusField.LIKES: keys.likes,
    StatusField.REPOSTS: keys.reposts,
    StatusField.QUOTES: keys.quotes,
    StatusField.COMMENTS: keys.comments,
    StatusField.REPLIES: keys.replies,
}


async def totals_of_members(db: Database, members: Sequence[int]) -> dict[int, Counts]:
    """Return the exact totals for each member's counters. Two round trips."""
    totals = await _sizes(db, members, OF_MEMBER)
    hidden = await db.ask(*(("ZCARD", keys.hidden(member)) for member in members))
    for member, count in zip(members, hidden, strict=True):
        totals[member][UserField.POSTS] -= count
    return totals


async def totals_of_posts(db: Database, posts: Sequence[int]) -> dict[int, Counts]:
    """Return the exact totals for each post's counters. One round trip."""
    return await _sizes(db, posts, OF_POST)


async def _sizes(db: Database, owners: Sequence[int], counted: Mapping[str, Callable[[int], str]]) -> dict[int, Counts]:
    replies = await db.ask(*(("ZCARD", key(owner)) for owner in owners for key in counted.values()))
    rows = [replies[i : i + len(counted)] for i in range(0, len(replies), len(counted))]
    return {owner: dict(zip(counted, row, strict=True)) for owner, row in zip(owners, rows, strict=True)}


def stored(fields: Mapping[str, str], counted: Mapping[str, Callable[[int], str]]) -> Counts:
    """Return the counters of a record."""
    return {name: int(fields.get(name, 0)) for name in counted}


def recount_member(member: int, *names: str) -> list[Command]:
    """Return the commands that set some counters of a member, or all, to their totals.

    The reply to each is 1 if the counter was wrong.
    """
    hidden = {UserField.POSTS: keys.hidden(member)}
    return [_recount(keys.user(member), OF_MEMBER[name](member), name, hidden.get(name)) for name in names or OF_MEMBER]


def recount_post(post: int, *names: str) -> list[Command]:
    """Return the commands that set some counters of a post, or all, to their totals, as `recount_member` does."""
    return [_recount(keys.status(post), OF_POST[name](post), name) for name in names or OF_POST]


def _recount(record: str, counted: str, name: str, without: str | None = None) -> Command:
    uncounted = {"uncounted": without} if without else {}
    return script("recount", record=record, counted=counted, **uncounted, counter=name)
