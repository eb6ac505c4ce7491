"""Forms of stored values: what a value looks like without what it says, for each kind of key and each field."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from store.keys import fields
from store.keys.table import described

FIELDS = {
    value
    for kind in vars(fields).values()
    if isinstance(kind, type)
    for name, value in vars(kind).items()
    if name.isupper()
}  # names of fields that the code writes; all others are ids or texts
MOMENTARY = ("rescore:", "jobs:", "progress:")  # kinds of keys that exist while work waits
Forms = dict[str, list[str]]  # place, such as `status:{209}:POST hashtags` → the forms of its values

_DESCRIBED = described()
_RANDOM = re.compile(r"(?=[\w+/=-]*[A-Za-z])[\w+/=-]{8,}")  # a digest, a token or a long word
_NUMBER = re.compile(r"\d+(\.\d+)?")
_ID_DIGITS = 14  # and more, of an id
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"[A-Z][A-Z_]+")  # of an enumeration
_REPEATED = re.compile(r"([^A-Z:]{1,40}?)\1+")


def of_commands(commands: Iterable[list[str]], jobs: Iterable[Mapping[str, str]]) -> Forms:
    """Return the forms of a store that commands make, and of jobs as they are stored."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, key, *rest in commands:
        if not key.startswith(MOMENTARY):
            for place, text in _values(name, rest):
                found[f"{_kind(key)} {place}".strip()].add(form(text))
    for job in jobs:
        for field, value in json.loads(job["body"]).items():
            found[f"job {job['kind']} {field}"].add(form(value if isinstance(value, str) else json.dumps(value)))
    return {place: sorted(forms) for place, forms in sorted(found.items())}


def _kind(key: str) -> str:
    """Return the documented form of a key."""
    return next(kind.shown for kind in _DESCRIBED if kind.pattern.fullmatch(key))


def _values(command: str, rest: list[str]) -> list[tuple[str, str]]:
    """Return the values that a command writes, each after the field that holds it."""
    match command:
        case "HSET":
            pairs = zip(rest[::2], rest[1::2], strict=True)
            return [(name if name in FIELDS else form(name), value) for name, value in pairs]
        case "XADD":
            stored = dict(zip(rest[1::2], rest[2::2], strict=True))
            return [(f"{stored['kind']} {name}", value) for name, value in stored.items()]
        case "ZADD":
            return [("", member) for member in rest[1::2]]
        case "EXPIRE" | "XGROUP":
            return []
    return [("", value) for value in rest]


def form(value: str) -> str:
    """Return the form of a value: that of each part of JSON, or of a text."""
    if value[:1] in {"[", "{"}:
        try:
            return json.dumps(_within(json.loads(value)), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        except ValueError:
            pass
    return _text(value)


def _within(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _within(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_within(one) for one in value]
    return _text(value) if isinstance(value, str) else type(value).__name__


def _text(value: str) -> str:
    """Return a text with `9` for each id, `0` for a zero, `1` for other numbers, `x` for words, and nothing twice.

    Names in capitals stay.
    """
    for pattern in (_RANDOM, _NUMBER, _WORD):
        value = pattern.sub(_marked, value)
    return _REPEATED.sub(r"\1", value)


def _marked(found: re.Match[str]) -> str:
    text = found[0]
    if not text[0].isdecimal() or not _NUMBER.fullmatch(text):
        return text if _NAME.fullmatch(text) else "x"
    return "9" if len(text) >= _ID_DIGITS else "1" if float(text) else "0"
