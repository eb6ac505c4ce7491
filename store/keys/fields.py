"""The fields of the hashes in Redis. Python and Lua both write `UserField.LOGIN`; no other code spells a field.

The comment of a field says what it holds, unless its name does.
"""

from __future__ import annotations


class UserField:
    """Fields of `user:`."""

    PINNED = "pinned"  # post at the top of their profile; absent without one


class StatusField:
    """Fields of `status:`."""

    AUTHOR = "author"
    HIDDEN = "hidden"  # present while moderators hide the post
    ORIGINAL = "original"  # post that this one reposts
    TEXT = "text"  # empty in a plain repost
