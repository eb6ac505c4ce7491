"""Loads the scripts of `store/scripts`, each with its parameters and with those shared declarations that it uses.

A script names its parameters in its header, where a note in parentheses may follow a name:

    -- KEYS: user, idempotency?
    -- ARGV: author, grace (ms).

Each becomes a local variable of the script. A caller may leave out a name with a question mark. A name with three dots
takes a list. A list of names goes on in the next line after a comma, and may end with a period.

A caller gives the id of the keys' owner, or names a `partition`. The loader then adds keys that have the names of
`store.keys`, such as `user` and `jobs`. It also adds the `partition`, and beginnings of keys in it, such as
`image_prefix`. A caller names any key of somebody else, which then replaces the owner's. Optional ones are not added.

A script that commits jobs gets one more argument, which no caller names: the `trace` of the running operation.

A script writes the field of a hash as Python does, such as `UserField.LOGIN`. The loader replaces it by its text, and
`Stem.blocked` by the beginning of the keys that `keys.blocked` makes. The script adds the hash tag, and an id. A script
writes a refusal as Python does, too: `return Refusal.GONE`.

The server creates every function of a script again on each run. Creating all shared functions would take several times
as long as most scripts run.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from store import keys
from store.client.tracing import running_trace
from store.ids import partition
from store.keys import fields
from store.keys.declaring import OF_PARTITION, OWNED, Key
from store.refusals import Refusal

FOLDER = Path(__file__).parents[1] / "scripts"
SHARED = (
    "prelude",
    "announcing",
    "home",
    "placing",
    "delivering",
    "mailbox",
    "edges",
    "groups",
    "messaging",
    "two_factor",
    "limits",
    "moderation",
    "mail",
    "pictures",
)  # files of shared declarations, in this order

_COMMITTING = "commit"  # the shared function that commits jobs
_TRACE = "local trace = table.remove(ARGV) "  # the script itself does not see this argument

_COMMENT = re.compile(r"--.*")
_WORD = re.compile(r"\w+")
_DECLARED = re.compile(r"local (?:function )?(\w+)")
_HEADER = re.compile(r"^-- (KEYS|ARGV): ((?:.*,\n-- *)*.*?(?:\.\.\.)?)\.?$", re.MULTILINE)
_NOTE = re.compile(r"\([^)]*\)|\n--")
_PARAMETER = re.compile(r"(\w+)(\?|\.\.\.)?")
_MADE = re.compile(r"partition|\w+_prefix")  # the arguments that an owner may have
_FIELD = re.compile(r"\b([A-Z]\w*Field)\.(\w+)")
_STEM = re.compile(r"\bStem\.(\w+)")
_REFUSAL = re.compile(r"\bRefusal\.(\w+)")


@dataclass(frozen=True, slots=True)
class ScriptParameters:
    """The keys, or the arguments, of a script in their order."""

    table: str  # KEYS or ARGV
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    rest: str | None = None  # takes a list of any length

    @classmethod
    def read(cls, table: str, text: str) -> "ScriptParameters":
        """Return the parameters that one line of a header names. Raises ValueError."""
        kinds: dict[str | None, list[str]] = {None: [], "?": [], "...": []}
        latest = 0
        for part in _NOTE.sub("", text).split(","):
            match = _PARAMETER.fullmatch(part.strip())
            if not match or (order := list(kinds).index(match[2])) < latest or kinds["..."]:
                raise ValueError(f"{table}: {part.strip()!r} is not a parameter, or not in the order: a, b?, c...")
            latest = order
            kinds[match[2]].append(match[1])
        return cls(table, tuple(kinds[None]), tuple(kinds["?"]), next(iter(kinds["..."]), None))

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.required, *self.optional, *([self.rest] if self.rest else []))

    def values(self, named: Mapping[str, Any]) -> list[Any]:
        """Return the values of named parameters in their order. Raises KeyError for a missing one."""
        values = list(map(named.__getitem__, self.required))
        for name in self.optional:
            if name in named:
                if len(values) < len(self.required) + self.optional.index(name):
                    raise KeyError(name)
                values.append(named[name])
        if self.rest:
            values += named[self.rest]
        return values

    def unpacking(self) -> str:
        """Return the Lua code that makes each parameter a local variable, in one line."""
        single = (*self.required, *self.optional)
        places = ", ".join(f"{self.table}[{i + 1}]" for i in range(len(single)))
        code = f"local {', '.join(single)} = {places} " if single else ""
        if self.rest:
            # unpack() has a limit of 8,000 values.
            code += f"local {self.rest} = {{}} for i = {len(single) + 1}, #{self.table} do "
            code += f"{self.rest}[i - {len(single)}] = {self.table}[i] end "
        return code


@dataclass(frozen=True, slots=True)
class Script:
    """A script with its parameters, ready to be loaded."""

    name: str
    text: str
    digest: str
    keys: ScriptParameters
    arguments: ScriptParameters
    names: frozenset[str]  # of both, and the partition that has some of the keys
    owned: tuple[tuple[str, Key], ...]  # what an owner has of these
    of_partition: tuple[tuple[str, Callable[[int], str | int]], ...]  # what a partition has of these
    takes_trace: bool = False  # whether it commits jobs, which carry the running trace

    @property
    def guarded(self) -> str:
        """The text of the script for a cluster, where one more key is named with it, which the script does not see."""
        flags, body = self.text.split("\n", 1) if self.text.startswith("#!") else ("", self.text)
        return (f"{flags}\n" if flags else "") + "table.remove(KEYS) " + body

    def command(self, owner: int | None, named: dict[str, Any]) -> tuple[Any, ...]:
        """Return the command that runs the script, with what its owner has.

        Raises TypeError unless exactly its other parameters are named.
        """
        if owner is not None:
            has: dict[str, Any] = {name: key(owner) for name, key in self.owned}
            if self.of_partition:
                p = partition(owner)
                has |= {name: part(p) for name, part in self.of_partition}
            named = has | named
        elif "partition" in named:
            named = {name: part(named["partition"]) for name, part in self.of_partition} | named
        try:
            keys, arguments = self.keys.values(named), self.arguments.values(named)
        except KeyError:
            raise self._mismatch(named) from None
        if not named.keys() <= self.names:
            raise self._mismatch(named)
        if self.takes_trace:
            arguments.append(running_trace())
        return ("EVALSHA", self.digest, len(keys), *keys, *arguments)

    def _mismatch(self, named: Mapping[str, Any]) -> TypeError:
        return TypeError(
            f"{self.name}: takes {', '.join((*self.keys.names, *self.arguments.names))}, not {', '.join(named)}"
        )


def _load() -> dict[str, Script]:
    files = {path.stem: path.read_text("utf-8") for path in FOLDER.rglob("*.lua")}
    shared = [chunk for name in SHARED for chunk in _declarations(files.pop(name))]
    return {name: _script(name, shared, text) for name, text in files.items()}


def _script(name: str, shared: Iterable[str], text: str) -> Script:
    """Return a script with all that it uses. A line of flags (`#!lua flags=...`) stays first."""
    flags, body = text.split("\n", 1) if text.startswith("#!") else ("", text)
    declared = {table: ScriptParameters.read(table, names) for table, names in _HEADER.findall(body)}
    keys, arguments = (declared.get(table, ScriptParameters(table)) for table in ("KEYS", "ARGV"))
    needed = _needed(shared, body)
    shares = [found[1] for chunk in needed if (found := _DECLARED.match(chunk))]
    names, takes_trace = [*keys.names, *arguments.names, *shares], _COMMITTING in shares
    if twice := {word for word in names if names.count(word) > 1}:
        raise ValueError(f"{name}: {', '.join(sorted(twice))} is declared twice")
    first = [f"{flags}\n" if flags else "", _TRACE if takes_trace else ""]
    parts = [*first, *needed, keys.unpacking(), arguments.unpacking(), "\n", body]
    whole = spelled("".join(parts))
    made = (*keys.required, *filter(_MADE.fullmatch, arguments.required))
    owned = tuple((one, OWNED[one]) for one in made if one in OWNED)
    of_partition = tuple((one, part) for one in made if (part := _of_partition(one)))
    known = frozenset((*keys.names, *arguments.names, *(["partition"] if of_partition else [])))
    return Script(name, whole, _digest(whole), keys, arguments, known, owned, of_partition, takes_trace)


def _of_partition(parameter: str) -> Callable[[int], str | int] | None:
    """Return what makes a parameter that a partition has: a key, the beginning of keys, or its number."""
    if parameter == "partition":
        return int
    kind = OWNED.get(parameter.removesuffix("_prefix"))
    if kind and parameter.endswith("_prefix"):
        return partial(keys.prefix, kind)
    return OF_PARTITION.get(parameter)


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def spelled(text: str) -> str:
    """Return a script's text with the fields, stems and refusals it names. Raises AttributeError for an unknown one."""
    return _REFUSAL.sub(_refusal, _STEM.sub(_stem, _FIELD.sub(_field, text)))


