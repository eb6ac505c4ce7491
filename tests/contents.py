"""What the store holds, whole, so that a test can say that nothing was written."""

from __future__ import annotations

from typing import Any

from resolvers import identity
from store import keys
from store.connection import Command, Database
from tests.conftest import Member

_READ: dict[str, tuple[str, tuple[Any, ...]]] = {
    "string": ("GET", ()),
    "hash": ("HGETALL", ()),
    "zset": ("ZRANGE", (0, -1, "WITHSCORES")),
    "stream": ("XRANGE", ("-", "+")),
}
LASTING = -1  # what PTTL says of a key that never expires
ABSENT = -2  # what it says of a key that does not exist


async def contents(db: Database, *, but: str = "") -> dict[str, Any]:
    """Return every key with its value, but those that begin with `but`; times to live are not part of it."""
    names = sorted(name for name in await db.one("KEYS", "*") if not but or not name.startswith(but))
    kinds = await db.ask(*(("TYPE", name) for name in names))
    commands: list[Command] = []
    for name, kind in zip(names, kinds, strict=True):
        command, rest = _READ[kind]
        commands.append((command, name, *rest))
    return dict(zip(names, await db.ask(*commands), strict=True))


async def life(db: Database, key: str) -> int:
    """Return for how many more milliseconds a key lives, LASTING, or ABSENT."""
    return int(await db.one("PTTL", key))


async def expire(db: Database, key: str) -> None:
    """Let the time of a key run out that must have a limit."""
    assert await life(db, key) > 0
    await db.one("PEXPIRE", key, 0)


def number(member: Member) -> int:
    """Return the number by which the store knows a member."""
    found = identity.read(member.id)
    assert found
    return found[1]


def sessions_key(member: Member) -> str:
    """Return the key of a member's sessions."""
    return keys.sessions(number(member))


def refusals(payload: Any) -> list[tuple[str | None, str]]:
    """Return field and code of each user error; a refused mutation must give nothing else."""
    assert all(value is None for name, value in payload.items() if name != "userErrors"), payload
    for error in payload["userErrors"]:
        assert error["message"]
    return [(".".join(error["field"]) if error["field"] else None, error["code"]) for error in payload["userErrors"]]
