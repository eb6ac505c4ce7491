"""Generates the documentation's table of keys from the docstrings of `store.keys`."""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType

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
    for module in (members, posts, messaging, pictures, groups, moderation, site):
        for name, text in _texts(module).items():
            kind, colon, meaning = text.partition(": ")
            if colon and kind in _KINDS:
                found.append(_describe(getattr(module, name), kind, meaning))
    return found


def _texts(module: ModuleType) -> dict[str, str]:
    """Return the docstring of each function of a module, and the text below each declaration."""
    statements = ast.parse(inspect.getsource(module)).body
    texts = {f.name: ast.get_docstring(f) or "" for f in statements if isinstance(f, ast.FunctionDef)}
    for declaration, below in pairwise(statements):
        if isinstance(declaration, ast.Assign) and isinstance(below, ast.Expr):
            texts[ast.unparse(declaration.targets[0])] = ast.literal_eval(below.value)
    return {name: texts[name] for name in vars(module) if name in texts}  # in source order


def _describe(function: Callable[..., str], kind: str, meaning: str) -> Described:
    examples: dict[str, int | str] = {}
    for number, (name, parameter) in enumerate(inspect.signature(function).parameters.items(), 1):
        if parameter.annotation is int:
            examples[name] = _EXAMPLE_PARTITION if name == "p" else _example(number)
        else:
            examples[name] = f"\N{LEFT-POINTING ANGLE BRACKET}{name}\N{RIGHT-POINTING ANGLE BRACKET}"
    key = function(*examples.values())
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
