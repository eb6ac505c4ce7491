"""What scripts take of keys: several by their names, and beginnings that they complete."""

from store.ids import SEQUENCE_BITS
from store.keys.declaring import Key
from store.keys.members import candidates, home, home_state, jobs, minted, newest, sources


def stem(key: Key) -> str:
    """Return the common beginning of all keys of a kind, for scripts that append a member's `tag`."""
    return key(0).partition("{")[0]


def prefix(key: Key, p: int) -> str:
    """Return the common beginning of all keys of a kind in a partition, for scripts that append an id."""
    return key(p << SEQUENCE_BITS).rpartition(":")[0] + ":"


def of(owner: int, *kinds: Key) -> dict[str, str]:
    """Return keys of one owner by the names that scripts give them. `owner` is an id, or a partition."""
    return {kind.__name__: kind(owner) for kind in kinds}


def hash_tag(p: int) -> str:
    """Return the part of a partition's keys that decides their slot."""
    return f"{{{p}}}"


def minting(p: int) -> dict[str, str | int]:
    """Return what every script takes that mints an id in a partition, and commits no job."""
    return {"minted": minted(p), "partition": p}


def committing(p: int) -> dict[str, str | int]:
    """Return what every script takes that commits a job in a partition."""
    return {"minted": minted(p), "jobs": jobs(p), "partition": p}


def home_keys(member: int) -> dict[str, str]:
    """Return the keys of a home by the names that scripts give them."""
    return of(member, home, home_state, sources, candidates, newest)


def tag(member: int) -> str:
    """Return the hash tag and id that end a member's keys, for keys that name nothing else."""
    return home(member).partition(":")[2]
