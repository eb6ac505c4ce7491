"""Every key in Redis, built here and nowhere else.

The docstring of each function is the documentation of its key: the type, what it holds, how it is bounded.
`{209}` is the hash tag: the partition of the id that names the key, so that all a member owns can change in one step.
"""

from __future__ import annotations

from collections.abc import Callable

from store.keys.members import *  # noqa: F403  three files, one name space
from store.keys.posts import *  # noqa: F403
from store.keys.site import *  # noqa: F403

DAY = 86_400  # s: how long idempotency keys and tombstones are kept


def stem(key: Callable[[int], str]) -> str:
    """Return what all keys of one kind begin with, for scripts that complete it with the tag of a member."""
    return key(0).partition("{")[0]


def home_keys(member: int) -> list[str]:
    """Return the keys of a home in the order in which scripts have them."""
    return [home(member), home_state(member), sources(member), newest(member)]  # noqa: F405


def tag(member: int) -> str:
    """Return what ends all keys of a member that nothing else is named in: hash tag and member."""
    return home(member).partition(":")[2]  # noqa: F405


def prefix(key: Callable[[int], str], p: int) -> str:
    """Return what all keys of one kind in a partition begin with, for scripts that complete it with an id."""
    return key(p << 4).rpartition(":")[0] + ":"
