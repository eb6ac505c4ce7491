"""How scripts name their keys, arguments and fields, and how each call is checked against them."""

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import pytest

from store.client import lua
from store.client.database import Database, script
from store.client.lua import FOLDER, ScriptParameters, spelled
from store.refusals import Refusal

SMALL = {"user": "user:{1}:17", "post": 5}


def test_command() -> None:
    """The values are in the order of the header, not of the call."""
    assert script("unpin", **dict(reversed(SMALL.items())))[2:] == (1, "user:{1}:17", 5)


def test_an_owners_keys() -> None:
    """A call adds the keys, partition and beginnings of keys that the owner has, unless it names one itself."""
    member = 17 << 12 | 3 << 4
    assert script("unpin", member, post=5) == script("unpin", user=f"user:{{3}}:{member}", post=5)
    assert script("unpin", member, **SMALL)[2:] == (1, "user:{1}:17", 5)
    assert script("favourite", member, post=5, max_favourites=9)[2:-2] == (
        *(3, "minted:{3}", f"user:{{3}}:{member}", f"favourites:{{3}}:{member}"),
        3,
    )
    assert script("open_link", member, version=1, object="a")[-1] == "user:{3}:"


def test_a_partitions_keys() -> None:
    """A call that names a partition alone adds its keys, and beginnings of keys in it."""
    assert script("retry_job", partition=3, job=8, idle=1)[2:] == (2, "jobs:{3}", "dead-jobs:{3}", 8, 1)
    with pytest.raises(TypeError, match="unpin: takes user, post"):
        script("unpin", partition=3, post=5)


@pytest.mark.parametrize(
    "named", [{}, {"user": "user:{1}:17"}, {**SMALL, "extra": 1}, {"user": "user:{1}:17", "pots": 5}], ids=str
)
def test_mistaken_calls(named: dict[str, Any]) -> None:
    """A call that leaves a parameter out, adds one or misspells one is refused, and the message names the script."""
    with pytest.raises(TypeError, match=rf"unpin: takes user, post, not {', '.join(named)}"):
        script("unpin", **named)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ("a",)),
        ("a, b", ("a", "b")),
        ("a (ms), b (see c, d)", ("a", "b")),
        ("a,\n-- b?,\n--      c?", ("a", "b", "c")),
        ("a, b?, c...", ("a", "b", "c")),
        ("all...", ("all",)),
    ],
)
def test_headers(text: str, names: tuple[str, ...]) -> None:
    """A header lists names with a comma between them; notes and line breaks are no part of them."""
    assert ScriptParameters.read("ARGV", text).names == names


@pytest.mark.parametrize("text", ["", "a,", "a b", "a?, b", "a..., b", "a..., b...", "a.b", "a, , b"])
def test_wrong_headers(text: str) -> None:
    """A header that could be read in two ways is refused when the script is loaded."""
    with pytest.raises(ValueError, match="is not a parameter"):
        ScriptParameters.read("ARGV", text)


def test_optional_parameters() -> None:
    """Optional ones may be left out from the end, and a list may be empty."""
    some = ScriptParameters.read("ARGV", "a, b?, c?")
    assert some.values({"a": 1}) == [1]
    assert some.values({"b": 2, "a": 1}) == [1, 2]
    with pytest.raises(KeyError):
        some.values({"a": 1, "c": 3})
    many = ScriptParameters.read("ARGV", "a, b...")
    assert many.values({"a": 1, "b": []}) == [1]
    assert many.values({"a": 1, "b": [2, 3]}) == [1, 2, 3]


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.lua")), ids=lambda path: path.stem)
def test_names(path: Path) -> None:
    """No script reads a key or argument by its number, or spells the field of a hash itself."""
    code = re.sub(r"--.*", "", path.read_text("utf-8"))
    assert not re.search(r"\b(KEYS|ARGV)\b", code)
    assert not re.search(r"'H(GET|SET|DEL|EXISTS|INCRBY|MGET)', *[\w.]+, *'", code)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.lua")), ids=lambda path: path.stem)
def test_refusals(path: Path) -> None:
    """A script refuses by a name of `Refusal` alone: none returns a text of its own, which could be taken for one."""
    code = re.sub(r"--.*", "", path.read_text("utf-8"))
    assert not re.search(r"return \{?'[a-z]", code)


def refusals_of(script: str) -> set[str]:
    """Return the names of the refusals in a script and in the shared functions that it uses."""
    files = {path.stem: path.read_text("utf-8") for path in FOLDER.rglob("*.lua")}
    shared = [chunk for name in lua.SHARED for chunk in lua._declarations(files[name])]  # noqa: SLF001  as the loader
    code = "".join([*lua._needed(shared, files[script]), files[script]])  # noqa: SLF001  the same
    return set(re.findall(r"Refusal\.(\w+)", re.sub(r"--.*", "", code)))


def named_in(module: ModuleType, source: str) -> set[str]:
    """Return the names of the refusals in a module of the store, and in the types that it imports."""
    types = [get_args(found) for found in vars(module).values() if get_origin(found) is Literal]
    imported = {one.name for names in types for one in names if isinstance(one, Refusal)}
    return imported | set(re.findall(r"Refusal\.(\w+)", source))


MODULES = sorted(FOLDER.parent.rglob("*.py"))
RUNNING = [path for path in MODULES if re.search(r"\bscript\(|\.call\(", path.read_text("utf-8"))]


@pytest.mark.parametrize("path", RUNNING, ids=lambda path: path.stem)
def test_refusals_are_typed(path: Path) -> None:
    """Whatever a script may refuse is in the types of the module that runs it, so that `mypy` asks for each case."""
    source = path.read_text("utf-8")
    run = set(re.findall(r'"(\w+)"', source)) & lua.SCRIPTS.keys()
    module = import_module(".".join(path.relative_to(FOLDER.parents[1]).with_suffix("").parts))
    assert set().union(*map(refusals_of, run)) <= named_in(module, source)


def test_unknown_refusals() -> None:
    """A script that names no refusal of the store is not loaded."""
    assert spelled("return Refusal.GONE") == "return 'gone'"
    with pytest.raises(AttributeError, match="GNOE"):
        spelled("return Refusal.GNOE")


async def test_unpacking(db: Database) -> None:
    """Inside a script each parameter is a local variable; an optional one that was left out is nil."""
    one, two = ScriptParameters.read("KEYS", "a, b?"), ScriptParameters.read("ARGV", "c, d...")
    code = f"{one.unpacking()}{two.unpacking()} return {{a, b or 'none', c, #d, d[1] or 'none', d[#d] or 'none'}}"
    assert await db.one("EVAL", code, 1, "A{1}", "C") == ["A{1}", "none", "C", 0, "none", "none"]
    many = [str(number) for number in range(9000)]
    assert await db.one("EVAL", code, 2, "A{1}", "B{1}", "C", *many) == ["A{1}", "B{1}", "C", 9000, "0", "8999"]
