"""Compares the content of keys in two databases, and how many keys these have."""

import re
from collections.abc import Sequence
from typing import Any

from store.client.database import Command, Database
from store.records.lists import read_pairs

_READS: dict[str, Command] = {
    "string": ("GET",),
    "hash": ("HGETALL",),
    "list": ("LRANGE", 0, -1),
    "set": ("SMEMBERS",),
    "zset": ("ZRANGE", 0, -1, "WITHSCORES"),
    "stream": ("XRANGE", "-", "+"),
}
_GROUPS = ("name", "consumers", "pending", "last-delivered-id")
_STREAM = ("length", "last-generated-id", "entries-added")


def read_command(kind: str, key: str) -> Command:
    """Return the command that reads the whole content of a key of a type."""
    name, *bounds = _READS[kind]
    return (name, key, *bounds)


async def differing(one: Database, other: Database, names: Sequence[str]) -> list[str]:
    """Return the keys among some whose type, content or expiry differs. A key may have expired in one of them."""
    found = await _contents(one, names)
    again = await _contents(other, names)
    unequal = [name for name in names if found[name] != again[name]]
    # Read once more: by now, a key that expired in one has expired in both.
    found, again = await _contents(one, unequal), await _contents(other, unequal)
    return [name for name in unequal if found[name] != again[name]]


async def _contents(db: Database, names: Sequence[str]) -> dict[str, Any]:
    """Return type, expiry and content of each key. Two or three round trips."""
    facts = await db.ask(*(part for name in names for part in (("TYPE", name), ("PEXPIRETIME", name))))
    kinds = dict(zip(names, facts[::2], strict=True))
    expiries = dict(zip(names, facts[1::2], strict=True))
    present = [name for name in names if kinds[name] != "none"]
    replies = dict(zip(present, await db.ask(*(read_command(kinds[name], name) for name in present)), strict=True))
    streams = [name for name in present if kinds[name] == "stream"]
    about = dict(zip(streams, await _about(db, streams), strict=True))
    return {
        name: (kinds[name], expiries[name], _ordered(kinds[name], replies[name]), about.get(name))
        if name in replies
        else None
        for name in names
    }


def _ordered(kind: str, reply: Any) -> Any:
    """Return the content of a key in an order that doesn't depend on the server."""
    if kind == "hash":
        return read_pairs(reply)
    return sorted(reply) if kind == "set" else reply


async def _about(db: Database, streams: Sequence[str]) -> list[Any]:
    """Return what streams hold beside their entries: groups, and entries delivered and not acknowledged."""
    looks = [("XINFO", look, name) for name in streams for look in ("STREAM", "GROUPS")]
    replies = await db.ask(*looks)
    found = []
    for stream, groups in zip(replies[::2], replies[1::2], strict=True):
        own = read_pairs(stream)
        found.append(
            ([own[fact] for fact in _STREAM], [[read_pairs(group)[fact] for fact in _GROUPS] for group in groups])
        )
    return found


async def lasting_keys(db: Database, number: int) -> int:
    """Return how many keys a database has that never expire, on all its nodes."""
    total = 0
    for (text,) in await db.each_node(("INFO", "keyspace")):
        for keys, expires in re.findall(rf"^db{number}:keys=(\d+),expires=(\d+)", str(text), re.MULTILINE):
            total += int(keys) - int(expires)
    return total
