"""Generates the documentation's table of keys from the docstrings of `store.keys`."""

import inspect
import re
from dataclasses import dataclass
from types import FunctionType, ModuleType

from store.ids import partition
from store.keys import groups, members, messaging, moderation, pictures, posts, site

_EXAMPLE_PARTITION = 209
_STEM = re.compile(r"[a-z:-]+")
_KINDS = ("string", "hash", "list", "set", "zset", "stream")


@dataclass(frozen=True, slots=True)
class Described:
    """A documented kind of key: its name, its form as shown, a pattern that matches it, its type and its meaning."""

    name: str  # of the function that builds the key
    shown: str
    pattern: re.Pattern[str]
    kind: str
    meaning: str

    @property
    def stem(self) -> str:
        """The common beginning of all keys of the kind. Kinds with the same stem have the same type."""
        return _STEM.match(self.shown)[0]  # type: ignore[index]


def described() -> list[Described]:
    """Return all kinds of keys that `store.keys` documents, in source order."""
    found = []
    for function in (
        f for module in (members, posts, messaging, pictures, groups, moderation, site) for f in _functions(module)
    ):
        kind, colon, meaning = (inspect.getdoc(function) or "").partition(": ")
        if colon and kind in _KINDS:
            found.append(_describe(function, kind, meaning))
    return found


def _functions(module: ModuleType) -> list[FunctionType]:
    own = [f for _, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__]
    return sorted(own, key=lambda f: f.__code__.co_firstlineno)


def _describe(function: FunctionType, kind: str, meaning: str) -> Described:
    examples: dict[str, int | str] = {}
    for number, (name, parameter) in enumerate(inspect.signature(function).parameters.items(), 1):
        if parameter.annotation is int:
            examples[name] = _EXAMPLE_PARTITION if name == "p" else _example(number)
        else:
            examples[name] = f"\N{LEFT-POINTING ANGLE BRACKET}{name}\N{RIGHT-POINTING ANGLE BRACKET}"
    key = function(**examples)
    pattern, shown = re.escape(key).replace(str(_EXAMPLE_PARTITION), r"\d+"), key
    for name, example in examples.items():
        if name != "p":
            pattern = pattern.replace(re.escape(str(example)), r"\d+" if isinstance(example, int) else r".+")
            shown = shown.replace(str(example), name.upper())
    return Described(function.__name__, shown, re.compile(pattern, re.DOTALL), kind, meaning)


def _example(number: int) -> int:
    """Return an id in the example's partition, different for each number."""
    example = number << 40 | _EXAMPLE_PARTITION << 4
    assert partition(example) == _EXAMPLE_PARTITION
    return example


def layout_table() -> str:
    """Return the documentation's table of all keys, in Markdown."""
    rows = [f"| `{d.shown}` | {d.kind} | {d.meaning} |" for d in described()]
    return "\n".join(["| key | type | holds |", "|---|---|---|", *rows])
