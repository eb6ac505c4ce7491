"""Damages to every kind of key in the key table: lost, of a wrong type, and with wrong entries or values."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from store.client.database import Command, Database
from store.keys.table import Described, described
from store.upkeep.comparing import read_command

RUBBISH = "rubbish"
KINDS: Mapping[str, Described] = {kind.name: kind for kind in described()}

_ID = re.compile(r"\d{10,}")
_NAME = re.compile(r"\{([^}]*[a-z][^}]*)\}")  # such as a login or hashtag


@dataclass(frozen=True)
class Damage:
    """A change of one kind to one key. `about` are the ids and names that a finding about it may name."""

    name: str
    key: str
    commands: Sequence[Command]
    about: frozenset[str]


async def content(db: Database, names: Sequence[str]) -> dict[str, Any]:
    """Return the type and content of some keys, in an order that does not depend on the server."""
    types = await db.ask(*(("TYPE", name) for name in names))
    present = [(name, kind) for name, kind in zip(names, types, strict=True) if kind != "none"]
    reads = [read_command(kind, name) for name, kind in present]
    replies = await db.ask(*reads)
    return {name: _ordered(kind, reply) for (name, kind), reply in zip(present, replies, strict=True)}


def _ordered(kind: str, reply: Any) -> Any:
    if kind == "hash":
        return dict(zip(reply[::2], reply[1::2], strict=True))
    return sorted(reply) if kind == "set" else reply


def damages(kind: str, key: str, held: Any, ghost: int) -> Iterator[Damage]:
    """Yield the damages to a key of a type, which holds something. `ghost` is an id that nobody and nothing has."""

    def damage(name: str, *commands: Command) -> Damage:
        words = _ID.findall(f"{key} {held}") + _NAME.findall(key)
        return Damage(name, key, commands, frozenset([key, str(ghost), *words]))

    yield damage("lost key", ("DEL", key))
    yield damage("wrong type", ("DEL", key), ("SET", key, RUBBISH) if kind != "string" else ("RPUSH", key, RUBBISH))
    for name, *commands in _OF_TYPE[kind](key, held, str(ghost)):
        yield damage(name, *commands)


def _string(key: str, held: str, ghost: str) -> Iterator[Any]:
    yield "malformed value", ("SET", key, RUBBISH, "KEEPTTL")
    if held.isdigit():
        yield "wrong value", ("SET", key, ghost, "KEEPTTL")


def _hash(key: str, held: Mapping[str, str], ghost: str) -> Iterator[Any]:
    """Damage each field of a record, which has a name, or the first entry of a hash whose fields are ids."""
    is_record = all(re.fullmatch(r"[a-z_]+", field) for field in held)
    for field in held if is_record else list(held)[:1]:
        of = f" {field}" if is_record else ""
        yield f"lost entry{of}", ("HDEL", key, field)
        if re.fullmatch(r"[\d: ]+", held[field]):
            yield f"malformed value{of}", ("HSET", key, field, RUBBISH)
            yield f"wrong value{of}", ("HSET", key, field, _other(held[field], ghost))
    if not is_record:
        yield "extra entry", ("HSET", key, ghost, next(iter(held.values())))


def _zset(key: str, held: Sequence[str], ghost: str) -> Iterator[Any]:
    entry, score = held[-2:]
    yield "lost entry", ("ZREM", key, entry)
    yield "extra entry", ("ZADD", key, ghost, _other(entry, ghost))
    yield "malformed value", ("ZREM", key, entry), ("ZADD", key, score, RUBBISH)
    yield "wrong value", ("ZADD", key, float(score) + 1, entry)


def _set(key: str, held: Sequence[str], ghost: str) -> Iterator[Any]:
    yield "lost entry", ("SREM", key, held[0])
    yield "extra entry", ("SADD", key, ghost)
    yield "malformed value", ("SADD", key, RUBBISH)


def _list(key: str, held: Sequence[str], ghost: str) -> Iterator[Any]:
    yield "lost entry", ("LREM", key, -1, held[-1])
    yield "extra entry", ("LPUSH", key, ghost)
    yield "malformed value", ("LSET", key, 0, RUBBISH)
    yield "wrong value", ("LSET", key, -1, ghost)


def _stream(key: str, held: Sequence[Any], ghost: str) -> Iterator[Any]:
    yield "extra entry", ("XADD", key, "*", "kind", ghost)
    if held:
        yield "lost entry", ("XDEL", key, held[0][0])


def _other(text: str, ghost: str) -> str:
    """Return a text with another id in place of the first, or with other numbers."""
    return _ID.sub(ghost, text, count=1) if _ID.search(text) else re.sub(r"\d+", "7", text) + "7" * (":" not in text)


_OF_TYPE: Mapping[str, Callable[[str, Any, str], Iterator[Any]]] = {
    "string": _string,
    "hash": _hash,
    "zset": _zset,
    "set": _set,
    "list": _list,
    "stream": _stream,
}
