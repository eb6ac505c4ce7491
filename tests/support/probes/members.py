"""Helpers of tests of members and sessions: expiry of keys, and user errors in payloads."""

from typing import Any

from resolvers.reading import global_ids
from store.client.database import Database
from tests.support.people import Member

LASTING = -1  # PTTL's reply for a key that never expires
ABSENT = -2  # PTTL's reply for a key that does not exist


async def life(db: Database, key: str) -> int:
    """Return a key's time to live in milliseconds, LASTING, or ABSENT."""
    return int(await db.one("PTTL", key))


async def expire(db: Database, key: str) -> None:
    """Expire a key, which must have a time to live."""
    assert await life(db, key) > 0
    await db.one("PEXPIRE", key, 0)


def number(member: Member) -> int:
    """Return a member's id in the store."""
    found = global_ids.read(member.id)
    assert found
    return found[1]


def refusals(payload: Any) -> list[tuple[str | None, str]]:
    """Return field and code of each user error; a refused mutation must return nothing else."""
    assert all(value is None for name, value in payload.items() if name != "userErrors"), payload
    assert all(error["message"] for error in payload["userErrors"])
    return [(".".join(error["field"]) if error["field"] else None, error["code"]) for error in payload["userErrors"]]
