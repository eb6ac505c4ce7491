"""Loads the scripts of `store/scripts`, each with those shared declarations that it uses.

The server creates every function of a script again on each run. Creating all shared functions would take several times
as long as most scripts run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "scripts"
SHARED = ("prelude", "home", "bringing", "mailbox")  # files of shared declarations, in this order

_COMMENT = re.compile(r"--.*")
_WORD = re.compile(r"\w+")
_DECLARED = re.compile(r"local (?:function )?(\w+)")


def _load() -> dict[str, str]:
    files = {path.stem: path.read_text("utf-8") for path in FOLDER.rglob("*.lua")}
    shared = [chunk for name in SHARED for chunk in _declarations(files.pop(name))]
    return {name: _whole(shared, text) for name, text in files.items()}


def _whole(shared: Iterable[str], text: str) -> str:
    """Return a script with the declarations that it uses. A line of flags (`#!lua flags=...`) stays first."""
    flags, text = text.split("\n", 1) if text.startswith("#!") else ("", text)
    return "".join([f"{flags}\n" if flags else "", *_needed(shared, text), text])


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
DIGESTS = {name: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for name, text in SCRIPTS.items()}
NAMES = {digest: name for name, digest in DIGESTS.items()}