def _field(found: re.Match[str]) -> str:
    """Return the text of a field as Lua writes it."""
    return f"'{getattr(getattr(fields, found[1]), found[2])}'"


def _stem(found: re.Match[str]) -> str:
    """Return the text of a stem as Lua writes it."""
    return f"'{keys.stem(getattr(keys, found[1]))}'"


def _refusal(found: re.Match[str]) -> str:
    """Return the text of a refusal as Lua writes it."""
    return f"'{getattr(Refusal, found[1]).value}'"


def _declarations(text: str) -> Iterator[str]:
    """Yield each function and constant that a file declares; a function ends with an `end` that is not indented."""
    chunk = ""
    for line in text.splitlines(keepends=True):
        if chunk or line.startswith("local "):
            chunk += line
        if chunk and (line.startswith("end") or not chunk.startswith("local function ")):
            yield chunk
            chunk = ""


def _needed(shared: Iterable[str], text: str) -> list[str]:
    """Return the declarations that a script uses, directly or through others, in their order."""
    words = _words(text)
    kept: list[str] = []
    for chunk in reversed(list(shared)):  # a declaration is used only by later ones
        declared = _DECLARED.match(chunk)
        if declared and declared[1] in words:
            words |= _words(chunk)
            kept.append(chunk)
    return kept[::-1]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_COMMENT.sub("", text)))


SCRIPTS = _load()
NAMES = {script.digest: script.name for script in SCRIPTS.values()}
GUARDED = {script.digest: _digest(script.guarded) for script in SCRIPTS.values()}  # digests for a cluster, by the usual
