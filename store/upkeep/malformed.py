"""Keys that do not have the form of their kind: another type, or values that nothing can read.

Checks of invariants read values without doubt, because a malformed one is found here under its own key.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from redis.exceptions import ResponseError

from store import kinds
from store.client.database import Command, Database
from store.upkeep import counters
from store.upkeep.comparing import read_command
from store.upkeep.findings import Finding
from store.upkeep.forms import ANY, FORMS, OWN, KeyForm
from store.upkeep.scanning import DESCRIBED, kind_of

_COUNTERS = {(one.of.name, one.counter): one for one in kinds.LISTS if one.counter}
_REMOVES = {"hash": "HDEL", "set": "SREM", "zset": "ZREM"}


class _Kind(Struct, frozen=True):
    """A kind of key as it is checked: its type, and the compiled patterns of its form."""

    name: str
    type: str
    form: KeyForm
    entry: re.Pattern[str]
    value: re.Pattern[str]
    fields: Mapping[str, re.Pattern[str]]


def _compiled(name: str, kind: str) -> _Kind:
    form = FORMS.get(name, KeyForm())
    patterns = {field: re.compile(text, re.DOTALL) for field, text in {**form.optional, **form.fields}.items()}
    return _Kind(name, kind, form, re.compile(form.entry, re.DOTALL), re.compile(form.value, re.DOTALL), patterns)


_KINDS = {one.name: _compiled(one.name, one.kind) for one in DESCRIBED}


async def malformed(db: Database, found: Sequence[str]) -> list[Finding]:
    """Return what does not have its form among some keys. Keys of unknown kinds are left out. One round trip.

    A field of a record that is no counter is the truth, so a person has to decide on it.
    """
    known = [(key, kind) for key in found if (kind := _KINDS.get(kind_of(key)))]
    replies = await db.run([_read(key, kind) for key, kind in known])
    return [one for (key, kind), reply in zip(known, replies, strict=True) for one in _wrong(key, kind, reply)]


def _read(key: str, kind: _Kind) -> Command:
    """Return the command that reads what has a form: of a stream whose entries have none, only whether it is one."""
    return ("XLEN", key) if kind.type == "stream" and not kind.fields else read_command(kind.type, key)


def _wrong(key: str, kind: _Kind, reply: Any) -> list[Finding]:
    if isinstance(reply, ResponseError):
        mend = [] if kind.form.is_truth else [("DEL", key)]
        return [Finding(key, f"is no {kind.type}", mend, is_unreadable=True)]
    if isinstance(reply, Exception):
        raise reply
    if not reply:
        return []
    if kind.type == "stream":
        return _wrong_jobs(key, kind, reply) if kind.fields else []
    if kind.type == "string":
        mend = [] if kind.form.is_truth else [("DEL", key)]
        return [] if kind.entry.fullmatch(reply) else [Finding(key, "is malformed", mend)]
    if kind.type == "hash" and kind.fields:
        return _wrong_fields(key, kind, dict(zip(reply[::2], reply[1::2], strict=True)))
    return _wrong_entries(key, kind, reply)


def _wrong_fields(key: str, kind: _Kind, fields: Mapping[str, str]) -> list[Finding]:
    lacks = [field for field in kind.form.fields if field not in fields]
    bad = [name for name, pattern in kind.fields.items() if name in fields and not pattern.fullmatch(fields[name])]
    return [
        Finding(key, f"{message} {field}", _mend_field(key, kind, field))
        for message, some in (("lacks its", lacks), ("has a malformed", bad))
        for field in some
    ]


def _mend_field(key: str, kind: _Kind, field: str) -> list[Command]:
    """Return the commands that set a counter of a record to its total, or remove what is not the truth."""
    if counted := _COUNTERS.get((kind.name, field)):
        return counters.recount_list(counted, int(key.rpartition(":")[2]))
    if kind.form.is_truth:
        return []
    return [("DEL", key) if field in kind.form.fields else ("HDEL", key, field)]


def _wrong_jobs(key: str, kind: _Kind, reply: Sequence[tuple[str, Sequence[str]]]) -> list[Finding]:
    bad = [
        entry
        for entry, pairs in reply
        if _wrong_fields(key, kind, dict(zip(pairs[::2], pairs[1::2], strict=True))) or not entry.endswith("-0")
    ]
    mend = [("XACK", key, "workers", *bad), ("XDEL", key, *bad)]
    return [Finding(key, f"has {len(bad)} jobs that nobody can do", mend)] if bad else []


def _wrong_entries(key: str, kind: _Kind, reply: Sequence[str]) -> list[Finding]:
    is_paired = kind.type in {"hash", "zset"}
    entries, values = (reply[::2], reply[1::2]) if is_paired else (reply, ())
    matches, value_matches = kind.entry.fullmatch, kind.value.fullmatch
    bad = [entry for entry in entries if not matches(entry)]
    if kind.type == "hash" and kind.form.value != ANY:
        bad += [entry for entry, value in zip(entries, values, strict=True) if not value_matches(value)]
    found = []
    if bad:
        remove = [("LREM", key, 0, one) for one in bad] if kind.type == "list" else [(_REMOVES[kind.type], key, *bad)]
        found.append(Finding(key, f"has {len(bad)} malformed entries", [] if kind.form.is_truth else remove))
    if kind.form.score and entries != values:
        own = [entry.partition(":")[0] if kind.form.score == OWN else kind.form.score for entry in entries]
        scored = zip(entries, own, values, strict=True)
        moved = [(entry, right) for entry, right, score in scored if right != score and matches(entry)]
        mend = [("ZADD", key, "XX", right, entry) for entry, right in moved]
        found += [Finding(key, f"has {len(moved)} entries with a score that is not their own", mend)] if moved else []
    return found


async def run_repairs(db: Database, commands: Sequence[Command]) -> list[bool]:
    """Run commands, and return whether each was stopped by a malformed value. Raises Unavailable. One round trip."""
    replies = await db.run(commands)
    for reply in replies:
        if isinstance(reply, Exception) and not isinstance(reply, ResponseError):
            raise reply
    return [isinstance(reply, ResponseError) for reply in replies]
