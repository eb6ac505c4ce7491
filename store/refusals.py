"""Refusals: why a script changes nothing.

A script that refuses returns one of these names, and nothing else: `return Refusal.GONE`. What it has done is a list, a
number or nothing. A wrapper's type lists the refusals of its script, so that `mypy` finds a case that nobody handles.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeVar

Result = TypeVar("Result")


class Refusal(Enum):
    """Why a change is refused. Scripts write the same names."""

    BANNED = "banned"  # the group bans the member
    BLOCKED = "blocked"  # who acts blocks the member
    DENIED = "denied"  # the role of who acts in the group does not allow it
    FULL = "full"  # there are as many as a limit allows
    GONE = "gone"  # what it is about does not exist, or no longer
    HIDDEN = "hidden"  # the post is hidden
    HOUR = "hour"  # the limit of an hour is reached
    IN_GROUP = "in_group"  # the member is in the group already
    LAST_OWNER = "last_owner"  # the group would be left without an owner
    OUTRANKED = "outranked"  # the member has an equal or higher role
    PLAIN = "plain"  # the post is a plain repost
    STRANGER = "stranger"  # the member is not in the group
    UNASKED = "unasked"  # the member has not asked to join the group


def refused(reply: Any) -> Any:
    """Return the refusal that a script's reply is, None for the reply of a change."""
    return Refusal(reply) if isinstance(reply, str) else None


def refused_members(members: Sequence[int], answers: Sequence[str]) -> dict[int, Any]:
    """Return the refusals among a script's answers to members; an empty answer is none."""
    return {member: Refusal(answer) for member, answer in zip(members, answers, strict=True) if answer}


def accepted(outcome: Result | Refusal) -> Result:
    """Return what a change has made, for a caller who is never refused. Raises ValueError for a refusal."""
    if isinstance(outcome, Refusal):
        raise ValueError(outcome)  # noqa: TRY004  a broken expectation, not a wrong type
    return outcome
