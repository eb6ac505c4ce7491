"""Snapshots of rankings, taken when a first page is read, so that later pages continue in the same order."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from store import keys
from store.client.database import Command

SNAPSHOT_SECONDS = 600  # s: how long a ranking can be paged through
_DIGITS = 14  # hexadecimal digits that hold the 53 bits of an id


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The place of a stored ranking: its digest, so that equal rankings are stored once, and the listing it ranks."""

    digest: str
    listing: str


def digest(ranked: Sequence[int]) -> str:
    """Return the digest that names a ranking: 32 hexadecimal digits of SHA-256."""
    return sha256(_text(ranked).encode()).hexdigest()[:32]


def keep(at: Snapshot, ranked: Sequence[int]) -> Command:
    """Return the command that stores a ranking for ten minutes from now."""
    return ("SET", keys.snapshot(at.digest, at.listing), _text(ranked), "EX", SNAPSHOT_SECONDS)


def _text(ranked: Sequence[int]) -> str:
    return "".join(f"{entity:0{_DIGITS}x}" for entity in ranked)


def kept(at: Snapshot, start: int, count: int) -> tuple[Command, Command]:
    """Return the commands that read whether a ranking is stored, and part of it."""
    key = keys.snapshot(at.digest, at.listing)
    return ("STRLEN", key), ("GETRANGE", key, start * _DIGITS, (start + count) * _DIGITS - 1)


def read_kept(length: int, text: str) -> list[int] | None:
    """Return the ids from the replies to the commands of `kept`, None when the ranking has expired or never existed."""
    return [int(text[i : i + _DIGITS], 16) for i in range(0, len(text), _DIGITS)] if length else None
