"""Refusals: why a script changes nothing.

A script that refuses returns one of these names, and nothing else: `return Refusal.GONE`. It may add the part of the
change that it is about, after a space. A change is answered by a list, a number or nothing. A wrapper's type lists
the refusals of its script, so that `mypy` finds a case that nobody handles.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Generic, Literal, NamedTuple, TypeVar

Result = TypeVar("Result")


class Refusal(Enum):
    """Why a change is refused. Scripts write the same names."""

    ALONE = "alone"  # nobody else is in the conversation
    ATTACHED = "attached"  # the picture belongs to something already
    BANNED = "banned"  # the group bans the member
    BLOCKED = "blocked"  # who acts blocks the member
    BUSY = "busy"  # another export is sent to the member
    CHANGED = "changed"  # the password was changed since it was checked
    CODE = "code"  # the code of the second factor is wrong, missing or used up
    CONFLICT = "conflict"  # the idempotency key was used with other input
    DENIED = "denied"  # the role of who acts in the group does not allow it
    ENABLED = "enabled"  # the second factor is on
    ENDED = "ended"  # the session has ended
    FULL = "full"  # there are as many as a limit allows
    GONE = "gone"  # what it is about does not exist, or no longer
    HIDDEN = "hidden"  # the post is hidden
    HOUR = "hour"  # the limit of writes in an hour is reached
    IN_GROUP = "in_group"  # the member is in the group already
    LAST_OWNER = "last_owner"  # the group would be left without an owner
    LATE = "late"  # the reserved pictures were given back meanwhile
    NO_COMMENT = "no_comment"  # the comment that is answered does not exist, or no longer
    OUTRANKED = "outranked"  # the member has an equal or higher role
    PLAIN = "plain"  # the post is a plain repost
    PURPOSE = "purpose"  # the picture was uploaded for another purpose
    REPORTED = "reported"  # the reporter has an open report of the subject
    RESOLVED = "resolved"  # the report is resolved already
    STALE = "stale"  # the token is forged, used, replaced or expired
    STRANGER = "stranger"  # the member is not in the group
    TAKEN = "taken"  # it is another member's
    TEXT = "text"  # the same text was sent to as many others as may get it
    UNASKED = "unasked"  # the member has not asked to join the group
    UNREADY = "unready"  # the picture is still processed, or its processing has failed
    UNVERIFIED = "unverified"  # the address is not verified
    UNWILLING = "unwilling"  # the member does not take messages from who writes


Exceeded = Literal[Refusal.HOUR, Refusal.TEXT]  # limits on writes
Name = TypeVar("Name")


class PartRefused(NamedTuple, Generic[Name]):
    """The refusal of one part of a change, and the part: a picture by its place, or a member."""

    refusal: Name
    part: str


class Surplus(NamedTuple, Generic[Result]):
    """What was made past a limit, at the same moment as others. It has to be deleted."""

    exceeded: Exceeded
    made: Result


def refused(reply: Any) -> Any | None:
    """Return the refusal that a script's reply is, or a PartRefused, None for the reply of a change."""
    if not isinstance(reply, str):
        return None
    name, _, part = reply.partition(" ")
    return PartRefused(Refusal(name), part) if part else Refusal(name)


def refused_members(members: Sequence[int], answers: Sequence[str]) -> dict[int, Any]:
    """Return the refusals among a script's answers to members; an empty answer is none."""
    return {member: Refusal(answer) for member, answer in zip(members, answers, strict=True) if answer}


def accepted(outcome: Result | Refusal | PartRefused[Any] | Surplus[Any]) -> Result:
    """Return what a change has made, for a caller who is never refused. Raises ValueError for a refusal."""
    if isinstance(outcome, Refusal | PartRefused | Surplus):
        raise ValueError(outcome)  # noqa: TRY004  a broken expectation, not a wrong type
    return outcome
