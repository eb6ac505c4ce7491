"""Only the store builds commands and keys."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import server
from store.client.database import Database

ROOT = Path(server.__file__).parent
FOLDERS = ("resolvers", "schema", "serving")

# The names in these modules may be used everywhere. They build no key.
PERMITTED = {"store.keys.fields", "store.keys.table"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield path and syntax tree of each module that may build no command."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the full name of everything that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def builds(name: str) -> bool:
    """Return whether an imported name builds a key or a script's command."""
    if name.startswith("store.keys"):
        return not name.startswith(tuple(PERMITTED))
    return name.startswith(("store.client.lua", "store.scripts")) or name == "store.client.database.script"


async def test_commands(db: Database) -> None:
    """No text outside the store is the name of a command that the server has."""
    commands = {command.upper() for command in await db.one("COMMAND", "LIST")}
    assert {"GET", "EVALSHA", "ZRANGE"} <= commands
    found = [
        f"{name}:{node.lineno}: {node.value}"
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in commands
    ]
    assert not found


def test_keys_and_scripts() -> None:
    """Nothing outside the store imports what builds a key or runs a script."""
    assert not [f"{name}: {module}" for name, tree in modules() for module in imported(tree) if builds(module)]


@pytest.mark.parametrize(
    ("line", "builds_one"),
    [
        ("from store import keys", True),
        ("import store.keys", True),
        ("from store.keys import user", True),
        ("from store.keys.fields import UserField", False),
        ("from store.client.database import Database, script", True),
        ("from store.client.lua import SCRIPTS", True),
        ("from store import follows", False),
    ],
)
def test_what_is_found(line: str, builds_one: bool) -> None:
    """An import is found however it is written."""
    assert any(map(builds, imported(ast.parse(line)))) is builds_one
