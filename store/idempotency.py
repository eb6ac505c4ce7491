"""Idempotency keys of inputs whose results different partitions may store: one key belongs to one input.

The script that commits stores the result. A claim only keeps the key from being used in two partitions.
"""

from typing import Literal, NamedTuple

from store import keys
from store.client.database import Database
from store.refusals import Refusal


class Claim(NamedTuple):
    """A member's key for a mutation, and the digest of the input that it belongs to."""

    member: int
    mutation: str
    key: str
    digest: str


async def claim(db: Database, wanted: Claim) -> Literal[Refusal.CONFLICT] | None:
    """Bind a key to an input for a day. CONFLICT says that it was used with another input."""
    first = await db.one("SET", _key(wanted), wanted.digest, "NX", "GET", "EX", keys.DAY)
    return None if first in {None, wanted.digest} else Refusal.CONFLICT


async def release(db: Database, refused: Claim) -> None:
    """Release a key whose input was refused, so that it can be used for the corrected input."""
    await db.call("release_reservation", reservation=_key(refused), holder=refused.digest)


async def first_made(db: Database, author: int, mutation: str, key: str, digest: str) -> int | None:
    """Return the id that a member's earlier mutation with this key and the same input created, None without one."""
    used_for, _, made = (await db.one("GET", keys.idempotency(author, mutation, key)) or "").partition(" ")
    return int(made) if used_for == digest else None


def _key(one: Claim) -> str:
    return keys.idempotency(one.member, one.mutation, one.key)
