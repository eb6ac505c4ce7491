"""Rankings as they were when a first page was read, kept so that later pages go on in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from store import keys
from store.client.database import Command

SNAPSHOT_SECONDS = 600  # s: how long a ranking can be paged through
_DIGITS = 14  # hexadecimal digits that hold the 53 bits of an id


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Where a ranking is kept: under a digest of it, so that the same one is kept once, and the listing it is of."""

    digest: str
    listing: str


def digest(ranked: Sequence[int]) -> str:
    """Return what names a ranking, as 32 hexadecimal digits."""
    return sha256(_text(ranked).encode()).hexdigest()[:32]


def keep(at: Snapshot, ranked: Sequence[int]) -> Command:
    """Return the command that keeps a ranking, or keeps it ten minutes longer."""
    return ("SET", keys.snapshot(at.digest, at.listing), _text(ranked), "EX", SNAPSHOT_SECONDS)


def _text(ranked: Sequence[int]) -> str:
    return "".join(f"{thing:0{_DIGITS}x}" for thing in ranked)


def kept(at: Snapshot, start: int, count: int) -> tuple[Command, Command]:
    """Return the commands that read part of a ranking, and whether it is kept at all."""
    key = keys.snapshot(at.digest, at.listing)
    return ("STRLEN", key), ("GETRANGE", key, start * _DIGITS, (start + count) * _DIGITS - 1)


def read_kept(length: int, text: str) -> list[int] | None:
    """Return the ids that the commands have read, None when the ranking has expired or never was."""
    return [int(text[i : i + _DIGITS], 16) for i in range(0, len(text), _DIGITS)] if length else None
