"""What scripts take of keys: several by their names, and beginnings that they complete."""

from store.ids import SEQUENCE_BITS
from store.keys.declaring import Key
from store.keys.members import home


def stem(key: Key) -> str:
    """Return the common beginning of all keys of a kind, for scripts that append a member's `tag`."""
    return key(0).partition("{")[0]


def prefix(key: Key, p: int) -> str:
    """Return the common beginning of all keys of a kind in a partition, for scripts that append an id."""
    return key(p << SEQUENCE_BITS).rpartition(":")[0] + ":"


def hash_tag(p: int) -> str:
    """Return the part of a partition's keys that decides their slot."""
    return f"{{{p}}}"


def tag(member: int) -> str:
    """Return the hash tag and id that end a member's keys, for keys that name nothing else."""
    return home(member).partition(":")[2]
