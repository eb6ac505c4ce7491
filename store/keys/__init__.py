"""Builds the names of all keys in Redis. No other code builds a key.

The docstring of each function documents its key: its type, its content and its bound. The hash tag, such as `{209}`, is
the partition of the id in the key. So one script can change everything that a member owns.
"""

from collections.abc import Callable

from store.keys.groups import *  # noqa: F403  one name space
from store.keys.members import *  # noqa: F403
from store.keys.messaging import *  # noqa: F403
from store.keys.moderation import *  # noqa: F403
from store.keys.pictures import *  # noqa: F403
from store.keys.posts import *  # noqa: F403
from store.keys.site import *  # noqa: F403

DAY = 86_400  # s: lifetime of idempotency keys and tombstones


def stem(key: Callable[[int], str]) -> str:
    """Return the common beginning of all keys of a kind, for scripts that append a member's `tag`."""
    return key(0).partition("{")[0]


def of(owner: int, *kinds: Callable[[int], str]) -> dict[str, str]:
    """Return keys of one owner by the names that scripts give them. `owner` is an id, or a partition."""
    return {kind.__name__: kind(owner) for kind in kinds}


def committing(p: int) -> dict[str, str | int]:
    """Return what every script takes that commits a job in a partition."""
    return {"minted": minted(p), "jobs": jobs(p), "partition": p}  # noqa: F405


def home_keys(member: int) -> dict[str, str]:
    """Return the keys of a home by the names that scripts give them."""
    return of(member, home, home_state, sources, candidates, newest)  # noqa: F405


def tag(member: int) -> str:
    """Return the hash tag and id that end a member's keys, for keys that name nothing else."""
    return home(member).partition(":")[2]  # noqa: F405


def hash_tag(p: int) -> str:
    """Return the part of a partition's keys that decides their slot."""
    return f"{{{p}}}"


def prefix(key: Callable[[int], str], p: int) -> str:
    """Return the common beginning of all keys of a kind in a partition, for scripts that append an id."""
    return key(p << 4).rpartition(":")[0] + ":"
