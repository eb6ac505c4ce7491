"""Stores that versions of Perch have written, as files: the commands that make each, and what members saw of it."""

import base64
import io
import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from store.client.database import Command, Database
from store.media.objects import PictureForm
from tests.support.people import Member
from tests.support.stored import find

FOLDER = Path(__file__).with_name("stores")
KEPT_SECONDS = 86_400  # life of a key that expires, from the moment at which a test loads it
MOMENTARY = ("attempts:", "rate:", "slot:", "processes:")  # keys that say nothing of what a store holds
ID = re.compile(r"[a-z]+_[0-9a-f]{14}")  # a global id


class Seen(Struct):
    """What one member was answered."""

    login: str
    document: str
    variables: dict[str, Any]
    data: dict[str, Any]


class OldStore(Struct):
    """A store as an older version left it."""

    version: str  # commit and date
    commands: list[list[str]]
    objects: dict[str, str]  # path of a stored object of a picture → its bytes in base64
    seen: list[Seen]


def names() -> list[str]:
    """Return the names of all stores, oldest first."""
    return sorted(path.name.partition(".")[0] for path in FOLDER.glob("*.json.xz"))


def load(name: str) -> OldStore:
    """Return a store from its file."""
    found = json.loads(lzma.decompress((FOLDER / f"{name}.json.xz").read_bytes()))
    seen = [Seen(**one) for one in found.pop("seen")]
    return OldStore(**found, seen=seen)


def save(name: str, store: OldStore) -> None:
    """Write a store into its file. The same store makes the same bytes."""
    text = json.dumps(to_builtins(store), ensure_ascii=False, separators=(",", ":"))
    (FOLDER / f"{name}.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))


async def restore(db: Database, store: OldStore) -> None:
    """Make a store of its commands, and store the objects of its pictures."""
    await db.ask(*(tuple(command) for command in store.commands))
    for path, data in store.objects.items():
        name, _, form = path.partition("/")
        await db.media.put(name, PictureForm(form), io.BytesIO(base64.b64decode(data)))


async def dump(db: Database) -> list[list[str]]:
    """Return the commands that make the same keys again. Two round trips for each key."""
    commands: list[list[str]] = []
    for key in sorted(await find(db)):
        if not key.startswith(MOMENTARY):
            commands += [[str(word) for word in command] async for command in _making(db, key)]
    return commands


async def _making(db: Database, key: str) -> Any:
    kind, expires = await db.ask(("TYPE", key), ("TTL", key))
    match kind:
        case "string":
            yield ("SET", key, await db.one("GET", key))
        case "hash":
            yield ("HSET", key, *await db.one("HGETALL", key))
        case "set":
            yield ("SADD", key, *sorted(await db.one("SMEMBERS", key)))
        case "list":
            yield ("RPUSH", key, *await db.one("LRANGE", key, 0, -1))
        case "zset":
            found = await db.one("ZRANGE", key, 0, -1, "WITHSCORES")
            yield ("ZADD", key, *(word for pair in zip(found[1::2], found[::2], strict=True) for word in pair))
        case "stream":
            for command in await _stream(db, key):
                yield command
    if expires > 0:
        yield ("EXPIRE", key, KEPT_SECONDS)


async def _stream(db: Database, key: str) -> list[Command]:
    entries = [("XADD", key, entry, *fields) for entry, fields in await db.one("XRANGE", key, "-", "+")]
    groups = [dict(zip(group[::2], group[1::2], strict=True)) for group in await db.one("XINFO", "GROUPS", key)]
    return [
        *entries,
        *(("XGROUP", "CREATE", key, found["name"], found["last-delivered-id"], "MKSTREAM") for found in groups),
    ]


async def look(member: Member, document: str, **variables: Any) -> Seen:
    """Return what a member sees. The ids in the answer are asked for, too, until there are no others."""
    ids: set[str] = set(variables.get("ids", ()))
    while True:
        given = {**variables, "ids": sorted(ids)} if ids else variables
        answer = await member.send(document, **given)
        refused = {error["extensions"]["code"] for error in answer.get("errors", ())}
        assert refused <= {"FORBIDDEN"}, answer["errors"]  # of what only moderators see
        found = set(_ids(answer["data"])) if ids else set()
        if found <= ids:
            return Seen(member.login, document, given, answer["data"])
        ids |= found


def _ids(data: Any) -> Iterator[str]:
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _ids(value)
    elif isinstance(data, str) and ID.fullmatch(data):
        yield data
